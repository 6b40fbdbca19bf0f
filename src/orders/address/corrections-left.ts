import { ADDRESS_CORRECTIONS_MAX } from "../../lifecycle/corrected-address.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { countEntriesOf } from "../timeline/timeline-sql.ts";

/** The name of a correction in the timeline. */
export const ADDRESS_CORRECTION = "updateShippingAddress";

/** Whether the address of an order can be corrected once more. Under the order's lock, so the limit is exact. */
export const hasCorrectionsLeft = async (tx: Queryable, order: Order): Promise<boolean> =>
  (await countEntriesOf(tx, order, ADDRESS_CORRECTION, ADDRESS_CORRECTIONS_MAX)) < ADDRESS_CORRECTIONS_MAX;
