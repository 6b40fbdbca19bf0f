import Stripe from "stripe";
import { describe, expect, it, onTestFinished } from "vitest";
import { createBackOffice } from "../../src/back-office/app.ts";
import { operatorAuthentication } from "../../src/back-office/authentication.ts";
import { createMetrics } from "../../src/metrics.ts";
import { toStripeAmount } from "../../src/payments/stripe/stripe-amount.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { runChore } from "../support/chores.ts";
import { cancelOrder, readOrder } from "../support/orders.ts";
import {
  balanceOf,
  ledgerOf,
  moves,
  payIn,
  readDuePayments,
  setCreditLimit,
  settle,
} from "../support/payments.ts";
import { type Intent, type StripeServer, startStripeServer } from "../support/stripe-server.ts";
import { createTestClock } from "../support/test-clock.ts";
import { OPERATOR_TOKEN, startServiceForTest, type TestService } from "../support/test-service.ts";

const WEBHOOK_SECRET = "whsec_of_the_tests";

type World = { test: TestService; partner: Partner; stripe: StripeServer };
type Posted = { status: number; body: { type?: string } };

/** A merchant that is charged through Stripe with this payment method. */
async function startWorld(paymentMethodId = "pm_ok"): Promise<World> {
  // The server and the service share the clock that the service makes, so it comes to the server by and by.
  let clock = createTestClock();
  const stripe = await startStripeServer({ now: () => clock.now() });
  const test = await startServiceForTest({
    config: {
      stripeSecretKey: "sk_test_of_the_tests",
      stripeWebhookSecret: WEBHOOK_SECRET,
      stripeApiUrl: stripe.url,
    },
  });
  clock = test.clock;
  const partner = await createPartner(test);
  await chargeTo(test, partner, paymentMethodId);
  return { test, partner, stripe };
}

const methodPath = ({ merchantId }: Partner) => `/api/merchants/${merchantId}/stripe`;

async function chargeTo(test: TestService, partner: Partner, paymentMethodId: string): Promise<void> {
  const body = { customerId: "cus_merchant", paymentMethodId };
  const answer = await test.backOffice.request("PUT", methodPath(partner), { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

const settleStripe = (test: TestService) => runChore(test, "settle-stripe-payments");
const intentsOf = ({ intents }: StripeServer): Intent[] => [...intents.values()];

/** Posts to the webhook, which is no row of the table of routes and not in the description of the API. */
async function post(
  { service }: TestService,
  payload?: string,
  headers: Record<string, string> = {},
): Promise<Posted> {
  const app = createBackOffice(service, operatorAuthentication(OPERATOR_TOKEN), createMetrics());
  onTestFinished(() => app.close());
  const answer = await app.inject({
    method: "POST",
    url: "/stripe/webhook",
    headers: { ...headers, ...(payload === undefined ? {} : { "content-type": "application/json" }) },
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: answer.statusCode, body: answer.json() };
}

/** Posts an event as Stripe does; its signature can be spoilt. */
async function postEvent(
  { test }: Pick<World, "test">,
  type: string,
  object: object,
  { secret = WEBHOOK_SECRET, ageSeconds = 0, spoil = (body: string) => body } = {},
): Promise<Posted> {
  const payload = JSON.stringify({ id: "evt_1", object: "event", type, data: { object } });
  const timestamp = Math.floor(test.clock.now().getTime() / 1_000) - ageSeconds;
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  return post(test, spoil(payload), { "stripe-signature": signature });
}

describe("a charge through Stripe", () => {
  it("is made of the customer's method, off session, with the entry's id as its key and name", async () => {
    const { test, partner, stripe } = await startWorld();
    const { id } = await placeOrder(partner);
    expect(await settle(test)).toBe(0);
    expect(await settleStripe(test)).toBe(1);
    const [entry] = await ledgerOf(test, partner, id);
    expect(entry).toMatchObject({ status: "succeeded", gateway: "stripe" });
    expect(intentsOf(stripe)).toMatchObject([
      {
        amount: 1_000,
        currency: "eur",
        customer: "cus_merchant",
        payment_method: "pm_ok",
        metadata: { order: id, connection: partner.connectionId, ledger_entry: id.replace("ord_", "chg_") },
      },
    ]);
    expect(await balanceOf(test, partner)).toBe(0n);
    expect(await settleStripe(test)).toBe(0);
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
      await settleStripe(test);
      expect((await ledgerOf(test, partner, id))[0]).toMatchObject({
        status: "failed",
        failureReason: reason,
      });
      expect((await readOrder(partner, id)).onHoldReasons).toEqual(["payment_failed"]);
      expect(intentsOf(stripe).every(({ status }) => status === "canceled")).toBe(true);
      await chargeTo(test, partner, "pm_ok");
      test.clock.advance({ hours: 1 });
      await settleStripe(test);
      expect(await moves(test, partner, id)).toEqual(["goods 1 failed", "goods 2 succeeded"]);
      expect((await readOrder(partner, id)).onHold).toBe(false);
      expect(intentsOf(stripe).filter(({ status }) => status === "succeeded")).toHaveLength(1);
    },
  );

  it.each(["hangUpBefore", "hangUpAfter", "rateLimit", "badKey"] as const)(
    "whose answer is %s is sent again under its key, and is made once",
    async (trouble) => {
      const { test, partner, stripe } = await startWorld();
      const { id } = await placeOrder(partner);
      stripe.troubles.push(trouble, trouble);
      await settleStripe(test);
      expect(await moves(test, partner, id)).toEqual(["goods 1 pending"]);
      expect((await readOrder(partner, id)).onHold).toBe(false);
      expect(await settleStripe(test)).toBe(0); // Not at once.
      test.clock.advance({ seconds: 5 });
      await settleStripe(test);
      test.clock.advance({ seconds: 10 });
      await settleStripe(test);
      expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
      expect(stripe.intents.size).toBe(1);
    },
  );

  it("that Stripe failed at after doing it is found, although its key only repeats the failure", async () => {
    const { test, partner, stripe } = await startWorld();
    stripe.pageSize = 1;
    const { id } = await placeOrder(partner);
    stripe.troubles.push("error500AndDone");
    await settleStripe(test);
    const other = await placeOrder(partner); // A newer intent of the same customer, listed before it.
    await settleStripe(test);
    test.clock.advance({ seconds: 5 });
    await settleStripe(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
    expect(await moves(test, partner, other.id)).toEqual(["goods 1 succeeded"]);
    expect(stripe.intents.size).toBe(2);
  });

  it("that Stripe failed at without doing it waits until the key is forgotten, and is then made", async () => {
    const { test, partner, stripe } = await startWorld();
    const { id } = await placeOrder(partner);
    stripe.troubles.push("error500");
    await settleStripe(test);
    for (let hours = 0; hours < 23; hours += 1) {
      test.clock.advance({ hours: 1 });
      await settleStripe(test);
    }
    expect(await moves(test, partner, id)).toEqual(["goods 1 pending"]);
    expect(stripe.intents.size).toBe(0);
    test.clock.advance({ hours: 2 });
    await settleStripe(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
    expect(stripe.intents.size).toBe(1);
  });

  it("whose answer was lost is not made twice after Stripe has forgotten the key", async () => {
    const { test, partner, stripe } = await startWorld();
    const { id } = await placeOrder(partner);
    stripe.troubles.push("hangUpAfter");
    await settleStripe(test);
    test.clock.advance({ hours: 48 });
    await settleStripe(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
    expect(stripe.intents.size).toBe(1);
  });

  it("keeps the gateway and the method that it was begun with, whatever the merchant has since", async () => {
    const { test, partner, stripe } = await startWorld();
    const { id } = await placeOrder(partner);
    stripe.troubles.push("hangUpAfter");
    await settleStripe(test);
    await test.backOffice.request("DELETE", methodPath(partner));
    test.clock.advance({ seconds: 5 });
    expect(await settle(test)).toBe(0);
    await settleStripe(test);
    expect((await ledgerOf(test, partner, id))[0]).toMatchObject({ status: "succeeded", gateway: "stripe" });
    const next = await placeOrder(partner);
    expect(await settleStripe(test)).toBe(0);
    expect(await settle(test)).toBe(1);
    expect((await ledgerOf(test, partner, next.id))[0]).toMatchObject({ gateway: "account" });
    expect(stripe.intents.size).toBe(1);
  });

  it("that was begun on the account is not repeated at Stripe", async () => {
    const { test, partner, stripe } = await startWorld();
    await test.backOffice.request("DELETE", methodPath(partner));
    await setCreditLimit(test, partner, 0n);
    const { id } = await placeOrder(partner);
    await settle(test);
    await chargeTo(test, partner, "pm_ok");
    await payIn(test, partner, "10.00"); // Makes the next attempt due, which goes to Stripe now.
    expect(await settle(test)).toBe(0);
    await settleStripe(test);
    expect((await ledgerOf(test, partner, id)).map(({ gateway }) => gateway)).toEqual(["account", "stripe"]);
    expect(stripe.intents.size).toBe(1);
  });
});

describe("a charge that Stripe is still processing", () => {
  it("is looked at when a webhook tells of news, and not before; the webhook's own words are not believed", async () => {
    const world = await startWorld("pm_processing");
    const { test, partner, stripe } = world;
    const { id } = await placeOrder(partner);
    await settleStripe(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 pending"]);
    const [intent] = intentsOf(stripe);
    if (intent === undefined) throw new Error("No intent was made.");
    expect(await settleStripe(test)).toBe(0);
    const lie = { ...intent, status: "succeeded" };
    expect((await postEvent(world, "payment_intent.succeeded", lie)).status).toBe(200);
    expect(await settleStripe(test)).toBe(1);
    expect(await moves(test, partner, id)).toEqual(["goods 1 pending"]);
    intent.status = "succeeded";
    await postEvent(world, "payment_intent.succeeded", intent);
    await settleStripe(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
    expect((await postEvent(world, "payment_intent.succeeded", intent)).status).toBe(200);
    expect(stripe.intents.size).toBe(1);
  });

  it("is looked at after an hour without any webhook, and may still be declined", async () => {
    const { test, partner, stripe } = await startWorld("pm_processing");
    const { id } = await placeOrder(partner);
    await settleStripe(test);
    for (const intent of intentsOf(stripe)) {
      intent.status = "requires_payment_method";
      intent.last_payment_error = { code: "payment_method_provider_decline" };
    }
    test.clock.advance({ hours: 1 });
    await settleStripe(test);
    expect((await ledgerOf(test, partner, id))[0]).toMatchObject({
      status: "failed",
      failureReason: "payment_method_provider_decline",
    });
    expect(intentsOf(stripe)[0]?.status).toBe("canceled");
  });

  it("of a canceled order is refunded once it has succeeded", async () => {
    const { test, partner, stripe } = await startWorld("pm_processing");
    const { id } = await placeOrder(partner);
    await settleStripe(test);
    await cancelOrder(partner, id);
    expect(await moves(test, partner, id)).toEqual(["goods 1 pending"]);
    for (const intent of intentsOf(stripe)) intent.status = "succeeded";
    test.clock.advance({ hours: 1 });
    await settleStripe(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded", "refund 1 succeeded"]);
    expect([...stripe.refunds.values()]).toMatchObject([{ amount: 1_000 }]);
  });
});

describe("a refund through Stripe", () => {
  async function chargedAndCanceled(world: World): Promise<string> {
    const { id } = await placeOrder(world.partner);
    await settleStripe(world.test);
    await cancelOrder(world.partner, id);
    return id;
  }

  it("goes back to Stripe, once, also when the merchant is on the account by now", async () => {
    const world = await startWorld();
    const { test, partner, stripe } = world;
    const id = await chargedAndCanceled(world);
    await test.backOffice.request("DELETE", methodPath(partner));
    stripe.troubles.push("hangUpAfter");
    await settle(test);
    await settleStripe(test);
    test.clock.advance({ hours: 30 });
    await settleStripe(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded", "refund 1 succeeded"]);
    expect([...stripe.refunds.values()]).toMatchObject([
      { amount: 1_000, payment_intent: intentsOf(stripe)[0]?.id },
    ]);
    expect(await balanceOf(test, partner)).toBe(0n);
  });

  it("that Stripe failed at after doing it is found", async () => {
    const world = await startWorld();
    const id = await chargedAndCanceled(world);
    world.stripe.troubles.push("error500AndDone");
    await settleStripe(world.test);
    world.test.clock.advance({ seconds: 5 });
    await settleStripe(world.test);
    expect((await moves(world.test, world.partner, id)).at(-1)).toBe("refund 1 succeeded");
    expect(world.stripe.refunds.size).toBe(1);
  });

  it("that is pending is looked at again, and one that fails is tried again as a new one", async () => {
    const world = await startWorld();
    const { test, partner, stripe } = world;
    stripe.refundStatus = "pending";
    const id = await chargedAndCanceled(world);
    await settleStripe(test);
    expect((await moves(test, partner, id)).at(-1)).toBe("refund 1 pending");
    for (const refund of stripe.refunds.values()) refund.status = "failed";
    stripe.refundStatus = "succeeded";
    test.clock.advance({ hours: 1 });
    await settleStripe(test);
    test.clock.advance({ hours: 1 });
    await settleStripe(test);
    expect((await moves(test, partner, id)).slice(1)).toEqual(["refund 1 failed", "refund 2 succeeded"]);
  });

  it("that somebody has made in Stripe's dashboard already is not made again", async () => {
    const world = await startWorld();
    const { test, partner, stripe } = world;
    const id = await chargedAndCanceled(world);
    const [intent] = intentsOf(stripe);
    const byHand = { amount: 1_000, payment_intent: intent?.id ?? "", metadata: {} };
    stripe.refunds.set("re_hand", { id: "re_hand", object: "refund", status: "succeeded", ...byHand });
    await settleStripe(test);
    expect((await moves(test, partner, id)).at(-1)).toBe("refund 1 succeeded");
    expect(stripe.refunds.size).toBe(1);
  });
});

describe("POST /stripe/webhook", () => {
  const refused = { problem: "malformed-request" };

  it("refuses what has no good signature, and changes nothing by it", async () => {
    const world = await startWorld("pm_processing");
    const { test, partner, stripe } = world;
    await placeOrder(partner);
    await settleStripe(test);
    const before = await readDuePayments(test);
    const [intent] = intentsOf(stripe);
    const object = intent ?? {};
    const answers = [
      await postEvent(world, "payment_intent.succeeded", object, { secret: "whsec_of_somebody" }),
      await postEvent(world, "payment_intent.succeeded", object, { ageSeconds: 3_600 }),
      await postEvent(world, "payment_intent.succeeded", object, { spoil: (body) => `${body} ` }),
      await post(test, "{}"),
      await post(test),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(400);
      expect(body.type).toMatch(new RegExp(`/${refused.problem}$`));
    }
    expect(await readDuePayments(test)).toEqual(before);
    expect(await settleStripe(test)).toBe(0);
  });

  it("takes events about other things of the same Stripe account, and does nothing", async () => {
    const world = await startWorld();
    for (const object of [{}, { metadata: null }, { metadata: { ledger_entry: "x", order: 1 } }])
      expect((await postEvent(world, "invoice.paid", object)).status).toBe(200);
  });

  it("is no route where no secret is configured", async () => {
    const test = await startServiceForTest();
    expect((await test.backOfficeAs().request("POST", "/stripe/webhook", { rawBody: "{}" })).status).toBe(
      404,
    );
  });

  it("that comes while the charge is being sent lets it be looked at again at once", async () => {
    const world = await startWorld("pm_processing");
    const { test, partner, stripe } = world;
    const { id } = await placeOrder(partner);
    stripe.beforeAnswer = async () => {
      for (const intent of intentsOf(stripe)) {
        await postEvent(world, "payment_intent.succeeded", intent);
        intent.status = "succeeded";
      }
    };
    expect(await settleStripe(test)).toBe(2);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
  });
});

describe("PUT /api/merchants/{id}/stripe", () => {
  it("is refused where no key is configured", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const body = { customerId: "cus_1", paymentMethodId: "pm_1" };
    const answer = await test.backOffice.request("PUT", methodPath(partner), { body });
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toEqual([
      { pointer: "/customerId", detail: expect.stringContaining("STRIPE_SECRET_KEY") },
    ]);
    expect((await test.backOffice.get(methodPath(partner))).status).toBe(404);
  });

  it("tells all faults, is safe to repeat, and leaves one method in use however many come at once", async () => {
    const { test, partner } = await startWorld();
    const path = methodPath(partner);
    const bad = await test.backOffice.request("PUT", path, {
      body: { customerId: "4242", paymentMethodId: "" },
    });
    expect(bad.status).toBe(422);
    expect(bad.body.errors).toHaveLength(2);
    const first = await test.backOffice.get(path);
    test.clock.advance({ hours: 1 });
    await chargeTo(test, partner, "pm_ok");
    expect((await test.backOffice.get(path)).body).toEqual(first.body);
    await Promise.all(["pm_a", "pm_b", "pm_c", "pm_d"].map((method) => chargeTo(test, partner, method)));
    const inUse = await test.db.query({
      name: "test-methods-in-use",
      text: "select id from stripe_methods where ended_at is null",
      values: [],
    });
    expect(inUse).toHaveLength(1);
    expect((await test.backOffice.request("DELETE", path)).status).toBe(204);
    expect((await test.backOffice.request("DELETE", path)).status).toBe(204);
    expect((await test.backOffice.get(path)).status).toBe(404);
  });
});

describe("an amount at Stripe", () => {
  it.each([
    [1_250n, "EUR", 1_250],
    [500n, "JPY", 500],
    [500n, "ISK", 50_000],
    [500n, "UGX", 50_000],
    [1_230n, "KWD", 1_230],
    [1_234n, "KWD", null],
    [1_230n, "LYD", 123],
    [1_234n, "LYD", null],
    [2n ** 60n, "EUR", null],
  ])("of %s minor units of %s is %s", (minor, currency, amount) => {
    expect(toStripeAmount(minor, currency)).toBe(amount);
  });
});
