import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import { JOBS } from "../../src/service/jobs.ts";
import {
  anOrder,
  created,
  createPartner,
  type Partner,
  placeOrder,
  placeTestOrder,
} from "../support/builders.ts";
import { copyScript } from "../support/many-orders.ts";
import { applied, transition } from "../support/sandbox.ts";
import { countRowsNaming, dumpTables } from "../support/tables.ts";
import { startServiceForTest, startTestService, type TestService } from "../support/test-service.ts";
import { startSecondForTest } from "../support/two-services.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

/** One run of the worker's job; returns how many orders it erased. */
async function erase({ context }: TestService): Promise<number> {
  const job = JOBS.find(({ name }) => name === "erase-test-orders");
  if (job === undefined) throw new Error("The worker has no job that erases test orders.");
  return job.run(context);
}

/** Statuses of every request that names an order. */
async function answersNaming(orderId: string): Promise<number[]> {
  const path = `/v1/orders/${encodeURIComponent(orderId)}`;
  const read = await partner.client.get(path);
  const moved = await transition(partner, orderId, "hold");
  const canceled = await partner.client.post(`${path}/cancel`);
  return [read.status, moved.status, canceled.status];
}

describe("rule 4: a test order is erased two hours after creation", () => {
  it("just before, every request that names it succeeds", async () => {
    const { id } = await placeTestOrder(partner, { externalOrderId: "just before" });
    test.clock.advance({ hours: 2, ms: -1 });
    await erase(test);
    expect(await answersNaming("just before")).toEqual([200, 200, 200]);
    expect(await answersNaming(id)).toEqual([200, 409, 200]); // Canceled by now, and there all the same.
  });

  it("at two hours every request that names it returns 404 at once, without a worker", async () => {
    const { id } = await placeTestOrder(partner, { externalOrderId: "at two hours" });
    test.clock.advance({ hours: 2 });
    expect(await answersNaming(id)).toEqual([404, 404, 404]);
    expect(await answersNaming("at two hours")).toEqual([404, 404, 404]);
  });

  it("the response stays the same, before and after the worker has erased it", async () => {
    const { id } = await placeTestOrder(partner);
    test.clock.advance({ hours: 72 });
    expect(await answersNaming(id)).toEqual([404, 404, 404]);
    await erase(test);
    expect(await answersNaming(id)).toEqual([404, 404, 404]);
  });

  it("returns the same as for an order that never existed, before and after it is erased", async () => {
    const { id } = await placeTestOrder(partner);
    test.clock.advance({ hours: 2 });
    const read = async (orderId: string) => {
      const { status, body } = await partner.client.get(`/v1/orders/${orderId}`);
      return { status, body: { ...body, instance: "" } };
    };
    const expected = await read("never-seen");
    expect(await read(id)).toEqual(expected);
    await erase(test);
    expect(await read(id)).toEqual(expected);
  });

  it("a transition does not extend this", async () => {
    const { id } = await placeTestOrder(partner);
    for (const name of ["process", "accept", "hold", "releaseHold", "ship", "complete", "returnShipment"]) {
      test.clock.advance({ minutes: 17 });
      await applied(partner, id, name);
    }
    test.clock.advance({ minutes: 1, ms: -1 });
    expect((await partner.client.get(`/v1/orders/${id}`)).status).toBe(200);
    test.clock.advance({ ms: 1 });
    expect(await answersNaming(id)).toEqual([404, 404, 404]);
  });

  it("a cancel does not extend this either", async () => {
    const { id } = await placeTestOrder(partner);
    test.clock.advance({ hours: 1, minutes: 59 });
    expect((await partner.client.post(`/v1/orders/${id}/cancel`)).status).toBe(200);
    test.clock.advance({ minutes: 1 });
    expect(await answersNaming(id)).toEqual([404, 404, 404]);
  });

  it("a transition that is requested too late stores nothing and publishes nothing", async () => {
    const { id } = await placeTestOrder(partner);
    test.clock.advance({ hours: 2 });
    const before = await dumpTables(test);
    await answersNaming(id);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("takes the lifetime that is configured", async () => {
    const short = await startServiceForTest({ config: { testOrderLifetimeMs: 60_000 } });
    const other = await createPartner(short);
    const { id } = await placeTestOrder(other);
    short.clock.advance({ ms: 59_999 });
    expect((await other.client.get(`/v1/orders/${id}`)).status).toBe(200);
    short.clock.advance({ ms: 1 });
    expect((await other.client.get(`/v1/orders/${id}`)).status).toBe(404);
    expect(await erase(short)).toBe(1);
  });
});

describe("the worker's job", () => {
  beforeEach(async () => {
    test.clock.advance({ hours: 2 });
    await erase(test);
  });

  it("leaves nothing of an erased order in any table: no line, no shipment, no event", async () => {
    const before = await dumpTables(test);
    const lines = partner.productIds.map((productId) => ({ productId, quantity: 2 }));
    const ids: string[] = [];
    for (const transitions of [
      [],
      ["hold"],
      ["ship"],
      ["ship", "complete"],
      ["ship", "returnShipment"],
      ["ship", "cancel"],
    ]) {
      const { id } = await placeTestOrder(partner, { lines });
      for (const name of transitions) await applied(partner, id, name);
      ids.push(id);
    }
    for (const id of ids) {
      const uuid = fromTypeId("test", id) ?? "";
      const tables = Object.keys(await countRowsNaming(test, uuid, id));
      expect(tables).toEqual(expect.arrayContaining(["events", "order_lines", "orders"]));
    }
    test.clock.advance({ hours: 2 });
    expect(await erase(test)).toBe(ids.length);
    for (const id of ids) expect(await countRowsNaming(test, fromTypeId("test", id) ?? "", id)).toEqual({});
    expect(await dumpTables(test)).toEqual(before);
  });

  it("erases nothing too early", async () => {
    await placeTestOrder(partner);
    test.clock.advance({ hours: 2, ms: -1 });
    const before = await dumpTables(test);
    expect(await erase(test)).toBe(0);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("never erases a real order, however old and in any status", async () => {
    const lines = partner.productIds.map((productId) => ({ productId, quantity: 1 }));
    await placeOrder(partner, { lines });
    const { id } = await placeOrder(partner);
    await partner.client.post(`/v1/orders/${id}/cancel`);
    const before = await dumpTables(test);
    await placeTestOrder(partner);
    test.clock.advance({ hours: 24 * 365 });
    expect(await erase(test)).toBe(1);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("erases only what is due, of every connection", async () => {
    const other = await createPartner(test);
    const [mine, theirs] = [await placeTestOrder(partner), await placeTestOrder(other)];
    test.clock.advance({ hours: 1 });
    const young = await placeTestOrder(other);
    test.clock.advance({ hours: 1 });
    expect(await erase(test)).toBe(2);
    expect((await partner.client.get(`/v1/orders/${mine.id}`)).status).toBe(404);
    expect((await other.client.get(`/v1/orders/${theirs.id}`)).status).toBe(404);
    expect((await other.client.get(`/v1/orders/${young.id}`)).status).toBe(200);
  });

  it("erases more orders than one batch in a single run", async () => {
    await placeTestOrder(partner);
    // Copies of one order, because two thousand requests would only take time.
    await test.db.runScript(copyScript({ of: "o.test_mode", to: 2100 }));
    test.clock.advance({ hours: 2 });
    expect(await erase(test)).toBe(2_101);
    expect(await erase(test)).toBe(0);
  });

  it("erases every order once when two workers run at the same time", async () => {
    const other = await startSecondForTest(test);
    const before = await dumpTables(test);
    const second = await createPartner(test);
    const orders = await Promise.all(
      Array.from({ length: 60 }, (_, index) => placeTestOrder(index % 2 === 0 ? partner : second)),
    );
    for (const service of [test, other]) service.clock.advance({ hours: 2 });
    const counts = await Promise.all([test, other, test, other].map(erase));
    expect(counts.reduce((sum, count) => sum + count)).toBe(orders.length);
    const after = await dumpTables(test);
    for (const table of ["orders", "order_lines", "shipments"]) expect(after[table]).toEqual(before[table]);
    expect(after["events"]?.filter((row) => row.includes("test_"))).toEqual([]);
  });
});

describe("an erased test order frees its key and its external id", () => {
  const place = (fields: object, key?: string) =>
    partner.client.post(
      "/v1/orders",
      anOrder(partner, fields),
      key === undefined ? {} : { headers: { "idempotency-key": key } },
    );

  it.each([
    ["at once, without a worker", false],
    ["after the worker has erased it", true],
  ])("%s: for a real order, for another request, for another key", async (_title, erased) => {
    const ids = { key: `key ${erased}`, externalOrderId: `external ${erased}` };
    const first = await place({ testMode: true, externalOrderId: ids.externalOrderId }, ids.key);
    expect(first.status).toBe(201);
    test.clock.advance({ hours: 2, ms: -1 });
    const early = await place({ externalOrderId: ids.externalOrderId }, ids.key);
    expect(early.body.type).toMatch(/\/idempotency-key-reused$/);
    test.clock.advance({ ms: 1 });
    if (erased) await erase(test);
    const second = await place({ externalOrderId: ids.externalOrderId }, ids.key);
    expect(second.status).toBe(201);
    expect(second.headers["idempotent-replayed"]).toBeUndefined();
    const read = await partner.client.get(`/v1/orders/${ids.externalOrderId}`);
    expect(read.body).toMatchObject({ id: second.body.id, testMode: false });
  });

  it("the same request creates a new test order, not a replay", async () => {
    const order = anOrder(partner, { testMode: true });
    const first = await created(partner.client.post("/v1/orders", order));
    test.clock.advance({ hours: 2 });
    const second = await created(partner.client.post("/v1/orders", order));
    expect(second.id).not.toBe(first.id);
    expect(second.createdAt).toBe(test.clock.now().toISOString());
    expect(await answersNaming(first.id)).toEqual([404, 404, 404]);
  });

  it("a key and an external id of two different expired orders go to one new order", async () => {
    await place({ testMode: true, externalOrderId: "of one" }, "key of one");
    await place({ testMode: true, externalOrderId: "of two" }, "key of two");
    test.clock.advance({ hours: 2 });
    const { status } = await place({ externalOrderId: "of two" }, "key of one");
    expect(status).toBe(201);
  });

  it("twenty such requests and two workers at once make one order", async () => {
    const order = anOrder(partner, { testMode: true });
    await created(partner.client.post("/v1/orders", order));
    test.clock.advance({ hours: 2 });
    const [answers] = await Promise.all([
      Promise.all(Array.from({ length: 20 }, () => partner.client.post("/v1/orders", order))),
      erase(test),
      erase(test),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });
});
