import { beforeEach, describe, expect, it } from "vitest";
import { untilBlocked } from "../support/blocked.ts";
import {
  createExposedProduct,
  createPartner,
  type Partner,
  placeOrder,
  placeTestOrder,
} from "../support/builders.ts";
import {
  acceptAll,
  aRate,
  createFacility,
  createSibling,
  expectStockAddsUp,
  readOperations,
  readRoute,
  readRoutes,
  readShippingCharges,
  readStock,
  routeAll,
  setStock,
} from "../support/facilities.ts";
import { failPayment, readOrder, readOrderEvents, transitionOrder } from "../support/orders.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";
import { startSecondForTest } from "../support/two-services.ts";
import { uuidIn } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let product: string;
beforeEach(async () => {
  test = await startServiceForTest();
  partner = await createPartner(test);
  [product] = partner.productIds;
});

const lines = (...quantities: number[]) =>
  ({ lines: quantities.map((quantity) => ({ productId: product, quantity })) }) as const;
const holdsOf = async (id: string) => (await readOrder(partner, id)).onHoldReasons;
const typesOf = async (id: string) =>
  (await readOrderEvents(test, partner, id)).map(({ type }: { type: string }) => type);

describe("an accepted order", () => {
  it("gets a facility, and its stock is reserved", async () => {
    const facility = await createFacility(test);
    await setStock(test, facility, product, 10);
    const { id } = await placeOrder(partner, lines(2, 3));
    await acceptAll(test);
    expect(await routeAll(test)).toBe(1);
    expect(await readRoute(test, id)).toEqual({ facilityId: facility, routedAt: test.clock.now() });
    expect(await readStock(test, facility, product)).toEqual({ onHand: 10, reserved: 5 });
    expect(await readOperations(test, id)).toEqual(["accept", "route"]);
    expect(await typesOf(id)).toEqual(["order.created"]); // Routing publishes no event.
    await expectStockAddsUp(test);
  });

  it("is charged its shipping when it is routed, and not before", async () => {
    await createFacility(test, { rates: [aRate({ amount: "7.25" })] });
    const { id } = await placeOrder(partner);
    await acceptAll(test);
    expect(await readShippingCharges(test, id)).toEqual([]);
    await routeAll(test);
    await routeAll(test);
    expect(await readShippingCharges(test, id)).toEqual([725n]);
  });

  it.each([
    ["to a facility that ships for nothing", true],
    ["where there is no facility", false],
  ])("is not charged any shipping %s", async (_title, hasFacility) => {
    if (hasFacility) await createFacility(test, { rates: [aRate({ amount: "0" })] });
    const { id } = await placeOrder(partner);
    await acceptAll(test);
    await routeAll(test);
    expect(await readShippingCharges(test, id)).toEqual([]);
    expect((await readRoute(test, id))?.routedAt).not.toBeNull();
  });

  it("is routed once: a second run finds nothing", async () => {
    const facility = await createFacility(test);
    await setStock(test, facility, product, 10);
    const { id } = await placeOrder(partner);
    await acceptAll(test);
    await routeAll(test);
    const route = await readRoute(test, id);
    test.clock.advance({ minutes: 1 });
    expect(await routeAll(test)).toBe(0);
    expect(await readRoute(test, id)).toEqual(route);
    expect(await readStock(test, facility, product)).toEqual({ onHand: 10, reserved: 1 });
  });

  it("is ready to ship at once if there is no facility", async () => {
    const { id } = await placeOrder(partner);
    await acceptAll(test);
    await routeAll(test);
    expect(await readRoute(test, id)).toEqual({ facilityId: null, routedAt: test.clock.now() });
    expect(await holdsOf(id)).toEqual([]);
  });

  it("of made-to-order products needs no stock, and none is reserved", async () => {
    const facility = await createFacility(test);
    const { id } = await placeOrder(partner, lines(100_000));
    await acceptAll(test);
    await routeAll(test);
    expect(await readRoute(test, id)).toMatchObject({ facilityId: facility });
    await expectStockAddsUp(test);
  });

  it("has the present weight of its products, and a price in its own currency", async () => {
    const heavy = await createExposedProduct(test, partner.merchantId, partner.connectionId, {
      weightGrams: 400,
    });
    const light = await createFacility(test, { rates: [aRate({ grams: 800, amount: "1.00" })] });
    const strong = await createFacility(test, {
      rates: [
        aRate({ grams: 2_000, amount: "9.00" }),
        aRate({ grams: 2_000, amount: "0.01", currency: "USD" }),
      ],
    });
    const order = (quantity: number) => placeOrder(partner, { lines: [{ productId: heavy, quantity }] });
    const ids = [(await order(2)).id, (await order(3)).id, (await order(6)).id];
    await acceptAll(test);
    await routeAll(test);
    expect((await readRoutes(test, ids)).map(({ facilityId }) => facilityId)).toEqual([light, strong, null]);
    expect(await holdsOf(ids[2] ?? "")).toEqual(["address_unserviceable"]);
  });

  it("waits on hold without stock, and the partner gets an event", async () => {
    const facility = await createFacility(test);
    await setStock(test, facility, product, 1);
    const { id } = await placeOrder(partner, lines(2));
    await acceptAll(test);
    expect(await routeAll(test)).toBe(1);
    expect(await readRoute(test, id)).toEqual({ facilityId: null, routedAt: null });
    expect(await readOrder(partner, id)).toMatchObject({
      status: "ACCEPTED",
      onHold: true,
      onHoldReasons: ["out_of_stock"],
    });
    expect(await typesOf(id)).toEqual(["order.created", "order.onHold"]);
    expect(await routeAll(test)).toBe(0);
    expect(await readStock(test, facility, product)).toEqual({ onHand: 1, reserved: 0 });
  });

  it("waits on hold when no facility has a rate for it, whatever the stock", async () => {
    const facility = await createFacility(test, { rates: [aRate({ country: "FR" })] });
    await setStock(test, facility, product, 0);
    const { id } = await placeOrder(partner);
    await acceptAll(test);
    await routeAll(test);
    expect(await holdsOf(id)).toEqual(["address_unserviceable"]);
  });
});

describe("an order that must not be routed", () => {
  it.each(["NEW", "CANCELED", "PROCESSING"])("is left alone: %s", async (status) => {
    await createFacility(test);
    const reviewed = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
    const by = status === "PROCESSING" ? reviewed : partner;
    const { id } = await placeOrder(by, { lines: [{ productId: by.productIds[0], quantity: 2 }] });
    if (status === "CANCELED") await by.client.post(`/v1/orders/${id}/cancel`);
    expect(await routeAll(test)).toBe(0);
    expect(await readRoute(test, id)).toEqual({ facilityId: null, routedAt: null });
  });

  it("is left alone: a test order, accepted or not", async () => {
    const facility = await createFacility(test);
    await setStock(test, facility, product, 5);
    const { id } = await placeTestOrder(partner);
    for (const transition of ["accept", "ship"]) {
      await partner.client.post(`/v1/test/orders/${id}/transitions`, { transition });
      expect(await routeAll(test)).toBe(0);
    }
    expect(await readStock(test, facility, product)).toEqual({ onHand: 5, reserved: 0 });
  });

  it("waits for its payment, and reserves no stock until then", async () => {
    const facility = await createFacility(test);
    await setStock(test, facility, product, 5);
    const { id } = await placeOrder(partner);
    await acceptAll(test);
    await failPayment(test, partner, id);
    expect(await routeAll(test)).toBe(0);
    await transitionOrder(test, partner, id, { name: "releaseHold", reasons: ["payment_failed"] });
    expect(await routeAll(test)).toBe(1);
    expect(await readRoute(test, id)).toMatchObject({ facilityId: facility });
  });
});

describe("an order on hold for another reason", () => {
  it("is routed too: a hold only stops shipping", async () => {
    const facility = await createFacility(test);
    const { id } = await placeOrder(partner);
    await acceptAll(test);
    await transitionOrder(test, partner, id, { name: "hold", reasons: ["merchant_request"] });
    await routeAll(test);
    expect(await readRoute(test, id)).toMatchObject({ facilityId: facility });
    expect(await holdsOf(id)).toEqual(["merchant_request"]);
  });

  it("keeps that reason when routing adds and releases its own", async () => {
    const facility = await createFacility(test);
    await setStock(test, facility, product, 0);
    const { id } = await placeOrder(partner);
    await acceptAll(test);
    await transitionOrder(test, partner, id, { name: "hold", reasons: ["merchant_request"] });
    await routeAll(test);
    expect(await holdsOf(id)).toEqual(["merchant_request", "out_of_stock"]);
    await setStock(test, facility, product, 1);
    await routeAll(test);
    expect(await holdsOf(id)).toEqual(["merchant_request"]);
    expect(await readRoute(test, id)).toMatchObject({ facilityId: facility });
  });
});

describe("stock", () => {
  it("goes to the oldest order first when there is not enough for all", async () => {
    const facility = await createFacility(test);
    await setStock(test, facility, product, 3);
    const ids: string[] = [];
    for (const quantity of [2, 2, 1]) {
      test.clock.advance({ seconds: 1 });
      ids.push((await placeOrder(partner, lines(quantity))).id);
    }
    await acceptAll(test);
    await routeAll(test);
    const routed = (await readRoutes(test, ids)).map(({ routedAt }) => routedAt !== null);
    expect(routed).toEqual([true, false, true]); // The third takes what the second cannot use.
  });

  it("is reserved once, with any number of workers", async () => {
    const facility = await createFacility(test);
    await setStock(test, facility, product, 25);
    const sibling = await createSibling(test, partner);
    for (const by of [partner, sibling]) await Promise.all(Array.from({ length: 20 }, () => placeOrder(by)));
    await acceptAll(test);
    const second = await startSecondForTest(test);
    // Each takes the orders of a connection, and both come to the stock together.
    const both = await test.db.transaction(async (tx) => {
      await tx.query({
        name: "test-block-stock",
        text: "select from stocked_products where merchant_id = $1 for update",
        values: [uuidIn("mer", partner.merchantId)],
      });
      const both = [routeAll(test), routeAll(second)];
      await untilBlocked(test, 2);
      return both;
    });
    const counts = await Promise.all(both);
    expect(counts.reduce((sum, count) => sum + count)).toBe(40);
    expect(await readStock(test, facility, product)).toEqual({ onHand: 25, reserved: 25 });
    await expectStockAddsUp(test);
  });

  it("cannot be reserved twice in the database either", async () => {
    const facility = await createFacility(test);
    await setStock(test, facility, product, 1);
    await expect(test.db.runScript("update facility_stock set reserved = 2")).rejects.toThrow();
    await expect(test.db.runScript("update facility_stock set reserved = -1")).rejects.toThrow();
  });
});

describe("a crash during routing", () => {
  it.each([
    ["after the order was given its facility", "stock_reservations", "insert"],
    ["after its stock was kept", "facility_stock", "update"],
    ["before its shipping was charged", "due_payments", "insert"],
    ["before its timeline was written", "timeline_entries", "insert"],
  ])("leaves nothing behind: %s", async (_title, table, operation) => {
    const facility = await createFacility(test);
    await setStock(test, facility, product, 5);
    const { id } = await placeOrder(partner);
    await acceptAll(test);
    await test.db.runScript(`
      create function reject() returns trigger language plpgsql as $$ begin raise exception 'down'; end $$;
      create trigger reject before ${operation} on ${table} for each row execute function reject();`);
    await expect(routeAll(test)).rejects.toThrow();
    expect(await readRoute(test, id)).toEqual({ facilityId: null, routedAt: null });
    expect(await readStock(test, facility, product)).toEqual({ onHand: 5, reserved: 0 });
    await test.db.runScript(`drop trigger reject on ${table}`);
    await routeAll(test);
    expect(await readRoute(test, id)).toMatchObject({ facilityId: facility });
    await expectStockAddsUp(test);
  });
});
