import type { FastifyInstance } from "fastify";
import Stripe from "stripe";
import { problemWriter } from "../../http/replies.ts";
import { requestRecheck } from "../../ledger/due-payments-sql.ts";
import { entryNamedBy } from "../../payments/stripe/stripe-gateway.ts";
import type { Context } from "../../platform/context.ts";
import { malformed } from "../../platform/wire/problems.ts";

const BAD_SIGNATURE = malformed("The Stripe-Signature header is missing, invalid or too old.");

/**
 * `POST /stripe/webhook`: Stripe reports that a payment has changed. It needs no key: its signature over the raw body,
 * made with STRIPE_WEBHOOK_SECRET, is verified instead. Nothing else in it is trusted: it only makes the service check
 * the payment earlier. It is not in the table of routes, whose bodies are JSON and whose callers have keys.
 */
export function addStripeWebhook(app: FastifyInstance, context: Context): void {
  const { stripeWebhookSecret, errorsBaseUrl } = context.config;
  if (stripeWebhookSecret === null) return;
  const problems = problemWriter(errorsBaseUrl);
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, async (_request: unknown, body: Buffer) => body);
    scope.post("/stripe/webhook", async (request, reply) => {
      const event = verifiedEvent(
        context,
        stripeWebhookSecret,
        request.body,
        request.headers["stripe-signature"],
      );
      if (event === null) return problems.send(reply, BAD_SIGNATURE);
      await handleEvent(context, event);
      return { received: true };
    });
  });
}

function verifiedEvent(
  { clock }: Context,
  secret: string,
  body: unknown,
  signature: string | string[] | undefined,
): Stripe.Event | null {
  if (!Buffer.isBuffer(body) || typeof signature !== "string") return null;
  try {
    const { webhooks } = Stripe;
    return webhooks.constructEvent(body, signature, secret, undefined, undefined, clock.now().getTime());
  } catch {
    return null;
  }
}

/** The event as it was sent. Stripe's types promise an object in it, but thin events have none. */
type SentEvent = { data?: { object?: { metadata?: Record<string, unknown> | null } | null } | null };

async function handleEvent({ db, clock, log }: Context, event: Stripe.Event): Promise<void> {
  const { id, type } = event;
  const entry = entryNamedBy((event as SentEvent).data?.object?.metadata ?? {});
  if (entry === null) return; // It is about something else in the Stripe account.
  const isUnderWay = await requestRecheck(db, entry, clock.now());
  if (!isUnderWay && type === "refund.failed")
    log.warn(
      { event: { id }, entry: { id: entry.entryId } },
      "refund failed at Stripe after it was recorded as succeeded",
    );
}
