import type { OrderScope } from "../../access/scope.ts";
import { ORDER_STATUSES, type OrderStatus } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { Money } from "../../platform/money.ts";
import type { PagePosition } from "../../platform/wire/cursor.ts";
import { ACCEPTANCE_SUSPENDED, AWAITS_ACCEPTANCE, acceptanceDue } from "../conditions-sql.ts";
import { type OrderOwner, type OrderOwnerRow, toOrderOwner } from "../order-owners-sql.ts";

/** Which orders are listed. A null restricts nothing. */
export type OrderFilter = {
  /** What the caller may see. */
  readonly scope: OrderScope;
  readonly merchantId: string | null;
  readonly connectionId: string | null;
  readonly status: OrderStatus | null;
  readonly onHold: boolean | null;
  /** Whether the warehouse can ship the order now. */
  readonly ready: boolean | null;
  readonly testMode: boolean;
  /** The service's id of an order, if that was searched for. */
  readonly orderId: string | null;
  /** Otherwise a part of the partner's id or of the recipient's name, or a whole tracking number, in lower case. */
  readonly text: string | null;
};

/** An order of a list, with the value of its goods. */
export type ListedOrder = OrderOwner & { readonly id: string; readonly goods: Money };

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

const READY = `o.status in ('ACCEPTED', 'IN_PROGRESS') and o.routed_at is not null and o.hold_reasons = '{}'
          and exists (
            select from order_lines l where l.merchant_id = o.merchant_id and l.order_id = o.id and l.shipment_id is null)`;

const SEARCHED = `(
            strpos(lower(o.external_order_id), $7) > 0 or strpos(lower(o.first_name || ' ' || o.last_name), $7) > 0
            or strpos(lower(o.name), $7) > 0 or strpos(lower(o.company), $7) > 0
            or exists (
              select from shipments s
              where s.merchant_id = o.merchant_id and s.order_id = o.id and lower(s.tracking_number) = $7))`;

/** All orders that are NEW in the table, in a form for which PostgreSQL can use the same two indexes. */
const STORED_NEW = `(${AWAITS_ACCEPTANCE} or ${ACCEPTANCE_SUSPENDED})`;

/** True if only the primary key serves the filter: any status, on hold or not, ready or not. */
const isUnfiltered = ({ status, onHold, ready, testMode }: OrderFilter): boolean =>
  status === null && onHold !== true && ready !== true && !testMode;

/** The statuses in orders_status_idx: all but NEW, so that creating an order does not write to the index. */
const INDEXED_STATUSES = ORDER_STATUSES.filter((status) => status !== "NEW");

/** Orders of any status of one connection are read in parts, each by its index. */
const partsOf = (filter: OrderFilter): string[] =>
  isUnfiltered(filter)
    ? [STORED_NEW, ...INDEXED_STATUSES.map((status) => `o.status = '${status}'`)]
    : ["true"];

/** The newest orders of a merchant or a connection that match the filter and the part. */
const newestOf = (filter: OrderFilter, scope: string, part = "true"): string => `(
          select o.id, o.connection_id, o.goods_minor, o.currency
          from orders o
          where ${scope} and o.id < $1 and ${part}
            and ${conditionsOf(filter).join("\n            and ")}
          order by o.id desc
          limit $2 + 1)`;

const FOUND = `
        select found.id, found.goods_minor, found.currency, c.id as connection_id, c.name as connection_name,
               m.id as merchant_id, m.name as merchant_name`;

/** The newest orders of each merchant, by the primary key. */
const fromMerchants = (filter: OrderFilter): string => `${FOUND}
      from merchants m
      cross join lateral ${newestOf(filter, "o.merchant_id = m.id")} as found
      join connections c on c.merchant_id = m.id and c.id = found.connection_id`;

/** The newest orders of each connection, by the indexes that begin with the connection. */
const fromConnections = (filter: OrderFilter): string => `${FOUND}
      from connections c
      join merchants m on m.id = c.merchant_id
      cross join lateral (
        ${partsOf(filter)
          .map((part) => newestOf(filter, "o.merchant_id = c.merchant_id and o.connection_id = c.id", part))
          .join("\n        union all ")}) as found`;

/** The newest orders that are routed to each facility of the scope, by orders_facility_idx. */
const fromFacilities = (filter: OrderFilter): string => `${FOUND}
      from merchants m
      cross join unnest($10::uuid[]) as f (id)
      cross join lateral ${newestOf(filter, "o.merchant_id = m.id and o.facility_id = f.id and ($4::uuid is null or o.connection_id = $4)")} as found
      join connections c on c.merchant_id = m.id and c.id = found.connection_id`;

const REQUESTED = "($3::uuid is null or m.id = $3) and ($4::uuid is null or c.id = $4)";

/** The parts of the scope, each read by its own indexes. An order can be in several of them. */
function sourcesOf(filter: OrderFilter): string[] {
  const { scope } = filter;
  const ofAll = filter.connectionId === null && isUnfiltered(filter) ? fromMerchants : fromConnections;
  if (scope === null) return [`${ofAll(filter)} where ${REQUESTED}`];
  return [
    ...(scope.merchantIds.length > 0 ? [`${ofAll(filter)} where ${REQUESTED} and m.id = any($8)`] : []),
    ...(scope.connections.length > 0
      ? [`${fromConnections(filter)} where ${REQUESTED} and c.id = any($9)`]
      : []),
    ...(scope.facilityIds.length > 0 ? [`${fromFacilities(filter)} where ${REQUESTED}`] : []),
  ];
}

function conditionsOf({ status, onHold, ready, testMode, orderId, text }: OrderFilter): string[] {
  return [
    testMode ? "o.test_mode and o.expires_at > $5" : "not o.test_mode",
    ...(status === null ? [] : [statusCondition(status, testMode)]),
    ...(onHold === null ? [] : [`o.hold_reasons ${onHold ? "<>" : "="} '{}'`]),
    ...(ready === null ? [] : [ready ? READY : `not (${READY})`]),
    ...(orderId === null ? [] : ["o.id = $6"]),
    ...(text === null ? [] : [SEARCHED]),
  ];
}

/**
 * Orders of all merchants that match the filter, newest first. Returns one row more than the page if there is one. The
 * newest orders of each merchant, connection or facility are read by an index, so the cost grows with their number, not with the
 * number of orders.
 */
export async function listOrders(
  db: Queryable,
  filter: OrderFilter,
  { afterId, limit }: PagePosition,
  now: Date,
): Promise<ListedOrder[]> {
  const sources = sourcesOf(filter);
  if (sources.length === 0) return [];
  const { scope } = filter;
  const rows = await db.query<OrderOwnerRow & { goods_minor: bigint; currency: string }>({
    // Not a named statement: each set of filters has its own text.
    name: "",
    text: `
      -- All texts have the same parameters, but not every text uses all of them.
      with parameters as (select $5::timestamptz, $6::uuid, $7::text, $8::uuid[], $9::uuid[], $10::uuid[])
      select distinct on (listed.id) listed.*
      from (${sources.map((source) => `(${source} order by found.id desc limit $2 + 1)`).join("\n      union all ")}) as listed
      order by listed.id desc
      limit $2 + 1`,
    values: [
      afterId,
      limit,
      filter.merchantId,
      filter.connectionId,
      now,
      filter.orderId,
      filter.text,
      scope?.merchantIds,
      scope?.connections.map(({ connectionId }) => connectionId),
      scope?.facilityIds,
    ],
  });
  return rows.map((row) => ({
    ...toOrderOwner(row),
    goods: { minor: row.goods_minor, currency: row.currency },
  }));
}
