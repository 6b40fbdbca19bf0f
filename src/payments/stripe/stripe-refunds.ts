import type Stripe from "stripe";
import type { ClaimedPayment } from "../../ledger/claim-payments-sql.ts";
import type { Clock } from "../../platform/clock.ts";
import type { GatewayResponse } from "../gateway.ts";
import { sendAtMostOnce } from "./at-most-once.ts";
import { toStripeAmount } from "./stripe-amount.ts";
import { reasonOf } from "./stripe-errors.ts";
import { nameOf, type PaymentName } from "./stripe-names.ts";
import { responseToRefund } from "./stripe-responses.ts";

const PAGE_SIZE = 100;

/** Refunds a charge, or a part of it. */
export async function refundAtStripe(
  stripe: Stripe,
  clock: Clock,
  payment: ClaimedPayment,
): Promise<GatewayResponse> {
  const { chargeReference, reference } = payment;
  const amount = toStripeAmount(payment.amountMinor, payment.currency);
  if (chargeReference === null) throw new Error("A refund has no charge at Stripe.");
  if (amount === null) return { status: "declined", reason: "amount_not_supported" };
  if (reference !== null) return responseToRefund(await stripe.refunds.retrieve(reference), clock.now());
  return sendAtMostOnce(clock, payment, {
    find: async () => {
      const found = await findRefund(stripe, nameOf(payment), chargeReference);
      return found && responseToRefund(found, clock.now());
    },
    send: async ({ metadata, idempotencyKey }) => {
      const refund = await stripe.refunds.create(
        { payment_intent: chargeReference, amount, metadata },
        { idempotencyKey },
      );
      return responseToRefund(refund, clock.now());
    },
    rejected: async (error) => {
      // The charge was refunded in Stripe's dashboard, so the money has already moved.
      if (error.code === "charge_already_refunded")
        return { status: "succeeded", reference: chargeReference };
      return { status: "declined", reason: reasonOf(error) };
    },
  });
}

async function findRefund(
  stripe: Stripe,
  { ledger_entry }: PaymentName,
  paymentIntent: string,
): Promise<Stripe.Refund | null> {
  for await (const refund of stripe.refunds.list({ payment_intent: paymentIntent, limit: PAGE_SIZE }))
    if (refund.metadata?.["ledger_entry"] === ledger_entry) return refund;
  return null;
}
