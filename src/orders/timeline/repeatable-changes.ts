import { isChange, type Outcome } from "../../lifecycle/lifecycle.ts";
import type { OrderState } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { countTimelineEntries } from "./timeline-sql.ts";

/**
 * Entries of a timeline up to which an order accepts operations that a caller can repeat without end: a hold can be placed
 * and released again and again, a shipment be updated and a payment be retried. Others end at the order's own state. 200
 * shipments with ten updates each have fewer.
 */
export const REPEATABLE_CHANGES_MAX = 2_500;

/** Whether no such operation can be added. Under the order's lock, so the limit is exact. */
export const isTimelineFull = async (
  tx: Queryable,
  order: Pick<OrderState, "merchantId" | "id">,
): Promise<boolean> =>
  (await countTimelineEntries(tx, order, REPEATABLE_CHANGES_MAX)) === REPEATABLE_CHANGES_MAX;

/** The outcome of such an operation: rejected, if it would add to a full timeline. */
export async function withinTimeline(tx: Queryable, outcome: Outcome): Promise<Outcome> {
  return outcome.outcome === "applied" && isChange(outcome) && (await isTimelineFull(tx, outcome.order))
    ? { outcome: "rejected", order: outcome.from, rule: "too_many_changes" }
    : outcome;
}
