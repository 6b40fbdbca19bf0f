import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { sendFor } from "../support/deliveries.ts";
import { startReceiverForTest } from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { expectErrors, expectProblem, withoutItsOwn } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, deliveryOf, endpointPath, pauseEndpoint, uuidIn } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let other: Partner;
beforeAll(async () => {
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true, webhookRetryMs: [60_000] } });
  [partner, other] = [await createPartner(test), await createPartner(test)];
});
afterAll(() => test.close());

const pathOf = ({ connectionId }: Partner, rest = "") =>
  `/api/connections/${connectionId}/webhook-endpoints${rest}`;
const personOf = (...partners: Partner[]): Client =>
  test.backOfficeFor({
    kind: "merchant",
    merchantIds: partners.map(({ merchantId }) => fromTypeId("mer", merchantId) ?? ""),
    name: "Mia",
  });

type Listed = { id: string; health: string };
async function listed(client: Client, query = ""): Promise<Listed[]> {
  const { status, body } = await client.get(`/api/webhook-endpoints${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}
const idsOf = async (client: Client, query = "") => (await listed(client, query)).map(({ id }) => id);

/** As dispatchers store it. */
const setHealth = (endpointId: string, failures: number, backoffUntil: Date | null) =>
  test.db.query({
    name: "test-set-health",
    text: "update webhook_endpoint_states set consecutive_failures = $2, backoff_until = $3 where endpoint_id = $1",
    values: [uuidIn("whe", endpointId), failures, backoffUntil],
  });

describe("the endpoints of all connections", () => {
  it("are filtered by health, merchant and mode, page by page, and are those of its own merchants for a person", async () => {
    const [one, two] = [await createPartner(test), await createPartner(test)];
    const now = test.clock.now().getTime();
    const healthy = await createEndpoint(one, { url: "https://1.1.1.1/hooks?token=t0ken" });
    const failing = await createEndpoint(one);
    const backingOff = await createEndpoint(two);
    const backedOff = await createEndpoint(two);
    const paused = await createEndpoint(two, { mode: "test" });
    const deleted = await createEndpoint(two);
    await two.client.request("DELETE", endpointPath(deleted.id));
    await setHealth(failing.id, 3, null);
    await setHealth(backingOff.id, 12, new Date(now + 1));
    await setHealth(backedOff.id, 12, new Date(now));
    await pauseEndpoint(test, paused.id);
    const all = [healthy, failing, backingOff, backedOff, paused];
    const theirs = personOf(one, two); // Other tests have endpoints too.
    const expected: [query: string, endpoints: { id: string }[]][] = [
      ["", all],
      ["?health=healthy", [healthy]],
      ["?health=failing", [failing, backedOff]],
      ["?health=backing_off", [backingOff]],
      ["?health=paused", [paused]],
      ["?health=unhealthy", [failing, backingOff, backedOff, paused]],
      [`?health=unhealthy&merchantId=${one.merchantId}`, [failing]],
      ["?mode=test", [paused]],
      ["?mode=live&health=paused", []],
      ["?merchantId=mer_01m7y7np16fe68bxp4h91tdmdn", []],
    ];
    for (const [query, endpoints] of expected)
      expect(await idsOf(theirs, query), query).toEqual(endpoints.map(({ id }) => id));
    for (const { health, id } of await listed(theirs))
      expect(await idsOf(theirs, `?health=${health}`)).toContain(id);

    const first = (await theirs.get("/api/webhook-endpoints?limit=2&health=unhealthy")).body;
    const second = (
      await theirs.get(`/api/webhook-endpoints?limit=2&health=unhealthy&cursor=${first.nextCursor}`)
    ).body;
    expect([...first.data, ...second.data].map(({ id }: Listed) => id)).toEqual(
      [failing, backingOff, backedOff, paused].map(({ id }) => id),
    );
    expect(second.nextCursor).toBeNull();

    const [shown] = await listed(theirs);
    expect(shown).toMatchObject({
      url: "https://1.1.1.1/hooks?…",
      merchantId: one.merchantId,
      connectionId: one.connectionId,
      health: "healthy",
      pendingDeliveries: 0,
    });
    expect(JSON.stringify(shown)).not.toMatch(/t0ken|whsec_/);

    expect(await idsOf(test.backOffice)).toEqual(expect.arrayContaining(all.map(({ id }) => id)));
    expect(await idsOf(personOf(one))).toEqual([healthy.id, failing.id]);
    expect(await idsOf(personOf(one), `?merchantId=${two.merchantId}`)).toEqual([]);
    expect(await idsOf(personOf())).toEqual([]);
  });

  it("are found by a part of the address, the note or a name of the owner, and not by what is hidden", async () => {
    const partner = await createPartner(test);
    const { merchantId, connectionId } = partner;
    await test.backOffice.request("PATCH", `/api/merchants/${merchantId}`, { body: { name: "Paper Ltd" } });
    await test.backOffice.request("PATCH", `/api/connections/${connectionId}`, { body: { name: "Spree" } });
    const { id } = await createEndpoint(partner, {
      url: "https://1.1.1.1/Berlin?key=s3cr3t",
      description: "Stores of the north",
    });
    const { id: second } = await createEndpoint(partner);
    const theirs = personOf(partner);
    for (const q of ["berlin", "1.1.1.1/b", "THE NORTH", id])
      expect(await idsOf(theirs, `?q=${q}`), q).toEqual([id]);
    for (const q of ["spree", "paper"]) expect(await idsOf(theirs, `?q=${q}`), q).toEqual([id, second]);
    for (const q of ["s3cr3t", "key=", "rhine"]) expect(await idsOf(theirs, `?q=${q}`), q).toEqual([]);
    expect((await listed(theirs))[0]).toMatchObject({
      connectionName: "Spree",
      merchantName: "Paper Ltd",
      facilityName: null,
    });
  });

  it.each(["health=ill", "mode=both", "merchantId=x", "cursor=abc", "limit=101"])(
    "reject %s",
    async (query) => {
      const [parameter = ""] = query.split("=");
      expectErrors(await test.backOffice.get(`/api/webhook-endpoints?${query}`), [{ parameter }]);
    },
  );
});

describe("an endpoint of a connection", () => {
  const REQUESTS: [method: string, rest: string, body?: object][] = [
    ["GET", ""],
    ["POST", "/pause"],
    ["POST", "/resume"],
    ["POST", "/ping"],
    ["POST", "/recover", { since: "2026-03-02T08:00:00Z" }],
  ];

  it("is missing for another merchant's staff, under another connection, and with a malformed id", async () => {
    const { id } = await createEndpoint(partner);
    const before = await dumpTables(test);
    for (const [method, rest, body] of REQUESTS) {
      const request = (client: Client, of: Partner, name: string) =>
        client.request(method, pathOf(of, `/${name}${rest}`), { ...(body && { body }) });
      const missing = await request(test.backOffice, partner, "whe_01m7y7np16fe68bxp4h91tdmdn");
      expectProblem(missing, 404, "not-found");
      for (const answer of [
        await request(test.backOffice, other, id),
        await request(test.backOffice, partner, "x"),
      ])
        expect(withoutItsOwn(answer)).toBe(withoutItsOwn(missing));
      expectProblem(await request(personOf(other), partner, id), 404, "not-found");
    }
    expect(await dumpTables(test)).toEqual(before);
  });

  it("is paused by request, sends nothing, and sends all of it when it is resumed", async () => {
    const sender = await createPartner(test);
    const receiver = await startReceiverForTest();
    const { id } = await createEndpoint(sender, { url: receiver.url });
    const before = await placeOrder(sender);
    const operate = (operation: string) => test.backOffice.post(pathOf(sender, `/${id}/${operation}`));
    const paused = await operate("pause");
    expect(paused.body).toMatchObject({ status: "paused", pauseReason: "requested", health: "paused" });
    expect((await operate("pause")).body).toEqual(paused.body);
    const after = await placeOrder(sender);
    await sendFor(test, sender);
    expect(receiver.requests).toEqual([]);
    expect((await sender.client.get(endpointPath(id))).body).toMatchObject({ pauseReason: "requested" });
    const ping = await operate("ping");
    expectProblem(ping, 409, "endpoint-paused");
    expect((await operate("resume")).body).toMatchObject({
      status: "active",
      pauseReason: null,
      health: "healthy",
    });
    await runJob(test, "resend-deliveries");
    await sendFor(test, sender);
    expect(receiver.requests.map(({ body }) => JSON.parse(body).data.order.id).sort()).toEqual(
      [before.id, after.id].sort(),
    );
    const entries = (await test.backOffice.get(`/api/audit-entries?subjectId=${id}&actor=operator`)).body
      .data;
    expect(entries.map(({ action }: { action: string }) => action)).toEqual([
      "resumeWebhookEndpoint",
      "pauseWebhookEndpoint",
    ]);
  });

  it("paused by the back office can be resumed by its partner", async () => {
    const { id } = await createEndpoint(partner);
    await test.backOffice.post(pathOf(partner, `/${id}/pause`));
    expect((await partner.client.post(endpointPath(id, "resume"))).body.status).toBe("active");
  });

  it("gets a sample of any event, which the partner sees in its log, and the audit log names who sent it", async () => {
    const { id } = await createEndpoint(partner);
    const { status, body } = await personOf(partner).post(pathOf(partner, `/${id}/ping`), {
      type: "order.accepted",
    });
    expect([status, body.eventType, body.endpointId]).toEqual([202, "order.accepted", id]);
    expect((await partner.client.get(`/v1/deliveries/${body.id}`)).body).toEqual(body);
    const [entry] = (await test.backOffice.get(`/api/audit-entries?subjectId=${id}`)).body.data;
    expect(entry).toMatchObject({ actor: { kind: "merchant" }, action: "pingWebhookEndpoint" });
    expectErrors(await test.backOffice.post(pathOf(partner, `/${id}/ping`), { type: "x" }), [
      { pointer: "/type" },
    ]);
  });

  it("recovers failed deliveries since a time, and rejects a time that is too early or in the future", async () => {
    const sender = await createPartner(test);
    const statuses = [500, 500, 200];
    const receiver = await startReceiverForTest((_, response) =>
      response.writeHead(statuses.shift() ?? 200).end(),
    );
    const { id } = await createEndpoint(sender, { url: receiver.url });
    const since = test.clock.now().toISOString();
    const order = await placeOrder(sender);
    const deliveryId = await deliveryOf(sender, id, order.id);
    for (const _ of [1, 2]) {
      await sendFor(test, sender);
      test.clock.advance({ minutes: 2 });
    }
    const recover = (from: string) => test.backOffice.post(pathOf(sender, `/${id}/recover`), { since: from });
    expect((await recover(since)).body).toMatchObject({ endpointId: id, since, deliveryCount: 1 });
    await runJob(test, "resend-deliveries");
    await sendFor(test, sender);
    expect((await sender.client.get(`/v1/deliveries/${deliveryId}`)).body.status).toBe("succeeded");
    for (const time of ["2026-01-01T00:00:00Z", "2030-01-01T00:00:00Z"])
      expectErrors(await recover(time), [{ pointer: "/since" }]);
  });

  it("is listed with those of its connection, and not with others", async () => {
    const lone = await createPartner(test);
    const { id } = await createEndpoint(lone);
    const { body } = await test.backOffice.get(pathOf(lone));
    expect(body).toMatchObject({
      data: [{ id, health: "healthy", connectionId: lone.connectionId }],
      nextCursor: null,
    });
    expect((await test.backOffice.get(pathOf(lone, `/${id}`))).body).toEqual(body.data[0]);
    expectProblem(await personOf(partner).get(pathOf(lone)), 404, "not-found");
  });
});
