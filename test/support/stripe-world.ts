import Stripe from "stripe";
import { expect, onTestFinished } from "vitest";
import { createBackOffice } from "../../src/back-office/app.ts";
import { operatorAuthentication } from "../../src/back-office/authentication.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { createPartner, type Partner } from "./builders.ts";
import { runJob } from "./jobs.ts";
import { type Intent, type StripeServer, startStripeServer } from "./stripe-server.ts";
import { createTestClock } from "./test-clock.ts";
import { OPERATOR_TOKEN, startServiceForTest, type TestService } from "./test-service.ts";

const WEBHOOK_SECRET = "whsec_of_the_tests";

export type World = { test: TestService; partner: Partner; stripe: StripeServer };
type Posted = { status: number; body: { type?: string } };

/** A merchant that is charged through Stripe with this payment method. */
export async function startWorld(paymentMethodId = "pm_ok"): Promise<World> {
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

export const methodPath = ({ merchantId }: Partner) => `/api/merchants/${merchantId}/stripe`;

export async function chargeTo(test: TestService, partner: Partner, paymentMethodId: string): Promise<void> {
  const body = { customerId: "cus_merchant", paymentMethodId };
  const answer = await test.backOffice.request("PUT", methodPath(partner), { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

export const processStripe = (test: TestService) => runJob(test, "process-stripe-payments");
export const intentsOf = ({ intents }: StripeServer): Intent[] => [...intents.values()];

/** Posts to the webhook, which is no row of the table of routes and not in the description of the API. */
export async function post(
  { context }: TestService,
  payload?: string,
  headers: Record<string, string> = {},
): Promise<Posted> {
  const app = createBackOffice(context, operatorAuthentication(OPERATOR_TOKEN), createMetrics());
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
export async function postEvent(
  world: Pick<World, "test">,
  type: string,
  object: object,
  options: Parameters<typeof postContent>[2] = {},
): Promise<Posted> {
  return postContent(world, { id: "evt_1", object: "event", type, data: { object } }, options);
}

/** Signs and posts what need not be an event as Stripe's types have it. */
export async function postContent(
  { test }: Pick<World, "test">,
  content: object,
  { secret = WEBHOOK_SECRET, ageSeconds = 0, spoil = (body: string) => body } = {},
): Promise<Posted> {
  const payload = JSON.stringify(content);
  const timestamp = Math.floor(test.clock.now().getTime() / 1_000) - ageSeconds;
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  return post(test, spoil(payload), { "stripe-signature": signature });
}
