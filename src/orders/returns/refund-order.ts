import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import {
  decideRefund,
  type PossibleRefund,
  type RefundDecision,
  type RefundRequest,
  readRefundableGoods,
  readRefunds,
  storeRefund,
} from "../../ledger/refunds.ts";
import { asOf } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderKey, OrderLine } from "../../lifecycle/order.ts";
import { type ReturnedUnits, refundableUnits } from "../../lifecycle/parts.ts";
import type { Context } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { fromTypeId } from "../../platform/ids.ts";
import { formatMoney } from "../../platform/money.ts";
import { isProblem, type Problem, validationFailed } from "../../platform/wire/problems.ts";
import { inSeenOrder, type LockedContext, type Staff } from "../changes/change-order.ts";
import { type LineQuantity, lineQuantityErrors } from "../changes/ship-request.ts";
import { insertTimelineEntries } from "../changes/timeline-sql.ts";
import { transitionRefused } from "../changes/transition-order.ts";
import { readOrderPrices } from "../owners-sql.ts";
import { markNotErased } from "../personal-data-sql.ts";

const OPERATION = "refund";

/** `replayed`: an earlier request with the same reference made the refund. */
type RefundedOrder = { readonly order: Order; readonly replayed: boolean };

/** A refund as a request names it, which has an amount, lines or shipping. */
export type SentRefund = Pick<RefundRequest, "reason" | "note" | "reference"> & {
  /** All of it. Null: the price of the lines, and the shipping. */
  readonly amountMinor: bigint | null;
  readonly shippingMinor: bigint | null;
  readonly lines: readonly LineQuantity[] | null;
};

/**
 * Refunds an order by request, in full or in part, in any status (docs/design/money.md, "Refunds"). Returns 409
 * `nothing_to_refund` or `too_many_refunds`, or 422 for a larger amount than is left and for a reference that was used for
 * another refund. A retry is safe: it refunds nothing.
 */
export function refundOrder(
  context: Context,
  staff: Staff,
  key: OrderKey,
  sent: SentRefund,
): Promise<RefundedOrder | Problem> {
  return inSeenOrder(context, staff, key, async (tx, stored, at, by) => {
    const order = asOf(stored, at.now);
    const request = await toRequest(tx, order, sent);
    if (isProblem(request)) return request;
    const decided = allowedRefund(order, await decideRefund(tx, order, request, by, at), (of) =>
      of === "shipping" ? "/shipping" : sent.amountMinor === null ? "/lines" : "/amount",
    );
    if (isProblem(decided)) return decided;
    if (decided.outcome === "possible") await storeOrderRefund(tx, order, decided, by, at);
    return { order, replayed: decided.outcome === "repeated" };
  });
}

/**
 * The amount and the lines that a request means for this order, or why it is not valid. Lines are returned at the price of the
 * order, or at a lower one that the request names (docs/design/money.md, "Refunds").
 */
async function toRequest(tx: Queryable, order: Order, sent: SentRefund): Promise<RefundRequest | Problem> {
  const { amountMinor, shippingMinor, lines, ...texts } = sent;
  if (lines === null && shippingMinor === null && amountMinor !== null)
    return { ...texts, amountMinor, shippingMinor: null, lines: [] };
  const earlier = await readRefunds(tx, order);
  // A retry may name units that its own refund has returned.
  const isRepeated = earlier.some(({ reference }) => reference === sent.reference);
  const left = refundableUnits(order.lines, earlier);
  const quantityMax = ({ id }: OrderLine) => (isRepeated ? Number.POSITIVE_INFINITY : (left.get(id) ?? 0));
  const errors = lineQuantityErrors(order, lines ?? [], quantityMax, "refundable_quantity");
  if (errors.length > 0) return validationFailed(errors);

  const named = (lines ?? []).map(({ lineId, quantity }) => ({
    lineId: fromTypeId("line", lineId) ?? "", // It was found among the lines of the order.
    quantity,
  }));
  const { currency, lines: priced } = await readOrderPrices(tx, order, order.id);
  const priceMinor = named.reduce(
    (sum, { lineId, quantity }) => sum + BigInt(quantity) * (priced.get(lineId)?.unitPriceMinor ?? 0n),
    0n,
  );
  const shipping = shippingMinor ?? 0n;
  const total = amountMinor ?? priceMinor + shipping;
  if (total === 0n) return validationFailed([{ pointer: "/lines", rule: "positive" }]);
  if (total < shipping || (lines !== null && total > priceMinor + shipping)) {
    const pointer = total < shipping ? "/shipping" : "/amount";
    const most = formatMoney({ minor: total < shipping ? total : priceMinor + shipping, currency });
    return validationFailed([{ pointer, rule: "refundable", maxAmount: most.amount, currency }]);
  }
  return { ...texts, amountMinor: total, shippingMinor: shipping, lines: named };
}

/** The member of a request that asks for too much of some charges. */
type PointerOf = (of: Extract<RefundDecision, { outcome: "more-than-left" }>["of"]) => string;

/** A decision that allows the refund, or the problem that a request gets. */
export function allowedRefund(
  order: Order,
  decided: RefundDecision,
  pointerOf: PointerOf = () => "/amount",
): Extract<RefundDecision, { outcome: "possible" | "repeated" }> | Problem {
  switch (decided.outcome) {
    case "nothing-left":
      return transitionRefused(OPERATION, order, "nothing_to_refund");
    case "too-many":
      return transitionRefused(OPERATION, order, "too_many_refunds");
    case "reference-taken":
      return validationFailed([{ pointer: "/reference", rule: "reference_used", usedFor: "refund" }]);
    case "more-than-left": {
      const { amount, currency } = formatMoney({ minor: decided.leftMinor, currency: decided.currency });
      const pointer = pointerOf(decided.of);
      return validationFailed([{ pointer, rule: "refundable", maxAmount: amount, currency }]);
    }
    default:
      return decided;
  }
}

/**
 * The refund of goods that came back or were canceled: the price of those that were not refunded before, but no more than is left of
 * the charge for the goods. Null if nothing is, or they were free (docs/design/money.md, "Refunds"). `unpaid`: the charge can still be
 * paid.
 * @param nameOf the line that the units of a line belong to afterwards
 */
export async function refundOfGoods(
  tx: Queryable,
  order: Order,
  units: readonly ReturnedUnits[],
  refund: Pick<RefundRequest, "reason" | "note" | "reference">,
  nameOf = (lineId: string): string => lineId,
): Promise<RefundRequest | "unpaid" | null> {
  const { lines } = await readOrderPrices(tx, order, order.id);
  const left = refundableUnits(order.lines, await readRefunds(tx, order));
  const refunded = units.flatMap(({ line, quantity }) => {
    const open = Math.min(quantity, left.get(line.id) ?? 0);
    return open === 0 ? [] : [{ line, quantity: open }];
  });
  const priceMinor = refunded.reduce(
    (sum, { line, quantity }) => sum + BigInt(quantity) * (lines.get(line.id)?.unitPriceMinor ?? 0n),
    0n,
  );
  if (priceMinor === 0n) return null;
  const leftMinor = await readRefundableGoods(tx, order);
  if (leftMinor === null) return "unpaid";
  if (leftMinor === 0n) return null;
  const amountMinor = priceMinor < leftMinor ? priceMinor : leftMinor;
  const named = refunded.map(({ line, quantity }) => ({ lineId: nameOf(line.id), quantity }));
  return { ...refund, amountMinor, shippingMinor: 0n, lines: named };
}

/** Stores a refund with its entries in the ledger, in the order's timeline and in the audit log. */
export async function storeOrderRefund(
  tx: Queryable,
  order: Order,
  possible: PossibleRefund,
  by: Initiator,
  at: LockedContext,
): Promise<void> {
  const { id: refundId, amountMinor, reason, reference, note } = possible.refund;
  await storeRefund(tx, order, possible, by, at);
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
  await recordAudit(tx, at, by, { merchantId, connectionId, subject: "ord", ids: [id], details });
}
