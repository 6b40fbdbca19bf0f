import { describe, expect, it } from "vitest";
import { chargeShippings } from "../../src/ledger/shipping-charges.ts";
import { sqlState } from "../../src/platform/database/database.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { acceptAll, createFacility, routeAll } from "../support/facilities.ts";
import { cancelOrder, connectionKey, readOrder } from "../support/orders.ts";
import {
  balanceOf,
  moves,
  orderUuid,
  payIn,
  processDuePayments,
  setCreditLimit,
} from "../support/payments.ts";
import { operationApplied, readDetail, requestOperation } from "../support/real-orders.ts";
import { shipUnpaid } from "../support/ship-unpaid.ts";
import { dumpTables } from "../support/tables.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

const chargeShipping = (
  { context, clock }: TestService,
  partner: Partner,
  orderId: string,
  amountMinor: bigint,
  currency = "EUR",
) =>
  context.db.transaction((tx) => {
    const order = { ...connectionKey(partner), id: orderUuid(orderId) };
    return chargeShippings(tx, [{ order, amountMinor, currency }], {
      newId: context.newId,
      now: clock.now(),
    });
  });

describe("the charge for shipping", () => {
  it("is made in addition to that for the goods, and refunded with it", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const { id } = await placeOrder(partner);
    await chargeShipping(test, partner, id, 490n);
    await processDuePayments(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded", "shipping 1 succeeded"]);
    expect(await balanceOf(test, partner)).toBe(-1_490n);
    await cancelOrder(partner, id);
    await processDuePayments(test);
    expect(await balanceOf(test, partner)).toBe(0n);
  });

  it("holds the order when it is declined, until it is paid as well", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 1_000n);
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    await chargeShipping(test, partner, id, 490n);
    await processDuePayments(test);
    expect((await readOrder(partner, id)).onHoldReasons).toEqual(["payment_failed"]);
    await payIn(test, partner, "4.90");
    await processDuePayments(test);
    expect((await readOrder(partner, id)).onHold).toBe(false);
  });

  it("does not hold an order that has shipped: its partner cannot cancel it, and it is charged when the limit allows", async () => {
    const test = await startServiceForTest();
    const { partner, id } = await shipUnpaid(test);
    expect(await moves(test, partner, id)).toEqual([
      "goods 1 succeeded",
      "shipping 1 failed",
      "shipping 2 pending",
    ]);
    expect(await readOrder(partner, id)).toMatchObject({ status: "IN_PROGRESS", onHold: false });
    expect((await cancelOrder(partner, id)).status).toBe(409);
    await payIn(test, partner, "5.00");
    await processDuePayments(test);
    expect((await moves(test, partner, id)).at(-1)).toBe("shipping 2 succeeded");
    expect(await balanceOf(test, partner)).toBe(-1_000n);
  });

  it("holds an order that has shipped in part: the rest stays", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await createFacility(test);
    await setCreditLimit(test, partner, 2_000n);
    const lines = partner.productIds.map((productId) => ({ productId, quantity: 1 }));
    const order = await placeOrder(partner, { lines });
    await processDuePayments(test);
    await acceptAll(test);
    await routeAll(test);
    await operationApplied(test, order.id, "ship", {
      lineIds: [(await readDetail(test, order.id)).lines[0].id],
    });
    await processDuePayments(test);
    expect((await readOrder(partner, order.id)).onHoldReasons).toEqual(["payment_failed"]);
    expect((await requestOperation(test, order.id, "ship")).body).toMatchObject({ rule: "order_on_hold" });
  });

  it("if two are declined, both must be paid before the hold is released", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 0n);
    const { id } = await placeOrder(partner);
    await chargeShipping(test, partner, id, 490n);
    await processDuePayments(test);
    await payIn(test, partner, "5.00"); // Enough for the shipping alone.
    await processDuePayments(test);
    expect((await readOrder(partner, id)).onHoldReasons).toEqual(["payment_failed"]);
    await payIn(test, partner, "9.90");
    test.clock.advance({ hours: 6 });
    await processDuePayments(test);
    expect((await readOrder(partner, id)).onHold).toBe(false);
    expect(await balanceOf(test, partner)).toBe(0n);
  });

  it("is rejected a second time and in another currency, and does not exist when it is zero", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const { id } = await placeOrder(partner);
    await chargeShipping(test, partner, id, 0n);
    expect(await moves(test, partner, id)).toEqual(["goods 1 pending"]);
    await expect(chargeShipping(test, partner, id, 490n, "USD")).rejects.toThrow("currency");
    await chargeShipping(test, partner, id, 490n);
    const before = await dumpTables(test);
    await expect(chargeShipping(test, partner, id, 490n)).rejects.toSatisfy(
      (error) => sqlState(error) === "23505",
    );
    expect(await dumpTables(test)).toEqual(before);
  });
});
