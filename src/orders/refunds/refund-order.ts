import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import type { Refund, RefundRequest } from "../../ledger/refunds/refund.ts";
import { requestRefund } from "../../ledger/refunds/request-refund.ts";
import type { RecordContext } from "../../lifecycle/applied-transition.ts";
import { asOf } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderKey } from "../../lifecycle/order.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { formatMoney } from "../../platform/money.ts";
import { isProblem, notFound, type Problem, validationFailed } from "../../platform/wire/problems.ts";
import { transitionRefused } from "../changes/transition-refused.ts";
import { lockOrderById } from "../orders-sql.ts";
import { markNotErased } from "../personal-data/personal-data-sql.ts";
import { insertTimelineEntries } from "../timeline/timeline-sql.ts";

const OPERATION = "refund";

export type Refunded = {
  readonly refund: Refund;
  /** An earlier request with the same reference made it. */
  readonly replayed: boolean;
};

/**
 * Refunds an order by request, in full or in part, in any status (decision 0089). Returns 409 `nothing_to_refund` or
 * `too_many_refunds`, or 422 for a larger amount than is left and for a reference that was used for another refund. A
 * retry is safe: it refunds nothing.
 */
export async function refundOrder(
  context: Context,
  key: OrderKey,
  request: RefundRequest,
  by: Initiator,
): Promise<(Refunded & { readonly order: Order }) | Problem> {
  return inTransaction(context, async (tx) => {
    const stored = await lockOrderById(tx, key, context.clock);
    if (stored === undefined || stored.testMode) return notFound("order");
    const at = { newId: context.newId, now: context.clock.now() };
    const order = asOf(stored, at.now);
    const refunded = await refundLockedOrder(tx, context, order, request, by, at);
    return isProblem(refunded) ? refunded : { ...refunded, order };
  });
}

/**
 * The same in a transaction that has locked the order and read it under the lock, for operations that refund as well as
 * do something else. The caller rolls back if it gets a problem, or changes nothing. The order is real.
 */
export async function refundLockedOrder(
  tx: Queryable,
  context: Pick<Context, "clock" | "newId">,
  order: Order,
  request: RefundRequest,
  by: Initiator,
  at: RecordContext,
): Promise<Refunded | Problem> {
  const requested = await requestRefund(tx, order, request, by, at);
  switch (requested.outcome) {
    case "nothing-left":
      return transitionRefused(OPERATION, order, "nothing_to_refund");
    case "too-many":
      return transitionRefused(OPERATION, order, "too_many_refunds");
    case "reference-taken":
      return validationFailed([
        { pointer: "/reference", detail: "was already used for a different refund of the order" },
      ]);
    case "more-than-left": {
      const { amount, currency } = formatMoney({ minor: requested.leftMinor, currency: requested.currency });
      const detail = `must be at most ${amount} ${currency}, which is what can still be refunded`;
      return validationFailed([{ pointer: "/amount", detail }]);
    }
    case "requested":
      if (!requested.replayed) await recordRefund(tx, context, order, requested.refund, by, at);
      return requested;
  }
}

async function recordRefund(
  tx: Queryable,
  context: Pick<Context, "clock" | "newId">,
  order: Order,
  { id: refundId, amountMinor, reason, reference, note }: Refund,
  by: Initiator,
  at: RecordContext,
): Promise<void> {
  const cause = {
    actor: by.actor,
    operation: OPERATION,
    requestId: by.requestId,
    detail: note === null ? reason : `${reason}: ${note}`,
  };
  await insertTimelineEntries(tx, [{ order, cause, shipmentId: null }], at);
  if (note !== null) await markNotErased(tx, order);
  const { merchantId, connectionId, id } = order;
  const details = { refundId, amountMinor, reason, reference }; // The note may name the buyer.
  await recordAudit(tx, context, by, { merchantId, connectionId, subject: "ord", ids: [id], details });
}
