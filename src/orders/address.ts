import type { Order, ShippingAddress } from "../lifecycle/order.ts";
import { ADDRESS_CORRECTIONS_MAX } from "../lifecycle/parts.ts";
import type { Queryable } from "../platform/database/database.ts";
import { versionOf } from "../platform/wire/content-version.ts";
import { countEntriesOf } from "./changes/timeline-sql.ts";
import { ADDRESS_FIELDS } from "./order-wire.ts";

/** The name of a correction in the timeline. */
export const ADDRESS_CORRECTION = "updateShippingAddress";

/** True if the address of an order can be corrected once more. Under the order's lock, so the limit is exact. */
export const hasCorrectionsLeft = async (tx: Queryable, order: Order): Promise<boolean> =>
  (await countEntriesOf(tx, order, ADDRESS_CORRECTION, ADDRESS_CORRECTIONS_MAX)) < ADDRESS_CORRECTIONS_MAX;

/**
 * Names an address, so that a correction can require that it is the one that was read
 * (docs/design/api-conventions.md, "Expected versions").
 */
export const addressVersion = (address: ShippingAddress): string =>
  versionOf(ADDRESS_FIELDS.map((field) => address[field]));
