import type { PoolClient } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventRow } from "../../src/events/event.ts";
import { toTypeId } from "../../src/ids.ts";
import { createMetrics } from "../../src/metrics.ts";
import { createPartnerApi } from "../../src/partner-api/app.ts";
import {
  createExposedProduct,
  createPartner,
  type Partner,
  placeOrder,
  placeTestOrder,
  readEvents,
} from "../support/builders.ts";
import { untilOthersAreDone } from "../support/feed.ts";
import { connectionUuid, expectFaults, expectProblem, transition, withoutItsOwn } from "../support/orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, endpointPath, uuidIn } from "../support/webhooks.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

type Event = { id: string; type: string; sequence: number | null; timestamp: string };
type Page = { data: Event[]; nextCursor: string | null };

async function readPage({ client }: Pick<Partner, "client">, query = ""): Promise<Page> {
  await untilOthersAreDone(test);
  const { status, body } = await client.get(`/v1/events${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** Everything from a cursor on, as a poller reads it, and the cursor it keeps. */
async function poll(partner: Pick<Partner, "client">, cursor: string | null, query = "") {
  const events: Event[] = [];
  let kept = cursor;
  for (;;) {
    const from = kept === null ? "" : `&cursor=${kept}`;
    const { data, nextCursor } = await readPage(partner, `?limit=2${query}${from}`);
    if (data.length === 0) {
      expect(nextCursor).toBeNull();
      return { ids: events.map(({ id }) => id), events, cursor: kept };
    }
    expect(nextCursor).not.toBeNull();
    events.push(...data);
    kept = nextCursor;
  }
}

/** An event written in a transaction that is still open; `end` ends it. */
async function openStep(
  partner: Partner,
): Promise<{ id: string; end(how: "commit" | "rollback"): Promise<void> }> {
  const begun = Promise.withResolvers<string>();
  const ending = Promise.withResolvers<"commit" | "rollback">();
  const done = test.db.withClient(async (client) => {
    await client.query("begin");
    begun.resolve(await insertEvent(client, partner));
    await client.query(await ending.promise);
  });
  done.catch(begun.reject);
  const id = await begun.promise;
  return {
    id,
    end: async (how) => {
      ending.resolve(how);
      await done;
    },
  };
}

async function insertEvent(client: PoolClient, partner: Partner, transactionId?: string): Promise<string> {
  const event = eventRow({
    connectionId: connectionUuid(partner),
    id: test.service.newId(),
    type: "product.published",
    occurredAt: test.clock.now(),
    testMode: false,
    orderId: null,
    sequence: null,
    notAfter: null,
    data: {},
  });
  await client.query(
    `insert into events (connection_id, id, type, body, transaction_id)
     values ($1, $2, $3, $4, coalesce($5::xid8, pg_current_xact_id()))`,
    [event.connectionId, event.id, event.type, event.body, transactionId],
  );
  return JSON.parse(event.body).id;
}

describe("GET /v1/events", () => {
  it("lists the connection's events, oldest first, exactly as they are stored", async () => {
    const partner = await createPartner(test);
    const other = await createPartner(test);
    await placeOrder(other);
    const { id } = await placeTestOrder(partner);
    await transition(partner, id, "ship");
    await transition(partner, id, "complete");
    const { data, nextCursor } = await readPage(partner);
    expect(data).toEqual(await readEvents(test, partner.connectionId));
    expect(data.map(({ type, sequence }) => [type, sequence])).toEqual([
      ["product.published", null],
      ["product.published", null],
      ["order.created", 1],
      ["order.shipmentCreated", 2],
      ["order.completed", 3],
    ]);
    expect(nextCursor).not.toBeNull();
  });

  it("gives the stored text byte for byte, in the list and alone", async () => {
    const partner = await createPartner(test);
    const id = test.service.newId();
    const body = '{"z":1.0, "id":"x", "a":"\\u00e9\u2028", "n":1e2}';
    await test.db.query({
      name: "test-odd-event",
      text: "insert into events (connection_id, id, type, body) values ($1, $2, 'product.published', $3)",
      values: [connectionUuid(partner), id, body],
    });
    const app = createPartnerApi(test.service, createMetrics());
    const headers = { authorization: `Bearer ${partner.key}` };
    await untilOthersAreDone(test);
    const list = await app.inject({ url: "/v1/events", headers });
    expect(list.body).toContain(`,${body}],"nextCursor":"`);
    expect(list.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect((await app.inject({ url: `/v1/events/${toTypeId("evt", id)}`, headers })).body).toBe(body);
    await app.close();
  });

  it("goes on from a cursor, and an empty page means: keep it and ask again", async () => {
    const partner = await createPartner(test);
    await placeOrder(partner);
    const first = await poll(partner, null);
    expect(first.events).toEqual(await readEvents(test, partner.connectionId));
    expect((await poll(partner, first.cursor)).ids).toEqual([]);
    const { id } = await placeOrder(partner);
    const second = await poll(partner, first.cursor);
    expect(second.events).toMatchObject([{ type: "order.created", data: { order: { id } } }]);
    expect((await poll(partner, second.cursor)).ids).toEqual([]);
  });

  it("begins empty for a connection of which nothing was told", async () => {
    const merchant = await createPartner(test);
    const path = `/api/merchants/${merchant.merchantId}/connections`;
    const { id } = (await test.backOffice.post(path, { name: "New" })).body;
    const { key } = (await test.backOffice.post(`/api/connections/${id}/keys`, {})).body;
    expect(await readPage({ client: test.partner(key) })).toEqual({ data: [], nextCursor: null });
  });

  it("has no limit's worth too many: 50, or what is asked for", async () => {
    const partner = await createPartner(test);
    for (let count = 0; count < 5; count += 1)
      await Promise.all(Array.from({ length: 10 }, () => placeOrder(partner)));
    expect((await readPage(partner)).data).toHaveLength(50);
    expect((await readPage(partner, "?limit=100")).data).toHaveLength(52);
    expect((await readPage(partner, "?limit=1")).data).toHaveLength(1);
    expect((await readPage(partner, "?limit=52")).nextCursor).not.toBeNull();
  });

  it("is narrowed by order, named in either way, and by type", async () => {
    const partner = await createPartner(test);
    const order = await placeTestOrder(partner);
    await transition(partner, order.id, "hold", { reasons: ["out_of_stock"] });
    await placeOrder(partner);
    await transition(partner, order.id, "releaseHold");
    const typesFor = async (query: string) =>
      (await poll(partner, null, query)).events.map(({ type }) => type);
    const all = ["order.created", "order.onHold", "order.onHoldReleased"];
    expect(await typesFor(`&orderId=${order.id}`)).toEqual(all);
    expect(await typesFor(`&orderId=${order.externalOrderId}`)).toEqual(all);
    expect(await typesFor("&type=order.onHold")).toEqual(["order.onHold"]);
    expect(await typesFor("&type=order.created")).toEqual(["order.created", "order.created"]);
    expect(await typesFor(`&orderId=${order.id}&type=order.created`)).toEqual(["order.created"]);
    expect(await typesFor("&type=order.accepted")).toEqual([]);
  });

  it("is empty for an order that the connection does not have", async () => {
    const partner = await createPartner(test);
    const theirs = await placeOrder(await createPartner(test));
    for (const id of [theirs.id, theirs.externalOrderId, "ord_01m7y7np16fe68bxp4h91tdmdn", "nothing"])
      expect(await readPage(partner, `?orderId=${id}`)).toEqual({ data: [], nextCursor: null });
  });

  it("does not show pings", async () => {
    const partner = await createPartner(test);
    const { id } = await createEndpoint(partner);
    const before = await readPage(partner);
    await partner.client.post(endpointPath(id, "ping"));
    expect(await readPage(partner)).toEqual(before);
  });

  it.each([
    "type=webhook.ping",
    "type=order.lost",
    "type=",
    "orderId=",
    `orderId=${"x".repeat(201)}`,
    "limit=0",
    "limit=101",
    "limit=x",
    "cursor=",
    "cursor=x",
    `cursor=${"A".repeat(501)}`,
  ])("refuses %s", async (query) => {
    const partner = await createPartner(test);
    const [parameter = ""] = query.split("=");
    expectFaults(await partner.client.get(`/v1/events?${query}`), [{ parameter }]);
  });

  it("refuses a cursor that was changed, cut, or made for another list", async () => {
    const partner = await createPartner(test);
    const { nextCursor } = await readPage(partner);
    const cursor = nextCursor ?? "";
    const products = (await partner.client.get("/v1/products?limit=1")).body.nextCursor;
    const changed = Array.from(cursor, (sign, at) => {
      const other = sign === "A" ? "B" : "A";
      return cursor.slice(0, at) + other + cursor.slice(at + 1);
    });
    for (const bad of [...changed, cursor.slice(0, -1), cursor.slice(1), `${cursor}A`, products])
      expectFaults(await partner.client.get(`/v1/events?cursor=${bad}`), [{ parameter: "cursor" }]);
    for (const list of ["products", "webhook-endpoints", "deliveries"])
      expectFaults(await partner.client.get(`/v1/${list}?cursor=${cursor}`), [{ parameter: "cursor" }]);
  });

  it("shows an event for 30 days", async () => {
    const partner = await createPartner(test);
    const { data } = await readPage(partner);
    const path = `/v1/events/${data[0]?.id}`;
    test.clock.advance({ hours: 30 * 24 });
    expect((await readPage(partner)).data).toEqual(data);
    expect((await partner.client.get(path)).status).toBe(200);
    test.clock.advance({ ms: 1 });
    expect(await readPage(partner)).toEqual({ data: [], nextCursor: null });
    expectProblem(await partner.client.get(path), 404, "not-found");
    await createExposedProduct(test, partner.merchantId, partner.connectionId);
    expect((await readPage(partner)).data).toHaveLength(1);
  });
});

describe("the feed, while steps commit out of order", () => {
  it("waits for a step that began earlier, and then shows it before the later ones", async () => {
    const partner = await createPartner(test);
    const { cursor } = await poll(partner, null);
    const step = await openStep(partner);
    const { id } = await placeOrder(partner);
    expect((await poll(partner, cursor)).ids).toEqual([]);
    await step.end("commit");
    const { events } = await poll(partner, cursor);
    expect(events).toMatchObject([{ id: step.id }, { type: "order.created", data: { order: { id } } }]);
  });

  it("never shows what is rolled back, and goes on", async () => {
    const partner = await createPartner(test);
    const { cursor } = await poll(partner, null);
    const step = await openStep(partner);
    await placeOrder(partner);
    await step.end("rollback");
    const { events } = await poll(partner, cursor);
    expect(events.map(({ type }) => type)).toEqual(["order.created"]);
    expectProblem(await partner.client.get(`/v1/events/${step.id}`), 404, "not-found");
  });

  it("shows the same by order", async () => {
    const partner = await createPartner(test);
    const step = await openStep(partner);
    const { id } = await placeOrder(partner);
    expect((await poll(partner, null, `&orderId=${id}`)).ids).toEqual([]);
    await step.end("commit");
    expect((await poll(partner, null, `&orderId=${id}`)).ids).toHaveLength(1);
  });

  it("skips nothing and shows nothing twice, in whatever order steps end", async () => {
    const partner = await createPartner(test);
    let { ids, cursor } = await poll(partner, null);
    const open = [await openStep(partner), await openStep(partner), await openStep(partner)];
    const rolledBack = open[1]?.id;
    const advance = async () => {
      const next = await poll(partner, cursor);
      ids = [...ids, ...next.ids];
      cursor = next.cursor;
    };
    for (const [at, how] of [
      [2, "commit"],
      [1, "rollback"],
      [0, "commit"],
    ] as const) {
      await placeOrder(partner);
      await advance();
      await open[at]?.end(how);
      await advance();
      test.clock.advance({ minutes: 1 });
    }
    await advance();
    const stored = (await readEvents(test, partner.connectionId)).map(({ id }) => id);
    expect([...ids].sort()).toEqual(stored.sort());
    expect(ids).not.toContain(rolledBack);
  });

  it("shows every event once to a poller, while orders are placed all the time", async () => {
    const partner = await createPartner(test);
    let placing = true;
    const placed = Promise.all(
      Array.from({ length: 5 }, async () => {
        for (let count = 0; count < 15; count += 1) await placeOrder(partner);
      }),
    ).finally(() => {
      placing = false;
    });
    const ids: string[] = [];
    let cursor: string | null = null;
    let last = false;
    while (!last) {
      last = !placing;
      const next = await poll(partner, cursor);
      ids.push(...next.ids);
      cursor = next.cursor;
    }
    await placed;
    const stored = (await readEvents(test, partner.connectionId)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(stored.sort());
  });
});

describe("the feed on a server to which the data was restored", () => {
  /** From a server that had counted far more transactions than this one. */
  const restore = (partner: Partner, transactionId: string) =>
    test.db.withClient((client) => insertEvent(client, partner, transactionId));

  it("shows the restored events first, and then those of this server", async () => {
    const partner = await createPartner(test);
    const own = (await poll(partner, null)).ids;
    const restored = [
      await restore(partner, "900000000001"),
      await restore(partner, "900000000001"),
      await restore(partner, "900000000007"),
    ];
    expect((await poll(partner, null)).ids).toEqual([...restored, ...own]);
  });

  it("takes a poller on whose cursor is from before, without a gap or a repetition", async () => {
    const partner = await createPartner(test);
    const own = (await poll(partner, null)).ids;
    const restored = [await restore(partner, "900000000001"), await restore(partner, "900000000002")];
    const { nextCursor } = await readPage(partner, "?limit=1");
    const rest = await poll(partner, nextCursor);
    expect(rest.ids).toEqual([restored[1], ...own]);
    await placeOrder(partner);
    const news = await poll(partner, rest.cursor);
    expect(news.events).toMatchObject([{ type: "order.created" }]);
    expect((await poll(partner, news.cursor)).ids).toEqual([]);
  });

  it("does so by order as well", async () => {
    const partner = await createPartner(test);
    const order = await placeOrder(partner);
    const [created] = (await poll(partner, null, `&orderId=${order.id}`)).ids;
    await test.db.query({
      name: "test-restore-event",
      text: "update events set transaction_id = '900000000009' where id = $1",
      values: [uuidIn("evt", created ?? "")],
    });
    const restored = await poll(partner, null, `&orderId=${order.id}`);
    expect(restored.ids).toEqual([created]);
    await partner.client.post(`/v1/orders/${order.id}/cancel`);
    const news = await poll(partner, restored.cursor, `&orderId=${order.id}`);
    expect(news.events.map(({ type }) => type)).toEqual(["order.canceled"]);
    expect((await poll(partner, news.cursor, `&orderId=${order.id}`)).ids).toEqual([]);
    expect((await poll(partner, null, `&orderId=${order.id}`)).ids).toEqual([created, ...news.ids]);
  });
});

describe("GET /v1/events/{eventId}", () => {
  it("answers the event as the list does", async () => {
    const partner = await createPartner(test);
    await placeOrder(partner);
    for (const event of (await readPage(partner)).data)
      expect((await partner.client.get(`/v1/events/${event.id}`)).body).toEqual(event);
  });

  it("is 404: another connection's event exactly as a missing and a malformed one", async () => {
    const partner = await createPartner(test);
    const [theirs] = (await readPage(await createPartner(test))).data;
    const missing = await partner.client.get("/v1/events/evt_01m7y7np16fe68bxp4h91tdmdn");
    expectProblem(missing, 404, "not-found");
    for (const id of [theirs?.id, "x", theirs?.id.replace("evt_", "dlv_")])
      expect(withoutItsOwn(await partner.client.get(`/v1/events/${id}`))).toBe(withoutItsOwn(missing));
  });
});
