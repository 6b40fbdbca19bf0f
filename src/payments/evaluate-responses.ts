import type { ClaimedPayment } from "../ledger/claim-payments-sql.ts";
import type { PaymentOutcome, Postponement } from "../ledger/due-payments-sql.ts";
import { after, MINUTE_MS, SECOND_MS } from "../platform/time.ts";
import type { GatewayResponse } from "./gateway.ts";

/** A payment and its gateway's response. Null if the outcome is unknown. */
export type RespondedPayment = {
  readonly payment: ClaimedPayment;
  readonly response: GatewayResponse | null;
};

export const isDeclined = ({ response }: RespondedPayment): boolean => response?.status === "declined";

/** Separates payments with an outcome from those that must be sent or checked again. */
export function evaluateResponses(
  responded: readonly RespondedPayment[],
  now: Date,
): { outcomes: PaymentOutcome[]; postponements: Postponement[] } {
  const outcomes: PaymentOutcome[] = [];
  const postponements: Postponement[] = [];
  for (const { payment, response } of responded) {
    switch (response?.status) {
      case "succeeded":
        outcomes.push({ payment, outcome: "succeeded", reference: response.reference, reason: null });
        break;
      case "declined":
        outcomes.push({ payment, outcome: "failed", reference: null, reason: response.reason });
        break;
      case "pending":
        postponements.push({ payment, dueAt: response.recheckAt, reference: response.reference });
        break;
      default:
        postponements.push({ payment, dueAt: retryAfterUnknown(payment, now), reference: null });
    }
  }
  return { outcomes, postponements };
}

const UNKNOWN_FIRST_MS = 5 * SECOND_MS;
const UNKNOWN_MAX_MS = 10 * MINUTE_MS;

/** When an entry with an unknown outcome is sent again: soon at first, because most causes are short. */
const retryAfterUnknown = ({ attemptCount }: ClaimedPayment, now: Date): Date =>
  after(now, Math.min(UNKNOWN_MAX_MS, UNKNOWN_FIRST_MS * 2 ** (attemptCount - 1)));
