import { DAY_MS } from "./time.ts";

/** How long events can be read and sent (decision 0030). */
export const EVENTS_KEPT_MS = 30 * DAY_MS;
/** How long the delivery log is kept: deliveries, attempts, recoveries and mails. */
export const LOG_KEPT_MS = 90 * DAY_MS;

/** How long the history of stock is kept (decision 0094). */
export const STOCK_MOVEMENTS_KEPT_MS = 730 * DAY_MS;
