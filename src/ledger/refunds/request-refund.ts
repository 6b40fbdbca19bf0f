import type { RecordContext, TransitionCause } from "../../lifecycle/applied-transition.ts";
import type { OrderKey } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { ofGoods, refundableGoodsMinor, refundableMinor, refundsFor } from "../ledger.ts";
import { insertEntries, readLedger } from "../ledger-sql.ts";
import { isRepeated, REFUNDS_MAX, type Refund, type RefundOutcome, type RefundRequest } from "./refund.ts";
import { insertRefund, readRefunds } from "./refunds-sql.ts";

/**
 * Refunds an order by request (decision 0089): adds entries to its ledger, which a worker then sends to the gateways that
 * charged it. Runs in a transaction that has locked the order. A cancel, another refund and the record of a charge take
 * the same lock, so each sees what the others have decided, and no more is refunded than was charged.
 */
export async function requestRefund(
  tx: Queryable,
  order: OrderKey,
  request: RefundRequest,
  { actor, requestId = null }: Pick<TransitionCause, "actor" | "requestId">,
  { newId, now }: RecordContext,
): Promise<RefundOutcome> {
  const earlier = await readRefunds(tx, order);
  const sameReference = earlier.find(({ reference }) => reference === request.reference);
  if (sameReference !== undefined)
    return isRepeated(sameReference, request)
      ? { outcome: "requested", refund: sameReference, replayed: true }
      : { outcome: "reference-taken" };
  const all = await readLedger(tx, order, order.id);
  const ledger = request.onlyGoods === true ? ofGoods(all) : all;
  const leftMinor = refundableMinor(ledger);
  const [first] = ledger;
  if (first === undefined || leftMinor === 0n) return { outcome: "nothing-left" };
  const amountMinor = request.amountMinor ?? leftMinor;
  if (amountMinor > leftMinor) return { outcome: "more-than-left", leftMinor, currency: first.currency };
  if (request.amountMinor !== null && earlier.length >= REFUNDS_MAX) return { outcome: "too-many" };
  const { reason, note, reference } = request;
  const refund: Refund = {
    id: newId(),
    amountMinor,
    allLeft: request.amountMinor === null,
    reason,
    note,
    reference,
    actor,
    createdAt: now,
  };
  await insertRefund(tx, order, refund);
  const entries = refundsFor(ledger, refund, now).map((entry) => ({
    ...entry,
    order,
    id: newId(),
    requestId,
  }));
  await insertEntries(tx, entries, now);
  return { outcome: "requested", refund, replayed: false };
}

/** How much of an order's goods can still be refunded, as `refundableGoodsMinor` says. The caller has locked the order. */
export const readRefundableGoods = async (tx: Queryable, order: OrderKey): Promise<bigint | null> =>
  refundableGoodsMinor(await readLedger(tx, order, order.id));
