import type { Initiator } from "../../audit/record-audit.ts";
import { decideRefund, type GoodsRefund, type PossibleRefund } from "../../ledger/refunds.ts";
import { applyTransition, asOf, isChange } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderKey } from "../../lifecycle/order.ts";
import { type ReturnedUnits, returnedBetween } from "../../lifecycle/parts.ts";
import type { Context } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { isProblem, type Problem, validationFailed } from "../../platform/wire/problems.ts";
import { inSeenOrder, type LockedContext, type Staff, storeOutcome } from "../changes/change-order.ts";
import { orderOrRefusal, transitionRefused } from "../changes/transition-order.ts";
import { allowedRefund, refundOfGoods, storeOrderRefund } from "./refund-order.ts";
import {
  hashReturnRequest,
  type ReturnRequest,
  returnDetail,
  returnFacts,
  toReturn,
} from "./return-request.ts";
import { countReturns, findReturnHash, insertReturn, RETURNS_MAX } from "./returns-sql.ts";

type ReturnedGoods = {
  readonly order: Order;
  /** An earlier request with the same reference recorded the return. */
  readonly replayed: boolean;
};

/**
 * Records goods of a real order that came back, with their refund if one is requested, all or nothing
 * (docs/design/lifecycle.md, "Returns"). An order has one return for each reference: a retry changes nothing, and the order's
 * lock lets it wait for the first request (docs/design/money.md, "Repeated requests"). A return without a reference of its own
 * has that of its refund (docs/design/money.md, "Refunds").
 */
export function returnGoods(
  context: Context,
  staff: Staff,
  key: OrderKey,
  request: ReturnRequest,
  refund: GoodsRefund | null,
): Promise<ReturnedGoods | Problem> {
  const { restock = false, shipmentId, lines } = request;
  const reference = request.reference ?? refund?.reference ?? null;
  const facts = returnFacts(request);
  const requestHash =
    reference === null ? null : hashReturnRequest({ ...facts, shipmentId, lines, restock, refund });
  return inSeenOrder(context, staff, key, async (tx, order, at, by) => {
    const earlierHash = reference === null ? null : await findReturnHash(tx, order, reference);
    if (earlierHash !== null && requestHash !== null)
      return earlierHash.equals(requestHash)
        ? { order: asOf(order, at.now), replayed: true }
        : referenceTaken(request);
    const transition = toReturn(order, request);
    if (isProblem(transition)) return transition;

    const outcome = applyTransition(order, transition, at.now);
    const isReturn = isChange(outcome);
    if (isReturn && lines !== undefined && (await countReturns(tx, order)) >= RETURNS_MAX)
      return transitionRefused("returnShipment", order, "too_many_returns");
    const units = returnedBetween(order, outcome.order);
    const refunded =
      isReturn && refund !== null ? await decideReturnRefund(tx, order, { units, refund, by }, at) : null;
    if (refunded !== null && isProblem(refunded)) return refunded;

    const cause = { operation: "returnShipment", by, detail: returnDetail(facts), restock };
    await storeOutcome(tx, order, outcome, cause, at);
    const returned = orderOrRefusal("returnShipment", outcome);
    if (isProblem(returned)) return returned;
    if (refunded !== null) await storeOrderRefund(tx, returned, refunded, by, at);
    const added = {
      ...facts,
      id: at.newId(),
      reference,
      restocked: restock,
      refundId: refunded?.refund.id ?? null,
      lines: units.map(({ line, quantity }) => ({ lineId: line.id, quantity })),
      actor: by.actor,
      createdAt: at.now,
    };
    await insertReturn(tx, order, added, requestHash);
    return { order: returned, replayed: false };
  });
}

const referenceTaken = ({ reference }: ReturnRequest): Problem =>
  validationFailed([
    {
      pointer: reference === undefined ? "/refund/reference" : "/reference",
      rule: "reference_used",
      usedFor: "return",
    },
  ]);

/** The refund of units that come back. Null if there is nothing to refund, or why the return is rejected with it. */
async function decideReturnRefund(
  tx: Queryable,
  order: Order,
  returned: {
    readonly units: readonly ReturnedUnits[];
    /** Without an amount: the price of the returned goods, as far as it is left. */
    readonly refund: GoodsRefund;
    readonly by: Initiator;
  },
  at: LockedContext,
): Promise<PossibleRefund | Problem | null> {
  const { units, refund, by } = returned;
  const { amountMinor } = refund;
  const request =
    amountMinor === null
      ? await refundOfGoods(tx, order, units, refund)
      : { ...refund, amountMinor, shippingMinor: null, lines: [] };
  // The charge can still be paid, so a return without its refund would keep the merchant's money.
  if (request === "unpaid") return transitionRefused("refund", order, "nothing_to_refund");
  if (request === null) return null;
  const named = units.map(({ line, quantity }) => ({ lineId: line.id, quantity }));
  const decision = await decideRefund(tx, order, { ...request, lines: named }, by, at);
  if (decision.outcome === "reference-taken") return REFERENCE_OF_REFUND;
  const decided = allowedRefund(order, decision);
  if (isProblem(decided)) return inRefund(decided);
  // A retry of a return would bring more units back, and refund nothing.
  return decided.outcome === "repeated" ? REFERENCE_OF_REFUND : decided;
}

const REFERENCE_OF_REFUND = validationFailed([
  { pointer: "/refund/reference", rule: "reference_used", usedFor: "refund_of_return" },
]);

/** The problem of a refund, whose positions begin at the refund in the body. */
function inRefund(problem: Problem): Problem {
  if (problem.code !== "validation-failed") return problem;
  return validationFailed(
    problem.members.errors.map((error) =>
      "pointer" in error ? { ...error, pointer: `/refund${error.pointer}` } : error,
    ),
  );
}
