import type { Queryable } from "../database/database.ts";
import { insertEvents } from "../events/events-sql.ts";
import { isProblem, type Problem } from "../http/problems.ts";
import { inOneStep, type Service } from "../service.ts";
import { isStorableText } from "../text.ts";
import type { Outcome } from "./lifecycle.ts";
import { tellOptIns } from "./opt-in-events.ts";
import type { Order, OrderRef } from "./order.ts";
import { orderEvents } from "./order-events.ts";
import { lockOrder, saveOrder } from "./orders-sql.ts";

type OrderChange = {
  readonly connectionId: string;
  readonly ref: OrderRef;
  /** The answer when the connection has no such order, or its time is over. */
  readonly missing: Problem;
  /** Asks the lifecycle, or refuses. The clock is read under the order's lock. */
  decide(order: Order, now: Date): Outcome | Problem;
};

/**
 * One step of one order: under its lock the lifecycle decides, and the order's change and its events are stored
 * together. Every change of an order that somebody asks for goes this way.
 */
export async function changeOrder(service: Service, change: OrderChange): Promise<Outcome | Problem> {
  if (!isStorableText(change.ref.externalOrderId)) return change.missing; // No order can have such an id.
  const outcome = await inOneStep(service, async (tx) => {
    const order = await lockOrder(tx, change.connectionId, change.ref, service.clock);
    if (order === undefined) return change.missing;
    const now = service.clock.now();
    const outcome = change.decide(order, now);
    if (!isProblem(outcome)) await storeOutcome(tx, order, outcome, service, now);
    return outcome;
  });
  if (!isProblem(outcome)) service.wakeDispatchers([change.connectionId]);
  return outcome;
}

/** A refusal may change the order too: its deadline may have accepted it there and then (decision 0012). */
async function storeOutcome(
  tx: Queryable,
  before: Order,
  outcome: Outcome,
  { newId }: Service,
  now: Date,
): Promise<void> {
  if (outcome.order === before) return;
  await saveOrder(tx, before, outcome.order);
  if (outcome.outcome === "applied")
    await insertEvents(tx, orderEvents(outcome.order, outcome.facts, newId, now), now);
  await tellOptIns(tx, before.connectionId, [{ before, after: outcome.order }], { newId, now });
}
