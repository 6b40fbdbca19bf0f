import { describe, expect, it } from "vitest";
import { createPartner, placeOrder } from "../support/builders.ts";
import { cancelOrder, readOrder, transitionOrder } from "../support/orders.ts";
import {
  balanceOf,
  ledgerOf,
  moves,
  processDuePayments,
  processPaymentsWith,
  readDuePayments,
  retry,
  scriptedGateway,
} from "../support/payments.ts";
import { startServiceForTest } from "../support/test-service.ts";

describe("a canceled order", () => {
  it("whose charge was never claimed is never charged", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const { id } = await placeOrder(partner);
    await cancelOrder(partner, id);
    expect(await moves(test, partner, id)).toEqual(["goods 1 canceled"]);
    expect(await processDuePayments(test)).toBe(0);
    expect(await balanceOf(test, partner)).toBe(0n);
  });

  it("that was charged is refunded once, completely, and at the same gateway", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    await Promise.all([cancelOrder(partner, id), cancelOrder(partner, id)]);
    await cancelOrder(partner, id);
    const [charge, refund] = await ledgerOf(test, partner, id);
    expect(refund).toMatchObject({
      kind: "refund",
      refundOf: charge?.id,
      amountMinor: 1_000n,
      status: "pending",
    });
    expect(await processDuePayments(test)).toBe(1);
    expect(await processDuePayments(test)).toBe(0);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded", "refund 1 succeeded"]);
    expect(await balanceOf(test, partner)).toBe(0n);
  });

  it("is never charged when its review is rejected", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
    const { id } = await placeOrder(partner, { lines: [{ productId: partner.productIds[0], quantity: 2 }] });
    await processDuePayments(test);
    await transitionOrder(test, partner, id, { name: "reject" });
    expect(await processDuePayments(test)).toBe(0);
    expect(await balanceOf(test, partner)).toBe(0n);
    expect(await moves(test, partner, id)).toEqual([]);
  });

  it("is refunded if it was canceled while the gateway processed its charge", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const { id } = await placeOrder(partner);
    const gateway = scriptedGateway(test, {
      beforeMove: async ({ kind }) => {
        if (kind === "goods") expect((await cancelOrder(partner, id)).status).toBe(200);
      },
    });
    await processPaymentsWith(test, gateway);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded", "refund 1 succeeded"]);
    expect([...gateway.moved.values()]).toEqual([1_000n, -1_000n]);
  });

  it("is neither held nor charged again when the gateway declines after the cancel", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const { id } = await placeOrder(partner);
    const gateway = scriptedGateway(test, {
      decide: () => "declined",
      beforeMove: async () => {
        await cancelOrder(partner, id);
      },
    });
    await processPaymentsWith(test, gateway);
    expect(await moves(test, partner, id)).toEqual(["goods 1 failed"]);
    expect(await readOrder(partner, id)).toMatchObject({ status: "CANCELED", onHold: false });
    expect(await readDuePayments(test)).toEqual([]);
  });

  it("has a declined refund attempted again by the schedule, then by request, and is never held for it", async () => {
    const test = await startServiceForTest({ config: { paymentRetryMs: [60_000] } });
    const partner = await createPartner(test);
    const { id } = await placeOrder(partner);
    const gateway = scriptedGateway(test, {
      decide: ({ kind }) => (kind === "refund" ? "declined" : "succeeded"),
    });
    await processPaymentsWith(test, gateway);
    await cancelOrder(partner, id);
    await processPaymentsWith(test, gateway);
    test.clock.advance({ minutes: 1 });
    await processPaymentsWith(test, gateway);
    expect(await moves(test, partner, id)).toEqual([
      "goods 1 succeeded",
      "refund 1 failed",
      "refund 2 failed",
    ]);
    expect(await readDuePayments(test)).toEqual([]);
    gateway.decide = () => "succeeded";
    await retry(test, partner, id);
    await processPaymentsWith(test, gateway);
    expect((await moves(test, partner, id)).at(-1)).toBe("refund 3 succeeded");
    expect((await readOrder(partner, id)).onHold).toBe(false);
    expect([...gateway.moved.values()]).toEqual([1_000n, -1_000n]);
  });
});
