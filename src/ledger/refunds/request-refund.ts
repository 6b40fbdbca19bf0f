import type { RecordContext, TransitionCause } from "../../lifecycle/applied-transition.ts";
import type { OrderKey } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { ofGoods, refundableGoodsMinor, refundableMinor, refundsFor } from "../ledger.ts";
import { insertEntries, readLedger } from "../ledger-sql.ts";
import {
  isRepeated,
  type PossibleRefund,
  REFUNDS_MAX,
  type RefundDecision,
  type RefundRequest,
} from "./refund.ts";
import { insertRefund, readRefunds } from "./refunds-sql.ts";

/**
 * Decides about the refund of an order by request (decision 0089), and stores nothing. Runs in a transaction that has
 * locked the order. A cancel, another refund and the record of a charge take the same lock, so each sees what the others
 * have decided, and no more is refunded than was charged.
 */
export async function decideRefund(
  tx: Queryable,
  order: OrderKey,
  request: RefundRequest,
  { actor }: Pick<TransitionCause, "actor">,
  { newId, now }: RecordContext,
): Promise<RefundDecision> {
  const earlier = await readRefunds(tx, order);
  const sameReference = earlier.find(({ reference }) => reference === request.reference);
  if (sameReference !== undefined)
    return isRepeated(sameReference, request)
      ? { outcome: "repeated", refund: sameReference }
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
  const refund = {
    id: newId(),
    amountMinor,
    allLeft: request.amountMinor === null,
    reason,
    note,
    reference,
    actor,
    createdAt: now,
  };
  return { outcome: "possible", refund, entries: refundsFor(ledger, refund, now) };
}

/** Adds a refund and its entries to the ledger. A worker then sends them to the gateways that charged the order. */
export async function storeRefund(
  tx: Queryable,
  order: OrderKey,
  { refund, entries }: PossibleRefund,
  { requestId = null }: Pick<TransitionCause, "requestId">,
  { newId, now }: RecordContext,
): Promise<void> {
  await insertRefund(tx, order, refund);
  await insertEntries(
    tx,
    entries.map((entry) => ({ ...entry, order, id: newId(), requestId })),
    now,
  );
}

/** How much of an order's goods can still be refunded, as `refundableGoodsMinor` says. The caller has locked the order. */
export const readRefundableGoods = async (tx: Queryable, order: OrderKey): Promise<bigint | null> =>
  refundableGoodsMinor(await readLedger(tx, order, order.id));
