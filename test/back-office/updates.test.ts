import { once } from "node:events";
import { Readable } from "node:stream";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { BackOfficeCaller } from "../../src/audit/grant.ts";
import { createBackOffice } from "../../src/back-office/app.ts";
import { operatorAuthentication } from "../../src/back-office/authentication.ts";
import { STREAMS_OF_CALLER_MAX, UpdateHub } from "../../src/back-office/updates/hub.ts";
import { readTokens } from "../../src/people/tokens-sql.ts";
import { toTypeId } from "../../src/platform/ids.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { openSignalChannel } from "../../src/platform/signals.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { createFacility } from "../support/facilities.ts";
import { connectionKey } from "../support/orders.ts";
import { createPerson, signIn } from "../support/people.ts";
import { requestOperation } from "../support/real-orders.ts";
import { openConnection, requestText } from "../support/sockets.ts";
import {
  OPERATOR_TOKEN,
  startServiceForTest,
  startTestService,
  type TestService,
} from "../support/test-service.ts";
import { tokensOf } from "../support/tokens.ts";
import { openUpdates, type Updates } from "../support/updates.ts";
import { createEndpoint, uuidIn } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let other: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  other = await createPartner(test);
  return () => test.close();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const asOperator = (service = test): Promise<Updates> => openUpdates(service, bearer(OPERATOR_TOKEN));

/** A stream with a new token of a role. */
async function withToken(fields: object): Promise<{ updates: Updates; id: string }> {
  const { body } = await tokensOf(test).create(fields);
  return { updates: await openUpdates(test, bearer(body.token)), id: body.id };
}

const OPERATOR: BackOfficeCaller = { type: "token", id: null, name: "T", grants: [{ role: "operator" }] };

/** Callers with new tokens of a role. */
async function callersWith(fields: object, count: number): Promise<BackOfficeCaller[]> {
  const made = await Promise.all(Array.from({ length: count }, () => tokensOf(test).create(fields)));
  const stored = await readTokens(
    test.db,
    made.map(({ body }) => uuidIn("tok", body.id)),
  );
  return stored.map(({ id, name, grant }) => ({
    type: "token",
    id: toTypeId("tok", id),
    name,
    grants: [grant],
  }));
}

/** The callers in turn. */
function at(callers: readonly BackOfficeCaller[], number: number): BackOfficeCaller {
  const caller = callers[number % callers.length];
  if (caller === undefined) throw new Error("There are callers.");
  return caller;
}

type Changed = {
  readonly orders: readonly { readonly id: string }[];
  readonly deliveriesOf: readonly string[];
};

/** The ids of the orders and of the connections that the next messages name, until one of them is `last`. */
async function namedUntil(updates: Updates, last: string): Promise<string[]> {
  const named: string[] = [];
  while (!named.includes(last)) {
    const { orders, deliveriesOf } = (await updates.next("changed")) as Changed;
    named.push(...orders.map(({ id }) => id), ...deliveriesOf);
  }
  return named;
}

describe("GET /api/updates", () => {
  it("names new and changed orders, with their connection, also of one without endpoints", async () => {
    const updates = await asOperator();
    const { id } = await placeOrder(partner);
    const changed = await updates.next("changed");
    expect(changed).toEqual({
      orders: [{ id, connectionId: partner.connectionId, merchantId: partner.merchantId }],
      deliveriesOf: [partner.connectionId],
    });
    await requestOperation(test, id, "hold");
    expect(await updates.next("changed")).toMatchObject({ orders: [{ id }] });
  });

  it("names test orders by their own ids, and contains nothing but ids", async () => {
    const updates = await asOperator();
    const { id } = await placeOrder(partner, { testMode: true });
    const changed = await updates.next("changed");
    expect(changed).toMatchObject({ orders: [{ id }] });
    expect(id).toMatch(/^test_/);
    expect(JSON.stringify(changed)).not.toMatch(/Ada|Lovelace|example/);
  });

  it("shows a merchant and a partner their own, and nothing of others", async () => {
    const merchant = await withToken({ role: "merchant", merchantIds: [partner.merchantId] });
    const developer = await withToken({ role: "partner", connectionIds: [partner.connectionId] });
    const foreign = await placeOrder(other);
    const own = await placeOrder(partner);
    for (const { updates } of [merchant, developer]) {
      const named = await namedUntil(updates, own.id);
      for (const id of [foreign.id, other.connectionId]) expect(named).not.toContain(id);
    }
  });

  it("names to staff of a facility only orders that are routed to it", async () => {
    const facility = await createFacility(test);
    const { updates } = await withToken({ role: "warehouse", facilityIds: [facility] });
    const watching = await asOperator();
    const { id } = await placeOrder(partner);
    await namedUntil(watching, id); // The round that named it to the operator has passed it on to all.
    await test.db.query({
      name: "route-in-test",
      text: "update orders set facility_id = $1, routed_at = created_at where id = $2",
      values: [uuidIn("fac", facility), uuidIn("ord", id)],
    });
    await requestOperation(test, id, "hold");
    const named = await namedUntil(updates, id);
    expect(named.filter((each) => each.startsWith("ord_"))).toEqual([id]);
  });

  it("asks to read again instead of naming more than it may", async () => {
    const service = await startServiceForTest();
    const busy = await createPartner(service);
    const updates = await asOperator(service);
    await placeOrder(busy);
    await updates.next("changed");
    await Promise.all(Array.from({ length: 60 }, () => placeOrder(busy)));
    await updates.next("reload");
  });

  it("ends within seconds when a token is revoked", async () => {
    const { updates, id } = await withToken({ role: "support" });
    await test.backOffice.post(`/api/tokens/${id}/revoke`);
    expect((await updates.rest()).at(-1)).toEqual({ event: "end", data: { reason: "access-changed" } });
  });

  it.each([
    ["the session ends", null],
    ["a role is taken away", "role = 'support', merchant_ids = '{}', connection_ids = '{}'"],
    ["a connection is replaced by another one", "merchant_ids = $2, connection_ids = $3"],
  ])("ends within seconds when %s", async (_what, change) => {
    const grants = [{ role: "partner" as const, connections: [connectionKey(partner)] }];
    const person = await createPerson(test, { grants });
    const browser = await signIn(test, person);
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const updates = await openUpdates(test, { cookie });
    if (change === null) await browser.post("/auth/sign-out");
    else {
      const { merchantId, connectionId } = connectionKey(other);
      const text = `update person_grants set ${change} where person_id = $1 and $2::uuid[] <> $3::uuid[]`;
      await test.db.query({ name: "", text, values: [person.id, [merchantId], [connectionId]] });
    }
    expect((await updates.rest()).at(-1)?.data).toEqual({ reason: "access-changed" });
  });

  it("ends within seconds when the person is disabled, or the session expires", async () => {
    const later = await startServiceForTest();
    const openedAt = async (service: TestService) => {
      const person = await createPerson(service);
      const { cookies } = await signIn(service, person);
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      return { person, updates: await openUpdates(service, { cookie }) };
    };
    const [disabled, expired] = [await openedAt(test), await openedAt(later)];
    later.clock.advance({ hours: 12 });
    await test.db.query({
      name: "disable-in-test",
      text: "update people set disabled_at = now() where id = $1",
      values: [disabled.person.id],
    });
    for (const { updates } of [disabled, expired])
      expect((await updates.rest()).at(-1)?.data).toEqual({ reason: "access-changed" });
  });

  it("has a limit for each caller, and a client that disconnects makes room", async () => {
    const app = createBackOffice(test.context, operatorAuthentication(OPERATOR_TOKEN), createMetrics());
    onTestFinished(() => app.close());
    const url = `${await app.listen({ host: "127.0.0.1", port: 0 })}/api/updates`;
    const leaving = new AbortController();
    const opened: Response[] = []; // Node ends the stream of a response that nothing refers to.
    const open = async (signal = AbortSignal.timeout(60_000)) => {
      const response = await fetch(url, { headers: bearer(OPERATOR_TOKEN), signal });
      opened.push(response);
      return response;
    };
    await open(leaving.signal);
    for (let count = 1; count < STREAMS_OF_CALLER_MAX; count += 1) expect((await open()).status).toBe(200);
    const refused = await open();
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ limit: "streams", maximum: STREAMS_OF_CALLER_MAX });
    leaving.abort();
    await expect.poll(async () => (await open()).status).toBe(200);
  });

  it("ends with the client's side of its connection", async () => {
    const app = createBackOffice(test.context, operatorAuthentication(OPERATOR_TOKEN), createMetrics());
    onTestFinished(() => app.close());
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    for (let count = 0; count < STREAMS_OF_CALLER_MAX + 1; count += 1) {
      const connection = await openConnection(url);
      connection.send(requestText("GET /api/updates HTTP/1.1", bearer(OPERATOR_TOKEN)));
      const [first] = await once(connection.socket, "data");
      expect(String(first), "the streams before it have ended").toMatch(/^HTTP\/1\.1 200/);
      connection.socket.end();
      await connection.closed();
    }
  });

  it("has a limit for the callers of each merchant, which the operator raises", async () => {
    const hub = new UpdateHub(test.context);
    onTestFinished(() => hub.close());
    const { merchantId, connectionId } = partner;
    const callers = [
      ...(await callersWith({ role: "merchant", merchantIds: [merchantId] }, 4)),
      ...(await callersWith({ role: "partner", connectionIds: [connectionId] }, 3)),
    ];
    const opened = await Promise.all(
      Array.from({ length: 60 }, (_, number) => hub.open(at(callers, number))),
    );
    expect(opened.filter((one) => one instanceof Readable)).toHaveLength(50);
    for (const refused of opened.filter((one) => !(one instanceof Readable)))
      expect(refused).toMatchObject({ members: { limit: "merchantStreams", maximum: 50 } });
    const [foreign] = await callersWith({ role: "partner", connectionIds: [other.connectionId] }, 1);
    for (const caller of [foreign, OPERATOR])
      expect(await hub.open(caller ?? OPERATOR)).toBeInstanceOf(Readable);
    const setLimit = (merchantStreams: number | null) =>
      test.backOffice.request("PATCH", `/api/merchants/${merchantId}`, {
        body: { limits: { merchantStreams } },
      });
    await setLimit(51);
    onTestFinished(async () => void (await setLimit(null)));
    const more = await Promise.all([0, 1].map((number) => hub.open(at(callers, number))));
    expect(more.filter((one) => one instanceof Readable)).toHaveLength(1);
  });

  it("has room for the operator, the warehouse and each merchant, however many streams merchants have", async () => {
    const hub = new UpdateHub(test.context);
    onTestFinished(() => hub.close());
    const callers: BackOfficeCaller[][] = [];
    for (let count = 0; count < 20; count += 1) {
      const { body } = await test.backOffice.post("/api/merchants", {
        name: "M",
        accountEmail: "m@example.com",
      });
      callers.push(await callersWith({ role: "merchant", merchantIds: [body.id] }, 5));
    }
    const opened = await Promise.all(
      callers.flatMap((own) => Array.from({ length: 50 }, (_, number) => hub.open(at(own, number)))),
    );
    expect(opened.every((one) => one instanceof Readable)).toBe(true);
    const [warehouse] = await callersWith({ role: "warehouse" }, 1);
    for (const caller of [OPERATOR, warehouse])
      expect(await hub.open(caller ?? OPERATOR)).toBeInstanceOf(Readable);
    const [small] = await callersWith({ role: "merchant", merchantIds: [partner.merchantId] }, 1);
    expect(await hub.open(small ?? OPERATOR), "a merchant with fewer").toBeInstanceOf(Readable);
    const ended = opened.filter(
      (one) => one instanceof Readable && String(one.read()).includes("event: end"),
    );
    expect(ended, "the oldest of a merchant that has the most").toHaveLength(1);
  });

  it("ends when the service stops, and is not opened then", async () => {
    const service = await startTestService();
    const updates = await asOperator(service);
    const closed = service.close();
    expect((await updates.rest()).at(-1)).toEqual({ event: "end", data: { reason: "stopping" } });
    await closed;
  });

  it("reports what another process changed without an event, and new deliveries", async () => {
    const service = await startServiceForTest();
    const at = await createPartner(service);
    await createEndpoint(at);
    const { context } = service;
    const { id } = await placeOrder(at);
    Object.assign(context, { signals: openSignalChannel(service.db, context.log, "here") });
    const elsewhere = openSignalChannel(service.db, context.log, "elsewhere");
    const updates = await asOperator(service);
    const order = {
      merchantId: uuidIn("mer", at.merchantId),
      connectionId: uuidIn("con", at.connectionId),
      id: uuidIn("ord", id),
      testMode: false,
    };
    // The process may not listen yet, so the signals are repeated.
    const repeated = setInterval(() => {
      elsewhere.sendOrders([order]);
      elsewhere.send("deliveries_due", [order]);
    }, 100);
    let changed = {};
    while (!JSON.stringify(changed).includes(id)) changed = await updates.next("changed");
    expect(changed).toMatchObject({ orders: [{ id, connectionId: at.connectionId }] });
    elsewhere.sendOrders(Array.from({ length: 60 }, () => ({ ...order, id: context.newId() })));
    await updates.next("reload");
    clearInterval(repeated);
  });
});
