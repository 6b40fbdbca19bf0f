import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { acceptDueOrders, listConnectionsWithDueOrders } from "../../src/orders/deadlines/accept-orders.ts";
import { JOBS } from "../../src/service/jobs.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  cancelOrder,
  connectionKey,
  connectionUuid,
  failPayment,
  readOrder,
  readOrderEvents,
  readOrderEventTypes,
  readStoredOrders,
  transitionOrder,
} from "../support/orders.ts";
import { applied } from "../support/sandbox.ts";
import { startServiceForTest, startTestService, type TestService } from "../support/test-service.ts";
import { startSecondForTest } from "../support/two-services.ts";

// The specification, part 3, "Real orders"; docs/design/lifecycle.md, "A failed payment is a hold" and "The deadline decides".
// What a read or a cancel shows before any worker has run stands with their endpoints; here is the worker, which makes the same
// true in the tables.

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

const accept = (by = partner, { context } = test) => acceptDueOrders(context, [connectionKey(by)], []);
const storedStatuses = async (by = partner) => (await readStoredOrders(test, by)).map(({ status }) => status);
const inHours = (hours: number) => new Date(test.clock.now().getTime() + hours * 3_600_000).toISOString();

/** Accepts as the worker does: batch after batch, until nothing is due. */
async function acceptAll(by: Partner, service = test): Promise<number> {
  let count = 0;
  for (let accepted = await accept(by, service); accepted > 0; accepted = await accept(by, service))
    count += accepted;
  return count;
}

describe("acceptance by the worker", () => {
  it("accepts a NEW order at the end of its window, and not a millisecond before", async () => {
    await placeOrder(partner);
    test.clock.advance({ hours: 2, ms: -1 });
    expect(await accept()).toBe(0);
    expect(await storedStatuses()).toEqual(["NEW"]);
    test.clock.advance({ ms: 1 });
    expect(await accept()).toBe(1);
    expect(await storedStatuses()).toEqual(["ACCEPTED"]);
  });

  it("measures the window from each order's own creation", async () => {
    await placeOrder(partner);
    test.clock.advance({ hours: 1 });
    await placeOrder(partner);
    test.clock.advance({ hours: 1 });
    expect(await accept()).toBe(1);
    expect(await storedStatuses()).toEqual(["ACCEPTED", "NEW"]);
  });

  it("uses the configured window", async () => {
    const brief = await startServiceForTest({ config: { acceptanceWindowMs: 1_000 } });
    const hasty = await createPartner(brief);
    await placeOrder(hasty);
    brief.clock.advance({ ms: 999 });
    expect(await accept(hasty, brief)).toBe(0);
    brief.clock.advance({ ms: 1 });
    expect(await accept(hasty, brief)).toBe(1);
  });

  it("accepts each order once", async () => {
    await placeOrder(partner);
    test.clock.advance({ hours: 2 });
    expect([await accept(), await accept()]).toEqual([1, 0]);
  });

  it("publishes no event", async () => {
    const { id } = await placeOrder(partner);
    test.clock.advance({ hours: 2 });
    await accept();
    expect(await readOrderEventTypes(test, partner, id)).toEqual(["order.created"]);
  });

  it("changes nothing that a read shows: the order was accepted by its deadline, whenever the worker came", async () => {
    const { id } = await placeOrder(partner);
    const closesAt = inHours(2);
    test.clock.advance({ hours: 5 });
    const before = await readOrder(partner, id);
    expect(before).toMatchObject({ status: "ACCEPTED", updatedAt: closesAt, cancelableUntil: null });
    await accept();
    expect(await readOrder(partner, id)).toEqual(before);
    expect(await readStoredOrders(test, partner)).toMatchObject([
      { status: "ACCEPTED", updatedAt: closesAt },
    ]);
  });

  it("finds nothing to do after a cancel that came too late", async () => {
    const { id } = await placeOrder(partner);
    test.clock.advance({ hours: 3 });
    await cancelOrder(partner, id);
    const before = await readOrder(partner, id);
    expect(await accept()).toBe(0);
    expect(await readOrder(partner, id)).toEqual(before);
  });

  it("leaves the orders of other connections to their own batch", async () => {
    const other = await createPartner(test);
    await placeOrder(other);
    test.clock.advance({ hours: 2 });
    expect(await accept()).toBe(0);
    expect(await storedStatuses(other)).toEqual(["NEW"]);
    expect(await accept(other)).toBe(1);
  });
});

describe("never accepted automatically", () => {
  it("a canceled order", async () => {
    const { id } = await placeOrder(partner);
    await cancelOrder(partner, id);
    test.clock.advance({ hours: 2 });
    expect(await accept()).toBe(0);
    expect(await storedStatuses()).toEqual(["CANCELED"]);
  });

  it("an order in PROCESSING", async () => {
    const reviewed = await createPartner(test, { reviewPolicy: { countries: [] } });
    await placeOrder(reviewed);
    test.clock.advance({ hours: 48 });
    expect(await accept(reviewed)).toBe(0);
    expect(await storedStatuses(reviewed)).toEqual(["PROCESSING"]);
  });

  it("a test order, during its whole lifetime", async () => {
    const patient = await startServiceForTest({
      config: { acceptanceWindowMs: 1_000, testOrderLifetimeMs: 60_000 },
    });
    const rehearsing = await createPartner(patient);
    const { id } = await placeTestOrder(rehearsing);
    patient.clock.advance({ ms: 59_999 });
    expect(await accept(rehearsing, patient)).toBe(0);
    expect((await readOrder(rehearsing, id)).status).toBe("NEW");
  });

  it("a test order whose payment failed and was paid", async () => {
    const { id } = await placeTestOrder(partner);
    await applied(partner, id, "hold", { reasons: ["payment_failed"] });
    test.clock.advance({ hours: 1 });
    expect(await applied(partner, id, "releaseHold")).toMatchObject({ status: "NEW" });
  });
});

describe("acceptance and holds", () => {
  it("is not stopped by a hold, which stays", async () => {
    const { id } = await placeOrder(partner);
    await transitionOrder(test, partner, id, { name: "hold", reasons: ["out_of_stock"] });
    test.clock.advance({ hours: 2 });
    expect(await accept()).toBe(1);
    expect(await readOrder(partner, id)).toMatchObject({
      status: "ACCEPTED",
      onHoldReasons: ["out_of_stock"],
    });
  });

  it.each([[["payment_failed"]], [["out_of_stock", "payment_failed"]]])(
    "does not happen while payment has failed: %j",
    async (reasons) => {
      const { id } = await placeOrder(partner);
      await transitionOrder(test, partner, id, { name: "hold", reasons });
      test.clock.advance({ hours: 48 });
      expect(await accept()).toBe(0);
      expect(await readOrder(partner, id)).toMatchObject({ status: "NEW", onHoldReasons: reasons });
    },
  );

  it("comes at the deadline when payment was made within the window", async () => {
    const { id } = await placeOrder(partner);
    const closesAt = inHours(2);
    await failPayment(test, partner, id);
    test.clock.advance({ hours: 1 });
    await transitionOrder(test, partner, id, { name: "releaseHold", reasons: ["payment_failed"] });
    expect(await readOrder(partner, id)).toMatchObject({ status: "NEW", cancelableUntil: closesAt });
    test.clock.advance({ hours: 1 });
    expect(await accept()).toBe(1);
    expect(await readOrder(partner, id)).toMatchObject({ status: "ACCEPTED", updatedAt: closesAt });
  });

  it("comes at once when payment was made after the window, as the event of the release shows", async () => {
    const { id } = await placeOrder(partner);
    await failPayment(test, partner, id);
    test.clock.advance({ hours: 5 });
    await transitionOrder(test, partner, id, { name: "releaseHold", reasons: ["payment_failed"] });
    expect(await storedStatuses()).toEqual(["ACCEPTED"]);
    const order = await readOrder(partner, id);
    expect(order).toMatchObject({
      status: "ACCEPTED",
      onHold: false,
      updatedAt: test.clock.now().toISOString(),
    });
    const released = (await readOrderEvents(test, partner, id)).at(-1);
    expect(released).toMatchObject({ type: "order.onHoldReleased", sequence: 3, data: { order } });
  });

  it("is not caused by another hold: a failed payment stays until it is paid or released by name", async () => {
    const { id } = await placeOrder(partner);
    await failPayment(test, partner, id);
    test.clock.advance({ hours: 5 });
    await transitionOrder(test, partner, id, { name: "hold", reasons: ["out_of_stock"] });
    expect(await readOrder(partner, id)).toMatchObject({
      status: "NEW",
      onHoldReasons: ["payment_failed", "out_of_stock"],
    });
    await transitionOrder(test, partner, id, { name: "releaseHold", reasons: ["payment_failed"] });
    expect(await readOrder(partner, id)).toMatchObject({
      status: "ACCEPTED",
      onHoldReasons: ["out_of_stock"],
    });
  });

  it("is not undone when payment fails after the window", async () => {
    const { id } = await placeOrder(partner);
    test.clock.advance({ hours: 2 });
    await failPayment(test, partner, id);
    expect(await readOrder(partner, id)).toMatchObject({
      status: "ACCEPTED",
      onHoldReasons: ["payment_failed"],
    });
  });
});

describe("acceptance, of many orders and by many workers", () => {
  const placeMany = (by: Partner, count: number) =>
    Promise.all(Array.from({ length: count }, () => placeOrder(by)));

  it("processes them in batches, the longest due first, until none is left", async () => {
    const [oldest] = await placeMany(partner, 1);
    test.clock.advance({ ms: 1 });
    await placeMany(partner, 500);
    test.clock.advance({ hours: 2 });
    expect(await accept()).toBe(500);
    expect(await readStoredOrders(test, partner)).toContainEqual(
      expect.objectContaining({ id: oldest.id, status: "ACCEPTED" }),
    );
    expect([await accept(), await accept()]).toEqual([1, 0]);
    expect(new Set(await storedStatuses())).toEqual(new Set(["ACCEPTED"]));
  });

  it("accepts each order once with two workers at the same time", async () => {
    await placeMany(partner, 60);
    test.clock.advance({ hours: 2 });
    const second = await startSecondForTest(test);
    const counts = await Promise.all(
      [test, second, test, second].map((service) => acceptAll(partner, service)),
    );
    // A worker skips orders that another one has locked, so a further run processes the rest.
    const left = await acceptAll(partner);
    expect(counts.reduce((sum, count) => sum + count, left)).toBe(60);
    expect(new Set(await storedStatuses())).toEqual(new Set(["ACCEPTED"]));
  });

  it("lists connections with due orders, the one that waits longest first, each once", async () => {
    const other = await createPartner(test);
    const idle = await createPartner(test);
    await placeMany(other, 2);
    test.clock.advance({ ms: 1 });
    await placeMany(partner, 2);
    await failPayment(test, idle, (await placeOrder(idle)).id);
    await placeTestOrder(idle);
    test.clock.advance({ hours: 2 });
    const due = await listConnectionsWithDueOrders(test.db, test.clock.now());
    const ours = [other, partner, idle].map(connectionUuid);
    expect(due.map(({ connectionId }) => connectionId).filter((id) => ours.includes(id))).toEqual(
      ours.slice(0, 2),
    );
  });

  it("is done for every connection by the worker's job", async () => {
    const other = await createPartner(test);
    await placeMany(partner, 3);
    await placeMany(other, 2);
    test.clock.advance({ hours: 2 });
    const job = JOBS.find(({ name }) => name === "accept-orders");
    expect(await job?.run(test.context)).toBeGreaterThanOrEqual(5);
    expect(await job?.run(test.context)).toBe(0);
    for (const by of [partner, other])
      expect(new Set(await storedStatuses(by))).toEqual(new Set(["ACCEPTED"]));
  });
});
