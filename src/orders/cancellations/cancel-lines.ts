import { createHash } from "node:crypto";
import { type Static, Type } from "typebox";
import type { Initiator } from "../../audit/record-audit.ts";
import { decideRefund, type PossibleRefund } from "../../ledger/refunds.ts";
import { applyTransition, asOf } from "../../lifecycle/lifecycle.ts";
import type { Order, Transition } from "../../lifecycle/order.ts";
import { LINES_MAX } from "../../lifecycle/parts.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { fromTypeId, type NewId } from "../../platform/ids.ts";
import { isProblem, type Problem, validationFailed } from "../../platform/wire/problems.ts";
import { type LockedContext, storeOutcome } from "../changes/change-order.ts";
import { lineQuantitiesField, lineQuantityErrors } from "../changes/ship-request.ts";
import { transitionRefused } from "../changes/transition-order.ts";
import { CancelReasonSchema } from "../order-wire.ts";
import { allowedRefund, refundOfGoods, storeOrderRefund } from "../returns/refund-order.ts";
import { findCancellationHash, insertCancellation } from "./cancellations-sql.ts";

export const CancelLinesSchema = Type.Object(
  {
    lines: Type.Array(lineQuantitiesField("").items, {
      minItems: 1,
      maxItems: LINES_MAX,
      description:
        "The units that cannot be delivered. The other units of a line keep its id; the canceled ones become a line of their own. An order has at most 200 lines.",
    }),
    reason: CancelReasonSchema,
    note: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        format: "text",
        description: "Explanation for the back office and the order's timeline.",
      }),
    ),
    reference: Type.String({
      minLength: 1,
      maxLength: 255,
      format: "text",
      description:
        "Your name for the cancellation, such as the number of a ticket, and for its refund. An order has one cancellation for each reference: repeating the request returns the order and changes nothing, so a retry is safe.",
      examples: ["ticket-4711"],
    }),
  },
  { title: "CancelLinesRequest", description: "Units of an order that cannot be delivered." },
);
export type CancelLinesRequest = Static<typeof CancelLinesSchema>;

/** `replayed`: an earlier request with the same reference canceled the lines. */
export type CanceledLines = { readonly order: Order; readonly replayed: boolean };

/**
 * Cancels units of a locked order that cannot be delivered, and refunds the merchant for exactly these
 * (docs/design/lifecycle.md, "Canceled lines"). What has shipped and the price of shipping stay. If nothing is left to ship, the order
 * is complete. A retry is safe: it changes nothing.
 */
export async function storeCancelLines(
  tx: Queryable,
  order: Order,
  request: CancelLinesRequest,
  at: LockedContext,
  by: Initiator,
): Promise<CanceledLines | Problem> {
  const { reason, reference } = request;
  const note = request.note ?? null;
  const requestHash = hashRequest(request);
  const earlierHash = await findCancellationHash(tx, order, reference);
  if (earlierHash !== null)
    return earlierHash.equals(requestHash)
      ? { order: asOf(order, at.now), replayed: true }
      : validationFailed([{ pointer: "/reference", rule: "reference_used", usedFor: "cancellation" }]);
  const transition = toCancelLines(order, request, at.newId);
  if (isProblem(transition)) return transition;

  const outcome = applyTransition(order, transition, at.now);
  const detail = note === null ? reason : `${reason}: ${note}`;
  const cause = { operation: "cancelLines", by, detail, cancelReason: reason };
  if (outcome.outcome === "rejected") {
    await storeOutcome(tx, order, outcome, cause, at);
    return transitionRefused("cancelLines", outcome.order, outcome.rule);
  }
  const refund = await decideGoodsRefund(tx, order, transition, request, by, at);
  if (refund !== null && isProblem(refund)) return refund;
  const added = {
    ...{ id: transition.cancellationId, reason, note, reference },
    ...{ refundId: refund?.refund.id ?? null, actor: by.actor, createdAt: at.now },
  };
  await insertCancellation(tx, order, added, requestHash);
  await storeOutcome(tx, order, outcome, cause, at);
  if (refund !== null) await storeOrderRefund(tx, outcome.order, refund, by, at);
  return { order: outcome.order, replayed: false };
}

type CancelLines = Extract<Transition, { name: "cancelLines" }>;

/** The transition that a request means for this order, or why it is not valid. */
function toCancelLines(order: Order, { lines }: CancelLinesRequest, newId: NewId): CancelLines | Problem {
  const errors = lineQuantityErrors(order, lines, ({ quantity }) => quantity, "line_quantity");
  if (errors.length > 0) return validationFailed(errors);
  return {
    name: "cancelLines",
    parts: lines.map(({ lineId, quantity }) => ({
      lineId: fromTypeId("line", lineId) ?? "", // It was found among the lines of the order.
      quantity,
      restId: newId(),
    })),
    cancellationId: newId(),
  };
}

/** The refund of the canceled goods. Null if nothing of them is left to refund. */
async function decideGoodsRefund(
  tx: Queryable,
  order: Order,
  { parts }: CancelLines,
  { note, reference }: CancelLinesRequest,
  by: Initiator,
  at: LockedContext,
): Promise<PossibleRefund | Problem | null> {
  const quantities = new Map(parts.map(({ lineId, quantity }) => [lineId, quantity]));
  const units = order.lines.map((line) => ({ line, quantity: quantities.get(line.id) ?? 0 }));
  const texts = { reason: "canceled" as const, note: note ?? null, reference };
  const canceledOf = new Map(parts.map(({ lineId, quantity, restId }) => [lineId, { quantity, restId }]));
  const request = await refundOfGoods(tx, order, units, texts, (lineId) => {
    const part = canceledOf.get(lineId);
    const isWhole = order.lines.some(({ id, quantity }) => id === lineId && quantity === part?.quantity);
    return part === undefined || isWhole ? lineId : part.restId;
  });
  if (request === "unpaid") return transitionRefused("cancelLines", order, "goods_unpaid");
  if (request === null) return null;
  const decided = allowedRefund(order, await decideRefund(tx, order, request, by, at));
  // A refund by request has the reference.
  return isProblem(decided) || decided.outcome === "possible"
    ? decided
    : validationFailed([{ pointer: "/reference", rule: "reference_used", usedFor: "refund" }]);
}

/** SHA-256 of what two requests have in common if one is a retry of the other. The note is erased with the personal data. */
const hashRequest = ({ lines, reason }: CancelLinesRequest): Buffer =>
  createHash("sha256")
    .update(JSON.stringify({ lines: lines.map(({ lineId, quantity }) => [lineId, quantity]), reason }))
    .digest();
