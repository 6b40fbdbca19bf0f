import { followOrder as followWithMoney } from "../../ledger/record-charges.ts";
import {
  type AppliedTransition,
  type RecordContext,
  SERVICE,
  type TransitionCause,
} from "../../lifecycle/applied-transition.ts";
import type { Outcome } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderRef } from "../../lifecycle/order.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { isProblem, type Problem } from "../../platform/wire/problems.ts";
import { isStorableText } from "../../platform/wire/text.ts";
import { followOrder as followWithStock } from "../../stock/record-stock.ts";
import { insertEvents } from "../../webhooks/publishing/events-sql.ts";
import { lockOrder, saveOrder } from "../orders-sql.ts";
import { tellOptIns } from "./opt-in-events.ts";
import { orderEvents } from "./order-events.ts";
import { insertTimelineEntries } from "./timeline-sql.ts";

type OrderChange = TransitionCause & {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly ref: OrderRef;
  /** The response if the connection has no such order, or the order has expired. */
  readonly missing: Problem;
  /** Decides by the lifecycle, or rejects. The clock is read under the order's lock. */
  decide(order: Order, now: Date): Outcome | Problem;
  /** Further changes in the same transaction; only if the lifecycle permits the transition. */
  alongside?(tx: Queryable, step: AppliedTransition, at: RecordContext): Promise<void>;
};

/**
 * One transition of one order: under its lock the lifecycle decides, and the order's change and everything that follows
 * from it are stored together. Every requested change of an order uses this function.
 */
export async function changeOrder(context: Context, change: OrderChange): Promise<Outcome | Problem> {
  if (!isStorableText(change.ref.externalOrderId)) return change.missing; // No order can have such an id.
  const outcome = await inTransaction(context, async (tx) => {
    const before = await lockOrder(tx, change, change.ref, context.clock);
    if (before === undefined) return change.missing;
    const at = { newId: context.newId, now: context.clock.now() };
    const outcome = change.decide(before, at.now);
    if (isProblem(outcome)) return outcome;
    await storeOutcome(tx, before, outcome, change, at);
    if (outcome.outcome === "applied")
      await change.alongside?.(tx, { ...change, before, after: outcome.order }, at);
    return outcome;
  });
  if (!isProblem(outcome)) context.signals.send("deliveries_due", [change]);
  return outcome;
}

/**
 * Stores the lifecycle's decision, in the transaction that has locked the order: the order, its events, its timeline,
 * its money and its stock. A rejection may change the order too, if its deadline has just accepted it (decision 0012).
 */
export async function storeOutcome(
  tx: Queryable,
  before: Order,
  outcome: Outcome,
  cause: TransitionCause,
  at: RecordContext,
): Promise<void> {
  const { order: after } = outcome;
  if (after === before) return;
  const steps = stepsOf(before, outcome, cause);
  const positions = await saveOrder(tx, before, after);
  if (outcome.outcome === "applied")
    await insertEvents(tx, orderEvents(after, outcome.facts, at.newId, at.now), at.now, positions);
  await tellOptIns(tx, before, steps, at, positions);
  const records = steps.map((step) => ({
    ...{ ...step, ...step.after, orderId: after.id },
    shipmentId: touchedShipment(step),
  }));
  await insertTimelineEntries(tx, after, records, at);
  for (const step of steps) {
    await followWithStock(tx, step, at);
    await followWithMoney(tx, step, at);
  }
}

/** The shipment that a transition has created or changed; never more than one. */
const touchedShipment = ({ before, after }: AppliedTransition): string | null =>
  after.shipments.find((shipment) => !before.shipments.includes(shipment))?.id ?? null;

/** The requested transition, and before it the acceptance, if it has not been stored yet. */
function stepsOf(before: Order, outcome: Outcome, cause: TransitionCause): AppliedTransition[] {
  const { order: after } = outcome;
  const from = outcome.outcome === "applied" ? outcome.from : after;
  return [
    ...(from === before ? [] : [{ actor: SERVICE, operation: "accept", before, after: from }]),
    ...(after === from ? [] : [{ ...cause, before: from, after }]),
  ];
}
