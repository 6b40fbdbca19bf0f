import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anOrder, createKey, placeOrder, placeTestOrder } from "../support/builders.ts";
import { readOrder, readStoredOrders } from "../support/orders.ts";
import { type PartnerListener, startPartnerListener } from "../support/partner-listener.ts";
import { applied, eventsOf, typesOf } from "../support/sandbox.ts";
import { exchange, type RawAnswer, requestText } from "../support/sockets.ts";
import { dumpTables } from "../support/tables.ts";

// docs/design/lifecycle.md, "Rehearsed faults"

let wire: PartnerListener;
const stopping = new AbortController();
beforeAll(async () => {
  wire = await startPartnerListener({ stopping: stopping.signal });
});
afterAll(() => wire.close());

type Problem = { code: string; errors: object[] };

/** Null: the connection was cut before a response. */
async function send(
  target: string,
  fault: string | null,
  body: object = {},
  headers: object = {},
): Promise<(RawAnswer & { json: Problem & { id: string; status: string } }) | null> {
  const fields = { ...wire.authorizedJson(), ...(fault !== null && { "test-fault": fault }), ...headers };
  const text = requestText(`POST ${target} HTTP/1.1`, fields, JSON.stringify(body));
  const answer = await exchange(wire.url, text).catch(() => null);
  return answer && { ...answer, json: JSON.parse(answer.body || "{}") };
}

const aTestOrder = (externalOrderId: string, fields: object = {}) =>
  anOrder(wire.partner, { externalOrderId, testMode: true, ...fields });

const storedOrders = async () => (await readStoredOrders(wire.test, wire.partner)).length;

describe("Test-Fault: lost-response", () => {
  it("stores a test order and cuts the connection; the retry is its replay, and there is one order", async () => {
    const before = await storedOrders();
    const order = aTestOrder("lost");
    expect(await send("/v1/orders", "lost-response", order)).toBeNull();
    expect(await storedOrders()).toBe(before + 1);
    const retried = await send("/v1/orders", "lost-response", order);
    expect(retried).toMatchObject({ status: 200, headers: { "idempotent-replayed": "true" } });
    expect(await storedOrders()).toBe(before + 1);
    expect(await send("/v1/orders", "lost-response", order), "the third request rehearses again").toBeNull();
    expect(await send("/v1/orders", null, order)).toMatchObject({ status: 200 });
  });

  it("is for one request alone: another body, key or connection is another request", async () => {
    const key = (name: string) => ({ "idempotency-key": name });
    const order = anOrder(wire.partner, { testMode: true, externalOrderId: undefined });
    expect(await send("/v1/orders", "lost-response", order, key("a"))).toBeNull();
    expect(await send("/v1/orders", "lost-response", order, key("b"))).toBeNull();
    expect(await send("/v1/orders", "lost-response", order, key("a"))).toMatchObject({ status: 200 });
  });

  it.each([
    ["cancel", (id: string) => `/v1/orders/${id}/cancel`, {}, 200, "CANCELED"],
    [
      "a transition",
      (id: string) => `/v1/test/orders/${id}/transitions`,
      { transition: "accept" },
      200,
      "ACCEPTED",
    ],
    ["erase", (id: string) => `/v1/test-orders/${id}/erase`, {}, 404, undefined],
  ])("carries out %s, whose retry finds what it did", async (_name, path, body, retried, status) => {
    const { id } = await placeTestOrder(wire.partner);
    expect(await send(path(id), "lost-response", body)).toBeNull();
    expect((await wire.partner.client.get(`/v1/orders/${id}`)).body.status).toBe(status ?? 404);
    expect((await send(path(id), "lost-response", body))?.status).toBe(retried);
  });

  it("carries out tracking, whose retry finds what it did", async () => {
    const { id } = await placeTestOrder(wire.partner);
    const { shipments } = await applied(wire.partner, id, "ship");
    const path = `/v1/test/orders/${id}/shipments/${shipments[0].id}/tracking`;
    expect(await send(path, "lost-response", { status: "delivered" })).toBeNull();
    const retried = await send(path, "lost-response", { status: "delivered" });
    expect(retried).toMatchObject({ status: 200, json: { shipments: [{ status: "delivered" }] } });
  });

  it("returns the problem of a request that is rejected", async () => {
    const { id } = await placeTestOrder(wire.partner);
    const rejected = await send(`/v1/test/orders/${id}/transitions`, "lost-response", {
      transition: "complete",
    });
    expect(rejected).toMatchObject({ status: 409, json: { code: "transition-refused" } });
  });
});

describe.each([
  ["503", 503, "unavailable"],
  ["429", 429, "rate-limited"],
] as const)("Test-Fault: %s", (fault, status, code) => {
  it("changes nothing; the retry is carried out", async () => {
    const order = aTestOrder(`rejected-${fault}`);
    const before = await storedOrders();
    const rejected = await send("/v1/orders", fault, order);
    expect(rejected).toMatchObject({ status, headers: { "retry-after": "1" }, json: { code } });
    expect(await storedOrders()).toBe(before);
    expect(await send("/v1/orders", fault, order)).toMatchObject({ status: 201 });
  });

  it("leaves an order as it is until the retry", async () => {
    const { id } = await placeTestOrder(wire.partner);
    const before = await readOrder(wire.partner, id);
    expect(await send(`/v1/orders/${id}/cancel`, fault)).toMatchObject({ status });
    expect(await readOrder(wire.partner, id)).toEqual(before);
    expect(await send(`/v1/orders/${id}/cancel`, fault)).toMatchObject({ status: 200 });
    expect(typesOf(await eventsOf(wire.test, id))).toEqual(["order.created", "order.canceled"]);
  });
});

describe("Test-Fault on anything else", () => {
  const REJECTED = {
    status: 422,
    json: { code: "validation-failed", errors: [{ header: "test-fault", rule: "test_orders_only" }] },
  };

  it.each(["lost-response", "503", "429", "slow"])("is 422 on a real order: %s", async (fault) => {
    const { id } = await placeOrder(wire.partner);
    const before = await dumpTables(wire.test);
    expect(await send("/v1/orders", fault, anOrder(wire.partner, { externalOrderId: "real" }))).toMatchObject(
      REJECTED,
    );
    expect(await send(`/v1/orders/${id}/cancel`, fault)).toMatchObject(REJECTED);
    expect(await send(`/v1/test/orders/${id}/transitions`, fault, { transition: "accept" })).toMatchObject(
      REJECTED,
    );
    expect(await send(`/v1/test-orders/${id}/erase`, fault)).toMatchObject(REJECTED);
    expect(await send(`/v1/test/orders/${id}/shipments/none/tracking`, fault)).toMatchObject(REJECTED);
    expect(await dumpTables(wire.test)).toEqual(before);
  });

  it("is 404 on an order that is missing, and on a real one with a test key", async () => {
    const { id } = await placeOrder(wire.partner);
    const { key } = await createKey(wire.test, wire.partner.connectionId, { mode: "test" });
    const ofTestKey = { authorization: `Bearer ${key}` };
    for (const [path, headers] of [
      ["/v1/orders/nothing/cancel", {}],
      [`/v1/orders/${id}/cancel`, ofTestKey],
    ] as const)
      expect(await send(path, "503", {}, headers)).toMatchObject({ status: 404 });
  });

  it("is 422 for a fault that does not exist", async () => {
    const unknown = await send("/v1/orders", "lost", aTestOrder("unknown fault"));
    expect(unknown).toMatchObject({
      status: 422,
      json: {
        errors: [{ header: "test-fault", rule: "one_of", allowed: ["429", "503", "lost-response", "slow"] }],
      },
    });
  });
});

describe("Test-Fault: slow", () => {
  it("stores at once and responds later, at the latest when the process stops", async () => {
    const order = aTestOrder("slow");
    const slow = send("/v1/orders", "slow", order);
    await expect.poll(() => wire.partner.client.get("/v1/orders/slow")).toMatchObject({ status: 200 });
    const first = await Promise.race([slow, send("/v1/orders", null, order)]);
    expect(first, "the retry overtakes it").toMatchObject({ status: 200 });
    stopping.abort();
    expect(await slow).toMatchObject({ status: 201 });
  });
});
