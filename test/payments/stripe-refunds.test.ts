import { describe, expect, it } from "vitest";
import { placeOrder } from "../support/builders.ts";
import { cancelOrder } from "../support/orders.ts";
import { balanceOf, moves, processDuePayments } from "../support/payments.ts";
import {
  expectRejected,
  operationApplied,
  placeAcceptedOrder,
  requestOperation,
} from "../support/real-orders.ts";
import { intentsOf, methodPath, processStripe, startWorld, type World } from "../support/stripe-world.ts";

describe("a refund through Stripe", () => {
  async function chargedAndCanceled(world: World): Promise<string> {
    const { id } = await placeOrder(world.partner);
    await processStripe(world.test);
    await cancelOrder(world.partner, id);
    return id;
  }

  it("goes back to Stripe once, even if the merchant now uses the account", async () => {
    const world = await startWorld();
    const { test, partner, stripe } = world;
    const id = await chargedAndCanceled(world);
    await test.backOffice.request("DELETE", methodPath(partner));
    stripe.troubles.push("hangUpAfter");
    await processDuePayments(test);
    await processStripe(test);
    test.clock.advance({ hours: 30 });
    await processStripe(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded", "refund 1 succeeded"]);
    expect([...stripe.refunds.values()]).toMatchObject([
      { amount: 1_000, payment_intent: intentsOf(stripe)[0]?.id },
    ]);
    expect(await balanceOf(test, partner)).toBe(0n);
  });

  it("can be partial, by request, and a cancel then returns the rest", async () => {
    const world = await startWorld();
    const { test, partner, stripe } = world;
    const { id } = await placeOrder(partner);
    await processStripe(test);
    const body = { amount: { amount: "2.50", currency: "EUR" }, reason: "late", reference: "ticket-1" };
    expect((await test.backOffice.post(`/api/orders/${id}/refund`, body)).status).toBe(201);
    stripe.troubles.push("hangUpAfter");
    await processStripe(test);
    await cancelOrder(partner, id);
    test.clock.advance({ hours: 1 });
    await processStripe(test);
    expect([...stripe.refunds.values()].map(({ amount }) => amount).sort()).toEqual([250, 750]);
    expect(await moves(test, partner, id)).toEqual([
      "goods 1 succeeded",
      "refund 1 succeeded",
      "refund 1 succeeded",
    ]);
  });

  it("of canceled lines is made once though its response is lost, and a cancel returns the rest", async () => {
    const world = await startWorld();
    const { test, partner, stripe } = world;
    const placed = await placeAcceptedOrder(test, partner, {
      lines: [{ productId: partner.productIds[0], quantity: 3 }],
    });
    const cancelTwo = () =>
      requestOperation(test, placed.id, "cancel-lines", {
        ...{ lines: [{ lineId: placed.lines[0].id, quantity: 2 }], reason: "damaged", reference: "two" },
      });
    expectRejected(await cancelTwo(), "goods_unpaid", "cancelLines");
    await processStripe(test);
    expect((await cancelTwo()).status).toBe(200);
    stripe.troubles.push("hangUpAfter");
    await processStripe(test);
    expect((await cancelTwo()).status).toBe(200);
    test.clock.advance({ hours: 1 });
    await processStripe(test);
    await operationApplied(test, placed.id, "cancel");
    await processStripe(test);
    expect([...stripe.refunds.values()].map(({ amount }) => amount)).toEqual([2_000, 1_000]);
  });

  it("that Stripe made before it failed is found", async () => {
    const world = await startWorld();
    const id = await chargedAndCanceled(world);
    world.stripe.troubles.push("error500AndDone");
    await processStripe(world.test);
    world.test.clock.advance({ seconds: 5 });
    await processStripe(world.test);
    expect((await moves(world.test, world.partner, id)).at(-1)).toBe("refund 1 succeeded");
    expect(world.stripe.refunds.size).toBe(1);
  });

  it("that is pending is checked again, and one that fails is attempted again as a new one", async () => {
    const world = await startWorld();
    const { test, partner, stripe } = world;
    stripe.refundStatus = "pending";
    const id = await chargedAndCanceled(world);
    await processStripe(test);
    expect((await moves(test, partner, id)).at(-1)).toBe("refund 1 pending");
    for (const refund of stripe.refunds.values()) refund.status = "failed";
    stripe.refundStatus = "succeeded";
    test.clock.advance({ hours: 1 });
    await processStripe(test);
    test.clock.advance({ hours: 1 });
    await processStripe(test);
    expect((await moves(test, partner, id)).slice(1)).toEqual(["refund 1 failed", "refund 2 succeeded"]);
  });

  it("that was already made in Stripe's dashboard is not made again", async () => {
    const world = await startWorld();
    const { test, partner, stripe } = world;
    const id = await chargedAndCanceled(world);
    const [intent] = intentsOf(stripe);
    const byHand = { amount: 1_000, payment_intent: intent?.id ?? "", metadata: {} };
    stripe.refunds.set("re_hand", { id: "re_hand", object: "refund", status: "succeeded", ...byHand });
    await processStripe(test);
    expect((await moves(test, partner, id)).at(-1)).toBe("refund 1 succeeded");
    expect(stripe.refunds.size).toBe(1);
  });
});
