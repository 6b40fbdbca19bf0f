import { describe, expect, it } from "vitest";
import { placeOrder } from "../support/builders.ts";
import { cancelOrder } from "../support/orders.ts";
import { ledgerOf, moves, readDuePayments } from "../support/payments.ts";
import {
  intentsOf,
  post,
  postContent,
  postEvent,
  processStripe,
  startWorld,
} from "../support/stripe-world.ts";
import { startServiceForTest } from "../support/test-service.ts";

describe("a charge that Stripe is still processing", () => {
  it("is checked when a webhook names it, and not before; the webhook's own content is not trusted", async () => {
    const world = await startWorld("pm_processing");
    const { test, partner, stripe } = world;
    const { id } = await placeOrder(partner);
    await processStripe(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 pending"]);
    const [intent] = intentsOf(stripe);
    if (intent === undefined) throw new Error("No intent was made.");
    expect(await processStripe(test)).toBe(0);
    const lie = { ...intent, status: "succeeded" };
    expect((await postEvent(world, "payment_intent.succeeded", lie)).status).toBe(200);
    expect(await processStripe(test)).toBe(1);
    expect(await moves(test, partner, id)).toEqual(["goods 1 pending"]);
    intent.status = "succeeded";
    await postEvent(world, "payment_intent.succeeded", intent);
    await processStripe(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
    expect((await postEvent(world, "payment_intent.succeeded", intent)).status).toBe(200);
    expect(stripe.intents.size).toBe(1);
  });

  it("is checked after an hour without any webhook, and may still be declined", async () => {
    const { test, partner, stripe } = await startWorld("pm_processing");
    const { id } = await placeOrder(partner);
    await processStripe(test);
    for (const intent of intentsOf(stripe)) {
      intent.status = "requires_payment_method";
      intent.last_payment_error = { code: "payment_method_provider_decline" };
    }
    test.clock.advance({ hours: 1 });
    await processStripe(test);
    expect((await ledgerOf(test, partner, id))[0]).toMatchObject({
      status: "failed",
      failureReason: "payment_method_provider_decline",
    });
    expect(intentsOf(stripe)[0]?.status).toBe("canceled");
  });

  it("of a canceled order is refunded once it has succeeded", async () => {
    const { test, partner, stripe } = await startWorld("pm_processing");
    const { id } = await placeOrder(partner);
    await processStripe(test);
    await cancelOrder(partner, id);
    expect(await moves(test, partner, id)).toEqual(["goods 1 pending"]);
    for (const intent of intentsOf(stripe)) intent.status = "succeeded";
    test.clock.advance({ hours: 1 });
    await processStripe(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded", "refund 1 succeeded"]);
    expect([...stripe.refunds.values()]).toMatchObject([{ amount: 1_000 }]);
  });
});

describe("POST /stripe/webhook", () => {
  const rejected = { code: "malformed-request" };

  it("rejects requests without a valid signature, and changes nothing", async () => {
    const world = await startWorld("pm_processing");
    const { test, partner, stripe } = world;
    await placeOrder(partner);
    await processStripe(test);
    const before = await readDuePayments(test);
    const [intent] = intentsOf(stripe);
    const object = intent ?? {};
    const answers = [
      await postEvent(world, "payment_intent.succeeded", object, { secret: "whsec_of_another_account" }),
      await postEvent(world, "payment_intent.succeeded", object, { ageSeconds: 3_600 }),
      await postEvent(world, "payment_intent.succeeded", object, { spoil: (body) => `${body} ` }),
      await post(test, "{}"),
      await post(test),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(400);
      expect(body.type).toMatch(new RegExp(`/${rejected.code}$`));
    }
    expect(await readDuePayments(test)).toEqual(before);
    expect(await processStripe(test)).toBe(0);
  });

  it("accepts events about other objects of the same Stripe account, and does nothing", async () => {
    const world = await startWorld();
    for (const object of [{}, { metadata: null }, { metadata: { ledger_entry: "x", order: 1 } }])
      expect((await postEvent(world, "invoice.paid", object)).status).toBe(200);
  });

  it.each([
    ["no data, as a thin event", {}],
    ["null as its data", { data: null }],
    ["data without an object", { data: {} }],
    ["null as its object", { data: { object: null } }],
    ["text as its object", { data: { object: "pi_1" } }],
  ])("accepts an event with %s, so that Stripe does not send it for days", async (_name, content) => {
    const world = await startWorld();
    const event = {
      id: "evt_1",
      object: "event",
      type: "v1.billing.meter.error_report_triggered",
      ...content,
    };
    expect((await postContent(world, event)).status).toBe(200);
  });

  it("is no route without a configured secret", async () => {
    const test = await startServiceForTest();
    expect((await test.backOfficeAs().request("POST", "/stripe/webhook", { rawBody: "{}" })).status).toBe(
      404,
    );
  });

  it("that arrives while the charge is being sent makes it due for a check at once", async () => {
    const world = await startWorld("pm_processing");
    const { test, partner, stripe } = world;
    const { id } = await placeOrder(partner);
    stripe.beforeAnswer = async () => {
      for (const intent of intentsOf(stripe)) {
        await postEvent(world, "payment_intent.succeeded", intent);
        intent.status = "succeeded";
      }
    };
    expect(await processStripe(test)).toBe(2);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
  });
});
