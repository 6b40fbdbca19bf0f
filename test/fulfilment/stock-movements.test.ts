import { beforeEach, describe, expect, it } from "vitest";
import { untilBlocked } from "../support/blocked.ts";
import {
  countRows,
  createExposedProduct,
  createPartner,
  type Partner,
  placeOrder,
} from "../support/builders.ts";
import {
  acceptAll,
  createFacility,
  expectStockAddsUp,
  readStock,
  routeAll,
  setStock,
  ship,
  takeBack,
} from "../support/facilities.ts";
import { failPayment, transitionOrder } from "../support/orders.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";
import { uuidIn } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let product: string;
let other: string;
let facility: string;
beforeEach(async () => {
  test = await startServiceForTest();
  partner = await createPartner(test);
  [product, other] = partner.productIds;
  facility = await createFacility(test);
  await setStock(test, facility, product, 10);
  await setStock(test, facility, other, 10);
});

/** An order of 2 of one product and 3 of the other, with its stock kept. */
async function placeRouted(): Promise<string> {
  const lines = [
    { productId: product, quantity: 2 },
    { productId: other, quantity: 3 },
  ];
  const { id } = await placeOrder(partner, { lines });
  await acceptAll(test);
  await routeAll(test);
  await expectStock([10, 2], [10, 3]);
  return id;
}

/** On hand and reserved of both products. */
async function expectStock(...expected: [onHand: number, reserved: number][]): Promise<void> {
  const stock = [await readStock(test, facility, product), await readStock(test, facility, other)];
  expect(stock.map(({ onHand, reserved }) => [onHand, reserved])).toEqual(expected);
  await expectStockAddsUp(test);
}

describe("stock follows the order", () => {
  it("a shipped line leaves the stock, line by line", async () => {
    const id = await placeRouted();
    await ship(test, partner, id, [1]);
    await expectStock([10, 2], [7, 0]);
    await ship(test, partner, id);
    await expectStock([8, 0], [7, 0]);
    expect(await countRows(test, "stock_reservations")).toBe(0);
    await transitionOrder(test, partner, id, { name: "complete" });
    await expectStock([8, 0], [7, 0]);
  });

  it("a canceled order releases its reservations", async () => {
    const id = await placeRouted();
    await transitionOrder(test, partner, id, { name: "cancel" });
    await expectStock([10, 0], [10, 0]);
  });

  it("by its partner too, when its payment failed", async () => {
    const id = await placeRouted();
    await failPayment(test, partner, id);
    expect((await partner.client.post(`/v1/orders/${id}/cancel`)).status).toBe(200);
    await expectStock([10, 0], [10, 0]);
    expect((await partner.client.post(`/v1/orders/${id}/cancel`)).status).toBe(200);
    await expectStock([10, 0], [10, 0]);
  });

  it.each([true, false])(
    "a return ends the order: what was never shipped is free again (restock %s)",
    async (restock) => {
      const id = await placeRouted();
      await ship(test, partner, id, [1]);
      await takeBack(test, partner, id, restock);
      await expectStock([10, 0], [restock ? 10 : 7, 0]);
    },
  );

  it("of several shipments only the returned one goes back into stock", async () => {
    const id = await placeRouted();
    await ship(test, partner, id, [0]);
    test.clock.advance({ ms: 1 });
    await ship(test, partner, id, [1]);
    await takeBack(test, partner, id, true);
    await expectStock([8, 0], [10, 0]);
    await takeBack(test, partner, id, true);
    await expectStock([10, 0], [10, 0]);
  });

  it("a made-to-order product that comes back is not counted", async () => {
    const made = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    const { id } = await placeOrder(partner, { lines: [{ productId: made, quantity: 4 }] });
    await acceptAll(test);
    await routeAll(test);
    await ship(test, partner, id);
    await takeBack(test, partner, id, true);
    expect(await countRows(test, "stocked_products")).toBe(2);
    await expectStock([10, 0], [10, 0]);
  });

  it("a product that got stock only after the order was routed is not taken from stock", async () => {
    const made = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    const { id } = await placeOrder(partner, { lines: [{ productId: made, quantity: 4 }] });
    await acceptAll(test);
    await routeAll(test);
    await setStock(test, facility, made, 5);
    await ship(test, partner, id);
    expect(await readStock(test, facility, made)).toEqual({ onHand: 5, reserved: 0 });
    await expectStockAddsUp(test);
  });

  it("an order without reservations changes no stock: before its routing, and without facilities", async () => {
    const { id } = await placeOrder(partner);
    await acceptAll(test);
    await transitionOrder(test, partner, id, { name: "cancel" });
    await expectStock([10, 0], [10, 0]);
    const unrouted = await startServiceForTest();
    const by = await createPartner(unrouted);
    const far = await placeOrder(by);
    await acceptAll(unrouted);
    await routeAll(unrouted);
    await createFacility(unrouted);
    await ship(unrouted, by, far.id);
    await takeBack(unrouted, by, far.id, true);
    expect(await countRows(unrouted, "facility_stock")).toBe(0);
  });

  it("a failed transition changes no stock", async () => {
    const id = await placeRouted();
    await test.db.runScript(`
      create function reject() returns trigger language plpgsql as $$ begin raise exception 'down'; end $$;
      create trigger reject before update on facility_stock for each row execute function reject();`);
    await expect(ship(test, partner, id)).rejects.toThrow();
    await expect(transitionOrder(test, partner, id, { name: "cancel" })).rejects.toThrow();
    await expectStock([10, 2], [10, 3]);
    expect(await countRows(test, "shipments")).toBe(0);
  });

  it("the line of an order cannot be deleted while stock is reserved for it", async () => {
    await placeRouted();
    await expect(test.db.runScript("delete from order_lines")).rejects.toThrow();
  });

  it("a return locks the stock that it releases and adds together, in the order of ids", async () => {
    const [lesser = "", greater = ""] = [product, other].toSorted();
    const lines = [lesser, greater].map((productId) => ({ productId, quantity: 1 }));
    const { id } = await placeOrder(partner, { lines });
    await acceptAll(test);
    await routeAll(test);
    await ship(test, partner, id, [0]);
    const returned = await test.db.transaction(async (tx) => {
      const lock = (productId: string) =>
        tx.query({
          name: "test-lock-stock",
          text: "select from stocked_products where merchant_id = $1 and product_id = $2 for update nowait",
          values: [uuidIn("mer", partner.merchantId), productId],
        });
      await lock(lesser);
      const returning = takeBack(test, partner, id, true);
      await untilBlocked(test, 1);
      await lock(greater); // A transaction that waits for the lower id does not hold the lock.
      return [returning];
    });
    await Promise.all(returned);
    await expectStock([10, 0], [10, 0]);
  });

  it("shipping and canceling at the same time move it once", async () => {
    const id = await placeRouted();
    const results = await Promise.allSettled([
      ship(test, partner, id),
      transitionOrder(test, partner, id, { name: "cancel" }),
      setStock(test, facility, product, 20),
      routeAll(test),
    ]);
    expect(results.slice(2).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    await expectStockAddsUp(test);
    expect(await countRows(test, "stock_reservations")).toBe(0);
  });
});
