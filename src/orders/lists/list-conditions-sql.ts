import type { OrderStatus } from "../../lifecycle/order.ts";
import {
  ACCEPTANCE_SUSPENDED,
  AWAITS_ACCEPTANCE,
  acceptanceDue,
  SHIPPABLE,
  UNSHIPPED,
} from "../conditions-sql.ts";
import { connectionsOf, merchantsOf, type OrderFilter } from "./order-list-filter.ts";

// The conditions of lists of orders on the order `o`. All statements have the same first parameters, `listValues`, but not
// every one uses all of them: PARAMETERS gives each of them a type.

export const PARAMETERS = `
      select $1::uuid, $2::integer, $3::uuid[], $4::uuid[], $5::timestamptz, $6::text, $7::uuid, $8::text,
             $9::timestamptz, $10::timestamptz, $11::timestamptz, $12::timestamptz, $13::uuid[], $14::uuid[], $15::uuid[]`;

/** @param after the id after which the page begins */
export const listValues = (filter: OrderFilter, after: string, limit: number, now: Date): unknown[] => [
  after,
  limit,
  merchantsOf(filter),
  connectionsOf(filter),
  now,
  filter.holdReason,
  filter.facilityId,
  filter.countryCode,
  filter.createdSince,
  filter.createdUntil,
  filter.updatedSince,
  filter.updatedUntil,
  filter.scope?.merchantIds ?? null,
  filter.scope?.connections.map(({ connectionId }) => connectionId) ?? null,
  filter.scope?.facilityIds ?? null,
];

/** Whether the merchant `m` and the connection `c` are read at all. */
export const MERCHANT_SHOWN = "($3::uuid[] is null or m.id = any($3))";
export const CONNECTION_SHOWN = "($4::uuid[] is null or c.id = any($4))";

const IN_SCOPE = `($13::uuid[] is null or o.merchant_id = any($13) or o.connection_id = any($14)
                 or o.facility_id = any($15))`;

/** $5 is the time. A real order whose deadline has passed is accepted, even if the worker has not stored that yet. */
const PAST_DEADLINE = `(${acceptanceDue("$5")})`;

/**
 * New orders before their deadline, and those whose acceptance is suspended. In this form PostgreSQL can use
 * orders_acceptance_due_idx and orders_held_idx. For the plain negation of PAST_DEADLINE it would read every order.
 */
const STILL_NEW = `(${AWAITS_ACCEPTANCE} and o.acceptance_due_at > $5 or ${ACCEPTANCE_SUSPENDED})`;

// Statuses and similar values are literals, not parameters, so that the partial indexes can be used.
const statusCondition = (status: OrderStatus, testMode: boolean): string => {
  if (testMode) return `o.status = '${status}'`; // Never due.
  if (status === "NEW") return STILL_NEW;
  return status === "ACCEPTED" ? `(o.status = 'ACCEPTED' or ${PAST_DEADLINE})` : `o.status = '${status}'`;
};

/** An order last changed at its deadline, if that has passed (decision 0012). */
const changedSince = (testMode: boolean): string =>
  testMode
    ? "o.updated_at >= $11"
    : `(o.updated_at >= $11 or ${PAST_DEADLINE} and o.acceptance_due_at >= $11)`;

const changedBefore = (testMode: boolean): string =>
  testMode
    ? "o.updated_at < $12"
    : `o.updated_at < $12 and not (${PAST_DEADLINE} and o.acceptance_due_at >= $12)`;

/** Of real orders by orders_ready_idx. */
const READY = `${SHIPPABLE}
          and ${UNSHIPPED}`;

/** A subquery with a limit is evaluated for one order after the other. For `not exists` the lines of all orders would be read. */
const NOT_READY = `not (${SHIPPABLE}
          and (
            select true from order_lines l
            where l.merchant_id = o.merchant_id and l.order_id = o.id and l.shipment_id is null
            limit 1) is not null)`;

const FAILED_DELIVERY = `exists (
            select from deliveries d
            where d.merchant_id = o.merchant_id and d.connection_id = o.connection_id and d.stream_id = o.id
              and d.status = 'failed')`;

export function conditionsOf(filter: OrderFilter): string {
  const { status, onHold, holdReason, ready, testMode, facilityId, countryCode } = filter;
  const { createdSince, createdUntil, updatedSince, updatedUntil, hasFailedDelivery, scope } = filter;
  return [
    testMode ? "o.test_mode and o.expires_at > $5" : "not o.test_mode",
    ...(scope === null ? [] : [IN_SCOPE]),
    ...(status === null ? [] : [statusCondition(status, testMode)]),
    ...(onHold === null ? [] : [`o.hold_reasons ${onHold ? "<>" : "="} '{}'`]),
    ...(holdReason === null ? [] : ["o.hold_reasons <> '{}' and o.hold_reasons @> array[$6]"]),
    ...(ready === null ? [] : [ready ? READY : NOT_READY]),
    ...(facilityId === null ? [] : ["o.facility_id = $7"]),
    ...(countryCode === null ? [] : ["o.country_code = $8"]),
    ...(createdSince === null ? [] : ["o.created_at >= $9"]),
    ...(createdUntil === null ? [] : ["o.created_at < $10"]),
    ...(updatedSince === null ? [] : [changedSince(testMode)]),
    ...(updatedUntil === null ? [] : [changedBefore(testMode)]),
    ...(hasFailedDelivery === null ? [] : [`${hasFailedDelivery ? "" : "not "}${FAILED_DELIVERY}`]),
  ].join("\n            and ");
}

/** How a list is sorted: which ids come after one, which come up to it, and their order. */
export const sortOf = ({ sort }: OrderFilter): { after: string; upTo: string; order: string } =>
  sort === "newest" ? { after: "<", upTo: ">=", order: "desc" } : { after: ">", upTo: "<=", order: "asc" };
