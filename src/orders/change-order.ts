import type { Queryable } from "../database/database.ts";
import { insertEvents } from "../events/events-sql.ts";
import { followOrder as followWithStock } from "../fulfilment/follow-order.ts";
import { isProblem, type Problem } from "../http/problems.ts";
import { followOrder as followWithMoney } from "../payments/follow-order.ts";
import { inOneStep, type Service } from "../service.ts";
import { isStorableText } from "../text.ts";
import type { Outcome } from "./lifecycle.ts";
import { tellOptIns } from "./opt-in-events.ts";
import type { Order, OrderRef } from "./order.ts";
import { orderEvents } from "./order-events.ts";
import { type OrderStep, SERVICE, type StepCause, type StepContext } from "./order-step.ts";
import { lockOrder, saveOrder } from "./orders-sql.ts";
import { insertSteps } from "./timeline-sql.ts";

type OrderChange = StepCause & {
  readonly connectionId: string;
  readonly ref: OrderRef;
  /** The answer when the connection has no such order, or its time is over. */
  readonly missing: Problem;
  /** Asks the lifecycle, or refuses. The clock is read under the order's lock. */
  decide(order: Order, now: Date): Outcome | Problem;
  /** What else belongs to the step, in the same transaction; only when the lifecycle has agreed. */
  alongside?(tx: Queryable, step: OrderStep, context: StepContext): Promise<void>;
};

/**
 * One step of one order: under its lock the lifecycle decides, and the order's change and all that follows from it are
 * stored together. Every change of an order that somebody asks for goes this way.
 */
export async function changeOrder(service: Service, change: OrderChange): Promise<Outcome | Problem> {
  if (!isStorableText(change.ref.externalOrderId)) return change.missing; // No order can have such an id.
  const outcome = await inOneStep(service, async (tx) => {
    const before = await lockOrder(tx, change.connectionId, change.ref, service.clock);
    if (before === undefined) return change.missing;
    const context = { newId: service.newId, now: service.clock.now() };
    const outcome = change.decide(before, context.now);
    if (isProblem(outcome)) return outcome;
    await storeOutcome(tx, before, outcome, change, context);
    if (outcome.outcome === "applied")
      await change.alongside?.(tx, { ...change, before, after: outcome.order }, context);
    return outcome;
  });
  if (!isProblem(outcome)) service.wakeDispatchers([change.connectionId]);
  return outcome;
}

/**
 * Stores what the lifecycle has decided, in the transaction that holds the order's lock: the order, its events, its
 * timeline, its money and its stock. A refusal may change the order too: its deadline may have accepted it there and
 * then (decision 0012).
 */
export async function storeOutcome(
  tx: Queryable,
  before: Order,
  outcome: Outcome,
  cause: StepCause,
  context: StepContext,
): Promise<void> {
  const { order: after } = outcome;
  if (after === before) return;
  const steps = stepsOf(before, outcome, cause);
  await saveOrder(tx, before, after);
  if (outcome.outcome === "applied")
    await insertEvents(tx, orderEvents(after, outcome.facts, context.newId, context.now), context.now);
  await tellOptIns(tx, before.connectionId, steps, context);
  const records = steps.map((step) => ({
    ...{ ...step, ...step.after, orderId: after.id },
    shipmentId: touchedShipment(step),
  }));
  await insertSteps(tx, after.connectionId, records, context);
  for (const step of steps) {
    await followWithStock(tx, step, context);
    await followWithMoney(tx, step, context);
  }
}

/** The shipment that a step has made or changed; it is never more than one. */
const touchedShipment = ({ before, after }: OrderStep): string | null =>
  after.shipments.find((shipment) => !before.shipments.includes(shipment))?.id ?? null;

/** What somebody asked for, and before it the acceptance, when only the deadline had seen to that so far. */
function stepsOf(before: Order, outcome: Outcome, cause: StepCause): OrderStep[] {
  const { order: after } = outcome;
  const from = outcome.outcome === "applied" ? outcome.from : after;
  return [
    ...(from === before ? [] : [{ actor: SERVICE, action: "accept", before, after: from }]),
    ...(after === from ? [] : [{ ...cause, before: from, after }]),
  ];
}
