import { describe, expect, it } from "vitest";
import { placeOrder } from "../support/builders.ts";
import { readOrder } from "../support/orders.ts";
import {
  balanceOf,
  ledgerOf,
  moves,
  payIn,
  processDuePayments,
  setCreditLimit,
} from "../support/payments.ts";
import { chargeTo, intentsOf, methodPath, processStripe, startWorld } from "../support/stripe-world.ts";

describe("a charge through Stripe", () => {
  it("uses the customer's payment method, off session, with the entry's id as its key and in its metadata", async () => {
    const { test, partner, stripe } = await startWorld();
    const { id } = await placeOrder(partner);
    expect(await processDuePayments(test)).toBe(0);
    expect(await processStripe(test)).toBe(1);
    const [entry] = await ledgerOf(test, partner, id);
    expect(entry).toMatchObject({ status: "succeeded", gateway: "stripe" });
    expect(intentsOf(stripe)).toMatchObject([
      {
        amount: 1_000,
        currency: "eur",
        customer: "cus_merchant",
        payment_method: "pm_ok",
        metadata: { order: id, merchant: partner.merchantId, ledger_entry: id.replace("ord_", "chg_") },
      },
    ]);
    expect(await balanceOf(test, partner)).toBe(0n);
    expect(await processStripe(test)).toBe(0);
    expect(stripe.requests).toEqual(["POST /v1/payment_intents"]);
  });

  it.each([
    ["pm_declined", "insufficient_funds"],
    ["pm_auth", "authentication_required"],
    ["pm_action", "requires_action"],
    ["pm_gone", "resource_missing"],
  ])(
    "to %s is declined for good: the order is held, and the intent cannot be paid later",
    async (method, reason) => {
      const { test, partner, stripe } = await startWorld(method);
      const { id } = await placeOrder(partner);
      await processStripe(test);
      expect((await ledgerOf(test, partner, id))[0]).toMatchObject({
        status: "failed",
        failureReason: reason,
      });
      expect((await readOrder(partner, id)).onHoldReasons).toEqual(["payment_failed"]);
      expect(intentsOf(stripe).every(({ status }) => status === "canceled")).toBe(true);
      await chargeTo(test, partner, "pm_ok");
      test.clock.advance({ hours: 1 });
      await processStripe(test);
      expect(await moves(test, partner, id)).toEqual(["goods 1 failed", "goods 2 succeeded"]);
      expect((await readOrder(partner, id)).onHold).toBe(false);
      expect(intentsOf(stripe).filter(({ status }) => status === "succeeded")).toHaveLength(1);
    },
  );

  it.each(["hangUpBefore", "hangUpAfter", "rateLimit", "badKey"] as const)(
    "whose response is %s is sent again under its key, and is made once",
    async (trouble) => {
      const { test, partner, stripe } = await startWorld();
      const { id } = await placeOrder(partner);
      stripe.troubles.push(trouble, trouble);
      await processStripe(test);
      expect(await moves(test, partner, id)).toEqual(["goods 1 pending"]);
      expect((await readOrder(partner, id)).onHold).toBe(false);
      expect(await processStripe(test)).toBe(0); // Not at once.
      test.clock.advance({ seconds: 5 });
      await processStripe(test);
      test.clock.advance({ seconds: 10 });
      await processStripe(test);
      expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
      expect(stripe.intents.size).toBe(1);
    },
  );

  it("that Stripe made before it failed is found, although its key only repeats the failure", async () => {
    const { test, partner, stripe } = await startWorld();
    stripe.pageSize = 1;
    const { id } = await placeOrder(partner);
    stripe.troubles.push("error500AndDone");
    await processStripe(test);
    const other = await placeOrder(partner); // A newer intent of the same customer, listed before it.
    await processStripe(test);
    test.clock.advance({ seconds: 5 });
    await processStripe(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
    expect(await moves(test, partner, other.id)).toEqual(["goods 1 succeeded"]);
    expect(stripe.intents.size).toBe(2);
  });

  it("that Stripe failed to make waits until the key is deleted, and is then made", async () => {
    const { test, partner, stripe } = await startWorld();
    const { id } = await placeOrder(partner);
    stripe.troubles.push("error500");
    await processStripe(test);
    for (let hours = 0; hours < 23; hours += 1) {
      test.clock.advance({ hours: 1 });
      await processStripe(test);
    }
    expect(await moves(test, partner, id)).toEqual(["goods 1 pending"]);
    expect(stripe.intents.size).toBe(0);
    test.clock.advance({ hours: 2 });
    await processStripe(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
    expect(stripe.intents.size).toBe(1);
  });

  it("whose response was lost is not made twice after Stripe has deleted the key", async () => {
    const { test, partner, stripe } = await startWorld();
    const { id } = await placeOrder(partner);
    stripe.troubles.push("hangUpAfter");
    await processStripe(test);
    test.clock.advance({ hours: 48 });
    await processStripe(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
    expect(stripe.intents.size).toBe(1);
  });

  it("keeps its first gateway and method, whatever the merchant uses later", async () => {
    const { test, partner, stripe } = await startWorld();
    const { id } = await placeOrder(partner);
    stripe.troubles.push("hangUpAfter");
    await processStripe(test);
    await test.backOffice.request("DELETE", methodPath(partner));
    test.clock.advance({ seconds: 5 });
    expect(await processDuePayments(test)).toBe(0);
    await processStripe(test);
    expect((await ledgerOf(test, partner, id))[0]).toMatchObject({ status: "succeeded", gateway: "stripe" });
    const next = await placeOrder(partner);
    expect(await processStripe(test)).toBe(0);
    expect(await processDuePayments(test)).toBe(1);
    expect((await ledgerOf(test, partner, next.id))[0]).toMatchObject({ gateway: "account" });
    expect(stripe.intents.size).toBe(1);
  });

  it("that was started on the account is not repeated at Stripe", async () => {
    const { test, partner, stripe } = await startWorld();
    await test.backOffice.request("DELETE", methodPath(partner));
    await setCreditLimit(test, partner, 0n);
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    await chargeTo(test, partner, "pm_ok");
    await payIn(test, partner, "10.00"); // Makes the next attempt due, which goes to Stripe now.
    expect(await processDuePayments(test)).toBe(0);
    await processStripe(test);
    expect((await ledgerOf(test, partner, id)).map(({ gateway }) => gateway)).toEqual(["account", "stripe"]);
    expect(stripe.intents.size).toBe(1);
  });
});
