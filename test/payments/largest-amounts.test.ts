import { expect, it } from "vitest";
import { createPartner, createProduct, exposeProduct, placeOrder } from "../support/builders.ts";
import { readOrder, transitionOrder } from "../support/orders.ts";
import { balanceOf, ledgerOf, processDuePayments } from "../support/payments.ts";
import { startServiceForTest } from "../support/test-service.ts";

/** A partner, and the lines of the largest order that there can be. */
async function startWithLargestOrder() {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const dear = await createProduct(test, partner.merchantId, {
    price: { amount: "1000000000.00", currency: "EUR" },
  });
  await exposeProduct(test, partner.connectionId, dear);
  const lines = Array.from({ length: 100 }, () => ({ productId: dear, quantity: 100_000 }));
  return { test, partner, lines };
}

it("a charge is declined, and does not stay pending, when the merchant would owe more than can be stored", async () => {
  const { test, partner, lines } = await startWithLargestOrder();
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    const { id } = await placeOrder(partner, { lines });
    await transitionOrder(test, partner, id, { name: "approve" });
    await processDuePayments(test);
    ids.push(id);
  }
  const statuses = await Promise.all(ids.map((id) => ledgerOf(test, partner, id)));
  expect(statuses.map(([charge]) => charge?.status)).toEqual([
    ...Array.from({ length: 4 }, () => "succeeded"),
    "failed",
  ]);
  expect(await balanceOf(test, partner)).toBe(-4n * 10n ** 18n);
  expect((await readOrder(partner, ids[4] ?? "")).onHoldReasons).toEqual(["payment_failed"]);
});

it("a statement can have sums that are larger than any balance", async () => {
  const { test, partner, lines } = await startWithLargestOrder();
  const from = encodeURIComponent(test.clock.now().toISOString());
  for (let count = 0; count < 10; count += 1) {
    const { id } = await placeOrder(partner, { lines });
    await transitionOrder(test, partner, id, { name: "approve" });
    await processDuePayments(test);
    await transitionOrder(test, partner, id, { name: "cancel" });
    test.clock.advance({ minutes: 1 });
    await processDuePayments(test);
  }
  expect(await balanceOf(test, partner)).toBe(0n);
  test.clock.advance({ minutes: 1 });
  const { status, body } = await test.backOffice.get(
    `/api/merchants/${partner.merchantId}/statement?from=${from}`,
  );
  expect(status, JSON.stringify(body)).toBe(200);
  expect([body.charges, body.refunds].map(({ amount }) => amount)).toEqual([
    "-100000000000000000.00",
    "100000000000000000.00",
  ]);
});
