import { Type } from "typebox";
import type { OrderScope } from "../../audit/grant.ts";
import { isSettled } from "../../lifecycle/lifecycle.ts";
import type { OrderStatus } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { momentOf, uuidAt } from "../../platform/ids.ts";
import { SECOND_MS } from "../../platform/time.ts";
import { ACCEPTANCE_SUSPENDED, AWAITS_ACCEPTANCE, acceptanceDue, SHIPPABLE } from "../conditions-sql.ts";
import { parseOrderRef } from "../order-wire.ts";
import type { ReadOrder } from "./read-order.ts";

// The conditions of lists of orders on the order `o`. All statements have the same first parameters, `listValues`. Not
// every one uses all of them, so each gives all of them a type.

/** @param after the id after which the page begins */
export const listValues = (filter: OrderFilter, after: string, limit: number, now: Date): unknown[] => [
  after,
  limit,
  merchantsInFilter(filter),
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

/** True if the merchant `m` and the connection `c` are read at all. */
export const MERCHANT_SHOWN = "($3::uuid[] is null or m.id = any($3))";
export const CONNECTION_SHOWN = "($4::uuid[] is null or c.id = any($4))";

/** Only the parts that the scope has, because Citus looks for the shards of one that can be of any merchant everywhere. */
const inScope = ({ merchantIds, connections, facilityIds }: NonNullable<OrderScope>): string => {
  const parts = [
    ...(merchantIds.length > 0 ? ["o.merchant_id = any($13)"] : []),
    ...(connections.length > 0 ? ["o.connection_id = any($14)"] : []),
    ...(facilityIds.length > 0 ? ["o.facility_id = any($15)"] : []),
  ];
  return parts.length === 0 ? "false" : `(${parts.join(" or ")})`;
};

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

/** When an order last changed, as the caller sees it: partners see no notes, charges and refunds. */
const changedAt = ({ scope }: OrderFilter): string =>
  scope !== null && scope.connections.length > 0 ? "o.updated_at" : "o.changed_at";

/**
 * An order last changed at its deadline, if that has passed (docs/design/lifecycle.md, "The deadline decides"). Sorted by change,
 * it has its place when that is stored.
 */
const changedSince = (filter: OrderFilter): string =>
  filter.testMode
    ? `${changedAt(filter)} >= $11`
    : `(${changedAt(filter)} >= $11 or ${PAST_DEADLINE} and o.acceptance_due_at >= $11)`;

const changedBefore = (filter: OrderFilter): string =>
  filter.testMode
    ? `${changedAt(filter)} < $12`
    : `${changedAt(filter)} < $12 and not (${PAST_DEADLINE} and o.acceptance_due_at >= $12)`;

/** A condition that names the merchants of a list to a distributed database, at a table with this column. */
type OnNodes = (merchant: string) => string;

/** A line has not shipped: `has_unshipped` says only that one may be unshipped. Of real orders by orders_ready_idx. */
const readyOn = (onNodes: OnNodes): string => `${SHIPPABLE}
          and exists (
            select from order_lines l
            where l.merchant_id = o.merchant_id and l.order_id = o.id and l.shipment_id is null and l.cancellation_id is null
              and ${onNodes("l.merchant_id")})`;

/** A subquery with a limit is evaluated for one order after the other. For `not exists` the lines of all orders would be read. */
const NOT_READY = `not (${SHIPPABLE}
          and (
            select true from order_lines l
            where l.merchant_id = o.merchant_id and l.order_id = o.id and l.shipment_id is null and l.cancellation_id is null
            limit 1) is not null)`;

const FAILED_DELIVERY = `exists (
            select from deliveries d
            where d.merchant_id = o.merchant_id and d.connection_id = o.connection_id and d.stream_id = o.id
              and d.status = 'failed')`;

export function conditionsOf(filter: OrderFilter, onNodes: OnNodes = () => "true"): string {
  const { status, onHold, holdReason, ready, testMode, facilityId, countryCode } = filter;
  const { createdSince, createdUntil, updatedSince, updatedUntil, hasFailedDelivery, scope } = filter;
  return [
    testMode ? "o.test_mode and o.expires_at > $5" : "not o.test_mode",
    ...(scope === null ? [] : [inScope(scope)]),
    ...(status === null ? [] : [statusCondition(status, testMode)]),
    ...(onHold === null ? [] : [`o.hold_reasons ${onHold ? "<>" : "="} '{}'`]),
    ...(holdReason === null ? [] : ["o.hold_reasons <> '{}' and o.hold_reasons @> array[$6]"]),
    ...(ready === null ? [] : [ready ? readyOn(onNodes) : NOT_READY]),
    ...(facilityId === null ? [] : ["o.facility_id = $7"]),
    ...(countryCode === null ? [] : ["o.country_code = $8"]),
    ...(createdSince === null ? [] : ["o.created_at >= $9"]),
    ...(createdUntil === null ? [] : ["o.created_at < $10"]),
    ...(updatedSince === null ? [] : [changedSince(filter)]),
    ...(updatedUntil === null ? [] : [changedBefore(filter)]),
    ...(hasFailedDelivery === null ? [] : [`${hasFailedDelivery ? "" : "not "}${FAILED_DELIVERY}`]),
  ].join("\n            and ");
}

/** How a list is sorted: which ids come after one, which come up to it, and their order. */
export const sortOf = ({ sort }: OrderFilter): { after: string; upTo: string; order: string } =>
  sort === "newest" ? { after: "<", upTo: ">=", order: "desc" } : { after: ">", upTo: "<=", order: "asc" };

/** Sorts after every text that begins with `start`, byte by byte: the last character there is follows it. */
export const afterAll = (start: string): string => `${start}\u{10ffff}`;

/** `orderId` in the query of a list. It names an order as paths do (docs/design/api-conventions.md, "Ids"). */
export const orderIdFilter = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 200,
    description: "Only items about this order: its id, or the partner's own `externalOrderId`.",
  }),
);

/** The id of the order that a filter names. Null without a filter, undefined if the connection has no such order. */
export async function findOrderId(
  readOrder: ReadOrder,
  connection: ConnectionKey,
  named: string | undefined,
): Promise<string | null | undefined> {
  if (named === undefined) return null;
  return (await readOrder({ ...connection, ref: parseOrderRef(named) }))?.id;
}

/** Which orders are listed. A null restricts nothing. */
export type OrderFilter = {
  /** The scope of the caller. */
  readonly scope: OrderScope;
  readonly merchantId: string | null;
  readonly connectionId: string | null;
  readonly status: OrderStatus | null;
  readonly onHold: boolean | null;
  readonly holdReason: string | null;
  /** True if the warehouse can ship the order now. */
  readonly ready: boolean | null;
  readonly testMode: boolean;
  readonly facilityId: string | null;
  readonly countryCode: string | null;
  /** Included, like `updatedSince`; `createdUntil` and `updatedUntil` are not. */
  readonly createdSince: Date | null;
  readonly createdUntil: Date | null;
  readonly updatedSince: Date | null;
  readonly updatedUntil: Date | null;
  readonly hasFailedDelivery: boolean | null;
  /** The service's id of an order, if that was searched for. */
  readonly orderId: string | null;
  /** Otherwise the text that was searched for, as it was typed. */
  readonly text: string | null;
  readonly sort: "newest" | "oldest" | "updated";
};

/**
 * True if no index serves the filter, so that orders are read by time until the page is full
 * (docs/design/api-conventions.md, "Lists and cursors"). Settled orders are most of all orders, and those of a status are met
 * soon.
 */
export const isSparse = (filter: OrderFilter): boolean =>
  (filter.status !== null && isSettled({ status: filter.status }) && !filter.testMode) ||
  filter.countryCode !== null ||
  filter.updatedSince !== null ||
  filter.updatedUntil !== null ||
  filter.hasFailedDelivery !== null;

/** The merchants whose orders are read. Null: all. */
export function merchantsInFilter({ scope, merchantId }: OrderFilter): readonly string[] | null {
  if (merchantId !== null) return [merchantId];
  if (scope === null || scope.facilityIds.length > 0) return null;
  return [
    ...new Set([...scope.merchantIds, ...scope.connections.map((connection) => connection.merchantId)]),
  ];
}

/** The connections whose orders are read. Null: all of the merchants. */
export function connectionsOf({ scope, connectionId }: OrderFilter): readonly string[] | null {
  if (connectionId !== null) return [connectionId];
  const isPartner = scope !== null && scope.merchantIds.length === 0 && scope.facilityIds.length === 0;
  return isPartner ? scope.connections.map((connection) => connection.connectionId) : null;
}

/** True if nothing can fit, so that nothing need be read. */
export const isNowhere = (filter: OrderFilter): boolean =>
  merchantsInFilter(filter)?.length === 0 || connectionsOf(filter)?.length === 0;

// Find the order that a part of it belongs to, by the part's id alone: scans over all shards, each by an index.

/** The id of the order of a shipment. Null if there is none. */
export async function findOrderIdOfShipment(db: Queryable, shipmentId: string): Promise<string | null> {
  const [row] = await db.query<{ id: string }>({
    name: "find-order-id-of-shipment",
    text: `
      select s.order_id as id
      from merchants m
      join shipments s on s.merchant_id = m.id
      where s.id = $1`,
    values: [shipmentId],
  });
  return row?.id ?? null;
}

/** The id of the order that an event is about. Null if there is none. */
export async function findOrderIdOfEvent(db: Queryable, eventId: string): Promise<string | null> {
  const [row] = await db.query<{ id: string | null }>({
    name: "find-order-id-of-event",
    text: `
      select found.id
      from merchants m
      cross join lateral (
        select e.order_id as id from events e where e.merchant_id = m.id and e.id = $1 offset 0) as found`,
    values: [eventId],
  });
  return row?.id ?? null;
}

/** Lines are made with their order, so their ids are of nearly the same time. */
const APART_MAX_MS = 2 * SECOND_MS;

/**
 * The id of the order of a line. Null if there is none. No index has the ids of lines, so it looks at the orders that were
 * created at the time of the line. A line that a shipment has split off is made later, and not found.
 */
export async function findOrderIdOfLine(db: Queryable, lineId: string): Promise<string | null> {
  const ms = momentOf(lineId).getTime();
  const [row] = await db.query<{ id: string }>({
    name: "find-order-id-of-line",
    text: `
      select found.id
      from merchants m
      cross join lateral (
        select o.id
        from orders o
        join order_lines l on l.merchant_id = o.merchant_id and l.order_id = o.id
        where o.merchant_id = m.id and o.id >= $2 and o.id < $3 and l.id = $1
        offset 0) as found
      limit 1`,
    values: [lineId, uuidAt(new Date(ms - APART_MAX_MS)), uuidAt(new Date(ms + APART_MAX_MS))],
  });
  return row?.id ?? null;
}
