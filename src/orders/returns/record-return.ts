import type { Initiator } from "../../audit/initiator.ts";
import type { RefundRequest } from "../../ledger/refunds/refund.ts";
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
  /** Both are null if the caller did not name the return. */
  readonly reference: string | null;
  readonly requestHash: Buffer | null;
  readonly restock: boolean;
  /** The request named lines, instead of a shipment. */
  readonly namesLines: boolean;
  /** Without an amount: the price of the returned goods. */
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
): Promise<{ readonly refundId: string } | Problem> {
  const amountMinor = refund.amountMinor ?? (await goodsMinor(tx, change));
  if (amountMinor === 0n) return transitionRefused("refund", change.after, "nothing_to_refund");
  const refunded = await refundLockedOrder(tx, context, change.after, { ...refund, amountMinor }, by, at);
  if (isProblem(refunded)) return inRefund(refunded);
  // A retry of a return would bring more units back, and refund nothing.
  if (refunded.replayed)
    return validationFailed([
      { pointer: "/refund/reference", detail: "was already used for a refund of the order" },
    ]);
  return { refundId: refunded.refund.id };
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
