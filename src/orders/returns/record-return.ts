import type { Initiator } from "../../audit/initiator.ts";
import type { RefundRequest } from "../../ledger/refunds/refund.ts";
import { readRefundableGoods } from "../../ledger/refunds/request-refund.ts";
import type { AppliedTransition, RecordContext } from "../../lifecycle/applied-transition.ts";
import { returnedBetween } from "../../lifecycle/returns.ts";
import type { Context } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import {
  isProblem,
  type Problem,
  type ValidationError,
  validationFailed,
} from "../../platform/wire/problems.ts";
import { transitionRefused } from "../changes/transition-refused.ts";
import { readOrderPrices } from "../order-prices-sql.ts";
import { refundLockedOrder } from "../refunds/refund-order.ts";
import { type OrderReturn, RETURNS_MAX, type ReturnFacts } from "./order-return.ts";
import { countReturns, insertReturn } from "./returns-sql.ts";

export type RequestedReturn = ReturnFacts & {
  /** Both are null if the caller named neither the return nor a refund. */
  readonly reference: string | null;
  readonly requestHash: Buffer | null;
  readonly restock: boolean;
  /** The request named lines, instead of a shipment. */
  readonly namesLines: boolean;
  /** Without an amount: the price of the returned goods, as far as it is left. */
  readonly refund: RefundRequest | null;
};

type Change = Pick<AppliedTransition, "before" | "after">;

/**
 * Records what came back, in the transaction of the return, and refunds it if requested. Returns a problem if it cannot be
 * refunded; the caller then rolls back the return, too (decision 0088).
 */
export async function recordReturn(
  tx: Queryable,
  context: Pick<Context, "clock" | "newId">,
  { before, after }: Change,
  { restock, namesLines, refund, requestHash, ...facts }: RequestedReturn,
  by: Initiator,
  at: RecordContext,
): Promise<Problem | null> {
  if (namesLines && (await countReturns(tx, after)) >= RETURNS_MAX)
    return transitionRefused("returnShipment", after, "too_many_returns");
  const refunded =
    refund === null ? null : await refundReturn(tx, context, { before, after }, refund, by, at);
  if (refunded !== null && isProblem(refunded)) return refunded;
  const returned: OrderReturn = {
    ...facts,
    id: at.newId(),
    restocked: restock,
    refundId: refunded?.refundId ?? null,
    lines: returnedBetween(before, after).map(({ line, quantity }) => ({ lineId: line.id, quantity })),
    actor: by.actor,
    createdAt: at.now,
  };
  await insertReturn(tx, after, returned, requestHash);
  return null;
}

async function refundReturn(
  tx: Queryable,
  context: Pick<Context, "clock" | "newId">,
  change: Change,
  refund: RefundRequest,
  by: Initiator,
  at: RecordContext,
): Promise<{ readonly refundId: string } | Problem | null> {
  const request = refund.amountMinor === null ? await refundOfGoods(tx, change, refund) : refund;
  if (request === null || isProblem(request)) return request;
  const refunded = await refundLockedOrder(tx, context, change.after, request, by, at);
  if (isProblem(refunded)) return inRefund(refunded);
  // A retry of a return would bring more units back, and refund nothing.
  if (refunded.replayed)
    return validationFailed([
      { pointer: "/refund/reference", detail: "was already used for a refund of the order" },
    ]);
  return { refundId: refunded.refund.id };
}

/**
 * The refund of goods that came back: their price, but no more than is left of the charge for the goods. Null if nothing
 * is: they were free, or were refunded before. Then there is only a return to record (decision 0205).
 */
async function refundOfGoods(
  tx: Queryable,
  change: Change,
  refund: RefundRequest,
): Promise<RefundRequest | Problem | null> {
  const priceMinor = await goodsMinor(tx, change);
  if (priceMinor === 0n) return null;
  const leftMinor = await readRefundableGoods(tx, change.after);
  // The charge can still be paid, so a return without its refund would keep the merchant's money.
  if (leftMinor === null) return transitionRefused("refund", change.after, "nothing_to_refund");
  if (leftMinor === 0n) return null;
  return { ...refund, amountMinor: priceMinor < leftMinor ? priceMinor : leftMinor, onlyGoods: true };
}

/** What the merchant was charged for the goods that came back. */
async function goodsMinor(tx: Queryable, { before, after }: Change): Promise<bigint> {
  const prices = await readOrderPrices(tx, after, after.id);
  return returnedBetween(before, after).reduce(
    (sum, { line, quantity }) => sum + BigInt(quantity) * (prices.lines.get(line.id)?.unitPriceMinor ?? 0n),
    0n,
  );
}

/** The problem of a refund, whose positions begin at the refund in the body. */
function inRefund(problem: Problem): Problem {
  if (problem.code !== "validation-failed") return problem;
  const errors = (problem.members?.["errors"] ?? []) as readonly ValidationError[]; // As `validationFailed` writes them.
  return validationFailed(
    errors.map((error) => ("pointer" in error ? { ...error, pointer: `/refund${error.pointer}` } : error)),
  );
}
