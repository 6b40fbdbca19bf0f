import { describe, expect, it } from "vitest";
import { byService } from "../../src/audit/record-audit.ts";
import { chargeShippings } from "../../src/ledger/shipping-charges.ts";
import { readMerchant } from "../../src/merchants/merchants-sql.ts";
import { setStripeMethod } from "../../src/payments/stripe/stripe-methods.ts";
import { sqlState } from "../../src/platform/database/database.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { acceptAll, createFacility, routeAll } from "../support/facilities.ts";
import { cancelOrder, connectionKey, readOrder } from "../support/orders.ts";
import {
  balanceOf,
  moves,
  orderUuid,
  payIn,
  processDuePayments,
  readDuePayments,
  sendDuePayments,
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

describe("the shipping of an order whose goods are paid", () => {
  const arrange = async (limitMinor: bigint | null = null) => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await createFacility(test); // Its rate is 5.00.
    await setCreditLimit(test, partner, limitMinor);
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    await acceptAll(test);
    return { test, partner, id };
  };

  it("is booked on the account with the route, and refunded with the goods", async () => {
    const { test, partner, id } = await arrange(1_500n);
    await routeAll(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded", "shipping 1 succeeded"]);
    expect(await balanceOf(test, partner)).toBe(-1_500n);
    expect(await readDuePayments(test)).toEqual([]);
    await operationApplied(test, id, "cancel");
    await processDuePayments(test);
    expect(await balanceOf(test, partner)).toBe(0n);
  });

  it("is left to the worker if it exceeds the credit limit, and then holds the order", async () => {
    const { test, partner, id } = await arrange(1_499n);
    await routeAll(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded", "shipping 1 pending"]);
    expect(await balanceOf(test, partner)).toBe(-1_000n);
    await processDuePayments(test);
    expect((await readOrder(partner, id)).onHoldReasons).toEqual(["payment_failed"]);
  });

  it("is left to the worker if the merchant pays at Stripe", async () => {
    const { test, partner, id } = await arrange();
    const service = { ...test.context, config: { ...test.context.config, stripeSecretKey: "sk_test_1" } };
    const merchant = await readMerchant(test.db, fromTypeId("mer", partner.merchantId) ?? "");
    if (merchant === null) throw new Error("The partner has a merchant.");
    const method = { customerId: "cus_1", paymentMethodId: "pm_1" };
    await setStripeMethod(service, merchant, method, byService("setStripeMethod"));
    await routeAll(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded", "shipping 1 pending"]);
    expect(await balanceOf(test, partner)).toBe(-1_000n);
  });

  it("never exceeds the credit limit beside the worker, which books the goods of another order", async () => {
    const { test, partner, id } = await arrange(2_000n);
    const other = await placeOrder(partner); // Of 10.00 that are left, either the goods or the shipping fits.
    await Promise.all([routeAll(test), sendDuePayments(test)]);
    const [shipping, goods] = [await moves(test, partner, id), await moves(test, partner, other.id)];
    const isShippingFirst = shipping[1] === "shipping 1 succeeded";
    expect(goods[0]).toBe(isShippingFirst ? "goods 1 failed" : "goods 1 succeeded");
    expect(await balanceOf(test, partner)).toBe(isShippingFirst ? -1_500n : -2_000n);
  });

  it.each(["account_entries", "merchant_accounts", "ledger_entries"])(
    "is booked once if the transaction fails at %s",
    async (table) => {
      const { test, partner, id } = await arrange();
      await test.db.runScript(`
        create function reject() returns trigger language plpgsql as $$ begin raise exception 'down'; end $$;
        create trigger reject before insert or update on ${table} for each row execute function reject();`);
      await expect(routeAll(test)).rejects.toThrow();
      expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
      await test.db.runScript(`drop trigger reject on ${table}`);
      await routeAll(test);
      expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded", "shipping 1 succeeded"]);
      expect(await balanceOf(test, partner)).toBe(-1_500n);
    },
  );
});
