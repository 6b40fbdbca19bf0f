import type { OrderState } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { countTimelineEntries } from "./timeline-sql.ts";

/**
 * Entries of a timeline up to which an order accepts operations that a caller can repeat without end. 200 shipments with
 * ten updates each have fewer.
 */
export const REPEATABLE_CHANGES_MAX = 2_500;

/** A hold can be placed and released again and again, and a payment be retried. Others end at the order's own state. */
const REPEATABLE: ReadonlySet<string> = new Set(["hold", "updateShipment", "retryPayment"]);

/** Whether the operation would make a long timeline longer. Under the order's lock, so the limit is exact. */
export const isOneTooMany = async (
  tx: Queryable,
  order: Pick<OrderState, "merchantId" | "id">,
  operation: string,
): Promise<boolean> =>
  REPEATABLE.has(operation) &&
  (await countTimelineEntries(tx, order, REPEATABLE_CHANGES_MAX)) === REPEATABLE_CHANGES_MAX;
