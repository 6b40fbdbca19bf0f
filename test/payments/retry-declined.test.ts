import { describe, expect, it } from "vitest";
import { byService } from "../../src/audit/record-audit.ts";
import { lockMerchant, readMerchant } from "../../src/merchants/merchants-sql.ts";
import { readTimeline } from "../../src/orders/changes/timeline-sql.ts";
import { accountGateway } from "../../src/payments/account/account.ts";
import { lockAccountsShared } from "../../src/payments/account/account-sql.ts";
import { setStripeMethod } from "../../src/payments/stripe/stripe-methods.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { untilBlocked } from "../support/blocked.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { acceptAll, createFacility, routeAll } from "../support/facilities.ts";
import { givenUp } from "../support/given-up.ts";
import { connectionKey, failPayment, readOrder } from "../support/orders.ts";
import {
  balanceOf,
  moves,
  orderUuid,
  payIn,
  processDuePayments,
  processPaymentsWith,
  readDuePayments,
  retry,
  retryDeclined,
  sendDuePayments,
  setCreditLimit,
} from "../support/payments.ts";
import { expectRejected, operationApplied, requestOperation } from "../support/real-orders.ts";
import { shipUnpaid } from "../support/ship-unpaid.ts";
import { dumpTables } from "../support/tables.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";
import { copyEntries } from "../support/timeline.ts";

const areHeld = (partner: Partner, ids: readonly string[]): Promise<boolean[]> =>
  Promise.all(ids.map(async (id) => (await readOrder(partner, id)).onHold));

async function transitionsOf(test: TestService, partner: Partner, orderId: string): Promise<string[]> {
  const timeline = await readTimeline(test.db, connectionKey(partner), orderUuid(orderId));
  return timeline.map(({ operation, actor }) => `${actor.kind} ${operation}`);
}

describe("orders without further attempts", () => {
  it("are charged again when the merchant has paid, oldest first, up to the limit", async () => {
    const { test, partner, ids } = await givenUp(3);
    await payIn(test, partner, "20.00");
    expect(await processDuePayments(test)).toBe(3);
    expect(await areHeld(partner, ids)).toEqual([false, false, true]);
    expect(await balanceOf(test, partner)).toBe(0n);
    const [first, , last] = ids as [string, string, string];
    expect(await moves(test, partner, first)).toEqual(["goods 1 failed", "goods 2 succeeded"]);
    expect(await moves(test, partner, last)).toEqual(["goods 1 failed", "goods 2 failed"]);
    expect(await transitionsOf(test, partner, first)).toEqual([
      "service addHold",
      "service retryPayment",
      "service releaseHold",
    ]);
    expect(await readDuePayments(test)).toEqual([]);
  });

  it("are charged again when the credit limit is raised; those of other merchants are not", async () => {
    const { test, partner, ids } = await givenUp(2);
    const other = await createPartner(test);
    await setCreditLimit(test, other, 0n);
    const { id } = await placeOrder(other);
    await processDuePayments(test);
    const body = { creditLimit: { amount: "20.00", currency: "EUR" } };
    const path = `/api/merchants/${partner.merchantId}`;
    expect((await test.backOffice.request("PATCH", path, { body })).status).toBe(200);
    expect(await processDuePayments(test)).toBe(2);
    expect(await areHeld(partner, ids)).toEqual([false, false]);
    expect(await moves(test, other, id)).toEqual(["goods 1 failed"]);
  });

  it("get only one more attempt, however often it is requested while that is due", async () => {
    const { test, partner, ids } = await givenUp(1);
    await payIn(test, partner, "1.00");
    await retryDeclined(test);
    await payIn(test, partner, "9.00");
    await retryDeclined(test);
    expect(await moves(test, partner, ids[0] ?? "")).toEqual(["goods 1 failed", "goods 2 pending"]);
    expect(await processDuePayments(test)).toBe(1);
    expect(await areHeld(partner, ids)).toEqual([false]);
  });

  it("get no attempt by request, but one by a payment, with a timeline of 2 500 entries", async () => {
    const { test, partner, ids } = await givenUp(1);
    const [id] = ids as [string];
    await copyEntries(test, id, 2_500);
    expectRejected(await requestOperation(test, id, "retry-payment", {}), "too_many_changes", "retryPayment");
    expect(await readDuePayments(test)).toEqual([]);
    await payIn(test, partner, "10.00");
    await retryDeclined(test);
    const before = await dumpTables(test);
    await operationApplied(test, id, "retry-payment"); // The attempt that is due stays the only one.
    expect(await dumpTables(test)).toEqual(before);
    expect(await processDuePayments(test)).toBe(1);
    expect(await areHeld(partner, ids)).toEqual([false]);
  });

  it("are not brought forward by request either, with a timeline of 2 500 entries", async () => {
    const test = await startServiceForTest({ config: { paymentRetryMs: [3_600_000] } });
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 0n);
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    await copyEntries(test, id, 2_500);
    const before = await dumpTables(test);
    expectRejected(await requestOperation(test, id, "retry-payment", {}), "too_many_changes", "retryPayment");
    expect(await dumpTables(test)).toEqual(before);
  });

  it("are not those that owe nothing, or that another transaction has locked", async () => {
    const { test, partner } = await givenUp(0);
    await setCreditLimit(test, partner, null);
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    await failPayment(test, partner, id);
    await payIn(test, partner, "10.00");
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
  });

  it("are charged too beside a charge that is still scheduled", async () => {
    const test = await startServiceForTest({ config: { paymentRetryMs: [3_600_000] } });
    const partner = await createPartner(test);
    await createFacility(test);
    await setCreditLimit(test, partner, 1_000n);
    const { id } = await placeOrder(partner);
    await acceptAll(test);
    await routeAll(test);
    await setCreditLimit(test, partner, 0n);
    await processDuePayments(test);
    test.clock.advance({ hours: 1 });
    await processDuePayments(test); // The goods and the shipping are declined a second time, for the last time.
    expect(await readDuePayments(test)).toEqual([]);
    await payIn(test, partner, "12.00"); // Enough for the goods only.
    await processDuePayments(test);
    await payIn(test, partner, "3.00");
    await processDuePayments(test);
    expect(await areHeld(partner, [id])).toEqual([false]);
    expect(await balanceOf(test, partner)).toBe(0n);
  });

  it("are charged when the merchant has paid also after their order was completed", async () => {
    const test = await startServiceForTest({ config: { paymentRetryMs: [] } });
    const { partner, id } = await shipUnpaid(test);
    await operationApplied(test, id, "complete");
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded", "shipping 1 failed"]);
    await payIn(test, partner, "50.00");
    await processDuePayments(test);
    expect((await moves(test, partner, id)).at(-1)).toBe("shipping 2 succeeded");
    expect(await balanceOf(test, partner)).toBe(5_000n - 1_500n);
  });

  it("do not miss a payment that comes between the last decline and its record", async () => {
    const test = await startServiceForTest({ config: { paymentRetryMs: [] } });
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 0n);
    const { id } = await placeOrder(partner);
    const real = accountGateway(test.context);
    await processPaymentsWith(test, {
      ...real,
      async charge(payment) {
        const answer = await real.charge(payment);
        await payIn(test, partner, "20.00");
        return answer;
      },
    });
    await processDuePayments(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 failed", "goods 2 succeeded"]);
  });

  it("are charged through another gateway once the merchant uses it", async () => {
    const { test, partner, ids } = await givenUp(1);
    const service = { ...test.context, config: { ...test.context.config, stripeSecretKey: "sk_test_1" } };
    const merchant = await readMerchant(test.db, fromTypeId("mer", partner.merchantId) ?? "");
    if (merchant === null) throw new Error("The partner has a merchant.");
    const method = { customerId: "cus_1", paymentMethodId: "pm_1" };
    await setStripeMethod(service, merchant, method, byService("setStripeMethod"));
    await retryDeclined(test);
    expect(await moves(test, partner, ids[0] ?? "")).toEqual(["goods 1 failed", "goods 2 pending"]);
  });

  it("do not wait for an import: it locks the merchant, and payments continue beside it", async () => {
    const { test, partner, ids } = await givenUp(1);
    const merchantId = fromTypeId("mer", partner.merchantId) ?? "";
    await test.db.transaction(async (tx) => {
      await lockMerchant(tx, merchantId); // As an import does, for as long as it takes.
      await payIn(test, partner, "4.00");
      await processDuePayments(test);
      await payIn(test, partner, "6.00");
      await processDuePayments(test);
    });
    expect(await areHeld(partner, ids)).toEqual([false]);
  });

  it("are charged although another order cannot be stored", async () => {
    const { test, partner, ids } = await givenUp(2);
    await test.db.runScript(`
      create function reject() returns trigger language plpgsql as $$ begin
        if new.order_id = '${orderUuid(ids[0] ?? "")}' then raise exception 'rejected'; end if;
        return new;
      end $$;
      create trigger reject before insert on timeline_entries for each row execute function reject();`);
    await payIn(test, partner, "20.00");
    for (let run = 0; run < 2; run += 1) await expect(retryDeclined(test)).rejects.toThrow();
    await sendDuePayments(test);
    expect(await moves(test, partner, ids[0] ?? "")).toEqual(["goods 1 failed"]);
    expect((await moves(test, partner, ids[1] ?? "")).at(-1)).toBe("goods 2 succeeded");
    await test.db.runScript("drop trigger reject on timeline_entries");
    await processDuePayments(test);
    expect(await areHeld(partner, ids)).toEqual([false, false]);
  });

  it("and a limit that is raised at the same time come one after the other", async () => {
    const { test, partner } = await givenUp(1);
    const merchantId = fromTypeId("mer", partner.merchantId) ?? "";
    const body = { creditLimit: { amount: "20.00", currency: "EUR" } };
    const raise = () => test.backOffice.request("PATCH", `/api/merchants/${partner.merchantId}`, { body });
    let raised: ReturnType<typeof raise> | undefined;
    await test.db.transaction(async (tx) => {
      const before = await lockAccountsShared(tx, [merchantId]); // As a worker that records a decline does.
      raised = raise();
      await untilBlocked(test, 1);
      expect(await lockAccountsShared(tx, [merchantId])).toEqual(before);
    });
    expect((await raised)?.status).toBe(200);
  });
});

it("attempts out of turn leave the schedule as it is, whatever causes them", async () => {
  const test = await startServiceForTest({ config: { paymentRetryMs: [3_600_000] } });
  const partner = await createPartner(test);
  await setCreditLimit(test, partner, 0n);
  const { id } = await placeOrder(partner);
  await processDuePayments(test);
  const planned = new Date(test.clock.now().getTime() + 3_600_000);
  const limit = (amount: string) => ({ body: { creditLimit: { amount, currency: "EUR" } } });
  for (const cause of [
    () => payIn(test, partner, "1.00"),
    () => payIn(test, partner, "1.00"),
    () => retry(test, partner, id),
    () => test.backOffice.request("PATCH", `/api/merchants/${partner.merchantId}`, limit("0.50")),
  ]) {
    test.clock.advance({ seconds: 5 });
    await cause();
    expect(await processDuePayments(test)).toBe(1);
    expect(await readDuePayments(test)).toMatchObject([{ due_at: planned, attempt_count: 0 }]);
  }
  test.clock.advance({ hours: 1 });
  await processDuePayments(test);
  expect((await moves(test, partner, id)).at(-1)).toBe("goods 6 failed");
  expect(await readDuePayments(test)).toEqual([]);
});
