import { CLOCK_SKEW_MAX_MS } from "../../platform/time.ts";
import { ROWS_READ_MAX } from "../../platform/wire/cursor.ts";
import type { DeliveryStatus } from "./delivery.ts";

/** What a list of deliveries is filtered by. Null does not filter. */
export type DeliveryFilter = {
  endpointId: string | null;
  orderId: string | null;
  eventId: string | null;
  status: DeliveryStatus | null;
  eventType: string | null;
  /** Only deliveries of events from this time on. */
  since: Date | null;
  /** Only deliveries of events before this time. */
  until: Date | null;
  hasFailedAttempts: boolean | null;
};

/**
 * Deliveries of a test order are not listed from the time of its erasure on. A test key sees none of real orders
 * (decision 0074): only those of test orders expire.
 */
const FILTERS = `($5::uuid is null or d.event_id = $5) and ($6::text is null or d.status = $6)
                    and ($7::uuid is null or d.order_id = $7) and ($8::uuid is null or d.endpoint_id = $8)
                    and (d.not_after is null or d.not_after > $9)
                    and (not $11::boolean or d.order_id is null or d.not_after is not null)
                    and ($12::text is null or d.event_type = $12)`;

/**
 * Deliveries that a page with the filter `hasFailedAttempts` reads, at most. Fewer than ROWS_READ_MAX, because each of them
 * is looked up in the attempts of every day since its event (decision 0098).
 */
export const FAILED_READ_MAX = 1_000;

/** The id of an attempt at the time of the event, or a little before it. It excludes the partitions of earlier days. */
const EARLIEST_ATTEMPT_ID = `
                        (lpad(to_hex(('x' || left(replace(d.id::text, '-', ''), 12))::bit(48)::bigint - ${CLOCK_SKEW_MAX_MS}), 12, '0')
                         || '00000000000000000000')::uuid`;

/** Whether a delivery has a failed attempt ($13 true), or has none ($13 false). */
const FAILED_FILTER = `$13::boolean = exists (
                      select from attempts a
                      where a.merchant_id = $1 and a.delivery_id = d.id and a.error is not null
                        and a.id >= ${EARLIEST_ATTEMPT_ID})`;

/** Whether lists look up attempts, with what follows from it. */
export type Reading = { readonly filters: string; readonly rowsMax: number; readonly suffix: string };
const PLAIN: Reading = { filters: `${FILTERS} and $13::boolean is null`, rowsMax: ROWS_READ_MAX, suffix: "" };
const WITH_ATTEMPTS: Reading = {
  filters: `${FILTERS} and ${FAILED_FILTER}`,
  rowsMax: FAILED_READ_MAX,
  suffix: "-by-failure",
};
export const readingOf = ({ hasFailedAttempts }: DeliveryFilter): Reading =>
  hasFailedAttempts === null ? PLAIN : WITH_ATTEMPTS;
