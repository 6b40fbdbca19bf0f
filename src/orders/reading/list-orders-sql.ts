import type { Queryable } from "../../platform/database/database.ts";
import type { Money } from "../../platform/money.ts";
import type { ChangedPlace } from "../../platform/wire/cursor.ts";
import { OF_CONNECTION } from "../conditions-sql.ts";
import { type OrderOwner, type OrderOwnerRow, toOrderOwner } from "../owners-sql.ts";
import {
  CONNECTION_SHOWN,
  conditionsOf,
  connectionsOf,
  listValues,
  MERCHANT_SHOWN,
  merchantsInFilter,
  type OrderFilter,
  sortOf,
} from "./list-conditions-sql.ts";

/** An order of a list, with the value of its goods. */
export type ListedOrder = OrderOwner & {
  readonly id: string;
  readonly goods: Money;
  /** When anything that the back office shows of the order last changed. */
  readonly changedAt: Date;
};

export type ListedRow = OrderOwnerRow & { goods_minor: bigint; currency: string; changed_at: Date };

/** The columns of a `ListedRow`, of the order `found` and its owner. */
const LISTED_COLUMNS = `found.id, found.goods_minor, found.currency, found.changed_at, c.id as connection_id,
             c.name as connection_name, m.id as merchant_id, m.name as merchant_name`;

export const toListed = (row: ListedRow): ListedOrder => ({
  ...toOrderOwner(row),
  goods: { minor: row.goods_minor, currency: row.currency },
  changedAt: row.changed_at,
});

/** True if no index of a condition serves the filter: any status, on hold or not, ready or not. */
const isUnfiltered = ({ status, onHold, holdReason, ready, testMode }: OrderFilter): boolean =>
  status === null && onHold !== true && holdReason === null && ready !== true && !testMode;

/** One order more than the page, if there is one. `readTo`: reading ended there before the page was full. */
export type ListedOrders = { readonly orders: readonly ListedOrder[]; readonly readTo: string | null };

/** The end of the range, if it has one: a condition that every order meets would mislead the planner. @param id of the order */
export const endOf = ({ sort, createdSince, createdUntil }: OrderFilter, id = "o.id"): string => {
  if (sort === "newest") return createdSince === null ? "true" : `${id} >= $16`;
  return createdUntil === null ? "true" : `${id} < $16`;
};

/**
 * Names the merchants of a list at a table to a distributed database, which then asks only their nodes. $17 is null on a plain
 * PostgreSQL, as in `merchantsOf`.
 */
const onNodes = (merchant: string): string => `($17::uuid[] is null or ${merchant} = any($17))`;

/** The first orders of a merchant or a connection that match the filter. */
const firstOf = (filter: OrderFilter, scope: string): string => `(
          select o.id, o.connection_id, o.goods_minor, o.currency, o.changed_at
          from orders o
          where ${scope} and o.id ${sortOf(filter).after} $1 and ${endOf(filter)}
            and ${conditionsOf(filter, onNodes)} and ${onNodes("o.merchant_id")}
          order by o.id ${sortOf(filter).order}
          limit $2 + 1)`;

/** The first orders of the connection `c` of any status. */
const firstOfConnection = (filter: OrderFilter): string => `(
          select o.id, o.connection_id, o.goods_minor, o.currency, o.changed_at
          from order_requests r
          cross join lateral (
            select o.id, o.connection_id, o.goods_minor, o.currency, o.changed_at
            from orders o
            where o.merchant_id = c.merchant_id and o.id = r.order_id
              and ${conditionsOf(filter, onNodes)} and ${onNodes("o.merchant_id")}
            offset 0) as o
          where ${OF_CONNECTION} and not r.test_mode and ${onNodes("r.merchant_id")}
            and r.order_id ${sortOf(filter).after} $1 and ${endOf(filter, "r.order_id")}
          order by r.order_id ${sortOf(filter).order}
          limit $2 + 1)`;

const FOUND = `
        select ${LISTED_COLUMNS}`;

/** The first orders of each merchant, by the primary key. */
const fromMerchants = (filter: OrderFilter): string => `${FOUND}
      from merchants m
      cross join lateral ${firstOf(filter, "o.merchant_id = m.id")} as found
      join connections c on c.merchant_id = m.id and c.id = found.connection_id`;

/** The first orders of each connection, by the index of their status or of all. */
const fromConnections = (filter: OrderFilter): string => `${FOUND}
      from connections c
      join merchants m on m.id = c.merchant_id
      cross join lateral (
        ${isUnfiltered(filter) ? firstOfConnection(filter) : firstOf(filter, "o.merchant_id = c.merchant_id and o.connection_id = c.id")}) as found`;

const at = (facility: string): string =>
  `o.merchant_id = m.id and o.facility_id = ${facility} and ($4::uuid[] is null or o.connection_id = any($4))`;

/**
 * The first orders that are routed to each of these facilities, by orders_facility_idx. A part for each instead of a join with
 * their list, because Citus limits no part of a join with a list (docs/design/distribution.md, "Merchant by merchant").
 */
const fromFacilities = (filter: OrderFilter, facilities: readonly string[]): string => `${FOUND}
      from merchants m
      cross join lateral (
        ${facilities.map((facility) => firstOf(filter, at(facility))).join("\n        union all ")}) as found
      join connections c on c.merchant_id = m.id and c.id = found.connection_id`;

const REQUESTED = `${MERCHANT_SHOWN} and ${CONNECTION_SHOWN} and ${onNodes("m.id")} and ${onNodes("c.merchant_id")}`;

const facilitiesOf = ({ facilityIds }: NonNullable<OrderFilter["scope"]>): string[] =>
  facilityIds.map((_id, index) => `($15::uuid[])[${index + 1}]`);

/** The parts of the scope, each read by its own indexes. An order can be in several of them. */
function sourcesOf(filter: OrderFilter): string[] {
  const { scope, facilityId, connectionId } = filter;
  if (facilityId !== null && isUnfiltered(filter))
    return [`${fromFacilities(filter, ["$7::uuid"])} where ${REQUESTED}`];
  const ofAll = connectionId === null && isUnfiltered(filter) ? fromMerchants : fromConnections;
  if (scope === null) return [`${ofAll(filter)} where ${REQUESTED}`];
  return [
    ...(scope.merchantIds.length > 0 ? [`${ofAll(filter)} where ${REQUESTED} and m.id = any($13)`] : []),
    ...(scope.connections.length > 0
      ? [`${fromConnections(filter)} where ${REQUESTED} and c.id = any($14)`]
      : []),
    ...(scope.facilityIds.length > 0
      ? [`${fromFacilities(filter, facilitiesOf(scope))} where ${REQUESTED}`]
      : []),
  ];
}

/** The ids that orders of a list can have: from the first on, and before the second. */
export type IdRange = { readonly fromId: string; readonly untilId: string };

/** Where a page begins and its list ends, in the sequence of the list. */
export function boundsOf(
  { sort }: OrderFilter,
  afterId: string,
  { fromId, untilId }: IdRange,
): { readonly start: string; readonly farthest: string } {
  const isNewest = sort === "newest";
  const [nearest, farthest] = isNewest ? [untilId, fromId] : [fromId, untilId];
  return { start: afterId < nearest === isNewest ? afterId : nearest, farthest };
}

/**
 * Orders that match the filter. Returns one row more than the page if there is one. The first orders of each merchant,
 * connection or facility are read by an index, so the cost grows with their number, not with the number of orders.
 */
export async function listOrders(
  db: Queryable,
  filter: OrderFilter,
  { afterId, limit }: { afterId: string; limit: number },
  range: IdRange,
  now: Date,
): Promise<ListedOrder[]> {
  const sources = sourcesOf(filter);
  if (sources.length === 0) return [];
  const { start, farthest } = boundsOf(filter, afterId, range);
  const { order } = sortOf(filter);
  const rows = await db.query<ListedRow>({
    // Not a named statement: each set of filters has its own text.
    name: "",
    text: `
      with parameters as (
        select $1::uuid, $2::integer, $3::uuid[], $4::uuid[], $5::timestamptz, $6::text, $7::uuid, $8::text,
               $9::timestamptz, $10::timestamptz, $11::timestamptz, $12::timestamptz, $13::uuid[], $14::uuid[],
               $15::uuid[], $16::uuid, $17::uuid[])
      select distinct on (listed.id) listed.*
      from (${sources.map((source) => `(${source} order by found.id ${order} limit $2 + 1)`).join("\n      union all ")}) as listed
      order by listed.id ${order}
      limit $2 + 1`,
    values: [
      ...listValues(filter, start, limit, now),
      farthest,
      (await db.isDistributed()) ? merchantsInFilter(filter) : null,
    ],
  });
  return rows.map(toListed);
}

/**
 * How many merchants a list is about. They share what one statement may read. It is a statement of its own, because Citus
 * limits no part of a join by a value that it has to read first (docs/design/distribution.md, "Merchant by merchant").
 */
async function countMerchants(db: Queryable, filter: OrderFilter): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-merchants-of-list",
    text: "select count(*)::integer as count from merchants m where $1::uuid[] is null or m.id = any($1)",
    values: [merchantsInFilter(filter)],
  });
  return row?.count ?? 0;
}

export type ChangedOrders = {
  readonly orders: readonly ListedOrder[];
  /** The order up to which all of them were read, if that of one merchant ended before its list did. */
  readonly readTo: ChangedPlace | null;
};

type ChangedRow = { ended_at: Date | null; ended_id: string | null } & (ListedRow | { id: null });

/**
 * The orders that match the filter, in the order of their last changes, after a position: those of each merchant by
 * orders_changed_idx, up to a number of each, as in `listSparseOrders` (docs/design/api-conventions.md, "Sorted by change").
 */
export async function listChangedOrders(
  db: Queryable,
  filter: OrderFilter,
  after: ChangedPlace,
  limit: number,
  now: Date,
): Promise<ChangedOrders> {
  const rowsMax = Math.max(
    ROWS_OF_EACH_MIN,
    Math.floor(ROWS_OF_STATEMENT / Math.max(1, await countMerchants(db, filter))),
  );
  const rows = await db.query<ChangedRow>({
    name: "", // Each set of filters has its own text.
    text: `
      with parameters as (
        select $1::uuid, $2::integer, $3::uuid[], $4::uuid[], $5::timestamptz, $6::text, $7::uuid, $8::text,
               $9::timestamptz, $10::timestamptz, $11::timestamptz, $12::timestamptz, $13::uuid[], $14::uuid[],
               $15::uuid[], $16::timestamptz),
      read as materialized (
        select found.*, m.id as merchant_id
        from merchants m
        cross join lateral (
          select o.id, o.connection_id, o.goods_minor, o.currency, o.changed_at,
                 (${conditionsOf(filter)} and ($4::uuid[] is null or o.connection_id = any($4))) as fits,
                 row_number() over (partition by o.merchant_id order by o.changed_at, o.id) = ${rowsMax} as is_last
          from orders o
          where o.merchant_id = m.id and (o.changed_at, o.id) > ($16::timestamptz, $1::uuid)
          order by o.changed_at, o.id
          limit ${rowsMax}) as found
        where ${MERCHANT_SHOWN}),
      ended as materialized (
        select (array_agg(changed_at order by changed_at, id) filter (where is_last))[1] as ended_at,
               (array_agg(id order by changed_at, id) filter (where is_last))[1] as ended_id
        from read)
      select ended.ended_at, ended.ended_id, shown.*
      from ended
      left join (
        select found.id, found.goods_minor, found.currency, found.changed_at, c.id as connection_id,
               c.name as connection_name, m.id as merchant_id, m.name as merchant_name
        from read as found
        cross join ended
        join merchants m on m.id = found.merchant_id
        join connections c on c.merchant_id = found.merchant_id and c.id = found.connection_id
        where found.fits
          and (ended.ended_at is null or (found.changed_at, found.id) <= (ended.ended_at, ended.ended_id))
        order by found.changed_at, found.id
        limit $2 + 1) as shown on true
      order by shown.changed_at, shown.id`,
    values: [...listValues(filter, after.id, limit, now), after.changedAt],
  });
  const [first] = rows;
  return {
    orders: rows.flatMap((row) => (row.id === null ? [] : [toListed(row)])),
    readTo:
      first === undefined || first.ended_at === null || first.ended_id === null
        ? null
        : { changedAt: first.ended_at, id: first.ended_id },
  };
}

/** Orders that one statement reads, of all merchants or connections together. */
const ROWS_OF_STATEMENT = 20_000;
/** Of each merchant or connection at least so many are read, however many there are. */
const ROWS_OF_EACH_MIN = 50;

export type SparseOrders = {
  readonly orders: readonly ListedOrder[];
  readonly rowsRead: number;
  /** The order up to which all of them were read, if that of one ended before its range did. */
  readonly readTo: string | null;
};

/** Without an order the only row has the numbers alone. */
type Row = { rows_read: number; read_to: string | null } & (ListedRow | { id: null });

/** Reads the orders of merchants by the primary key. */
const OF_MERCHANTS = {
  from: "merchants m",
  shown: MERCHANT_SHOWN,
  merchant: "m.id",
  orders: "orders o",
  owns: "o.merchant_id = m.id",
  keyed: { merchant: "o.merchant_id", id: "o.id" },
};

/** Reads those of connections by order_requests_connection_idx, and not the others of their merchants. */
const OF_CONNECTIONS = {
  from: "connections c",
  shown: `${CONNECTION_SHOWN} and ($3::uuid[] is null or c.merchant_id = any($3))`,
  merchant: "c.merchant_id",
  orders: `order_requests r
          cross join lateral (
            select o.*
            from orders o
            where o.merchant_id = c.merchant_id and o.id = r.order_id
            offset 0) as o`,
  owns: OF_CONNECTION,
  keyed: { merchant: "r.merchant_id", id: "r.order_id" },
};

/**
 * The orders of a range of ids that match the filter. It reads all orders of the range, in the order of the list, up to a
 * number of each merchant, or of each connection if the filter names some. Where that ends for one, the orders of the others
 * beyond that are left out too.
 */
export async function listSparseOrders(
  db: Queryable,
  filter: OrderFilter,
  { afterId, limit }: { afterId: string; limit: number },
  { fromId, untilId }: IdRange,
  now: Date,
): Promise<SparseOrders> {
  const { after, upTo, order } = sortOf(filter);
  const connections = connectionsOf(filter);
  const { from, shown, merchant, orders, owns, keyed } = connections === null ? OF_MERCHANTS : OF_CONNECTIONS;
  const ownerCount = connections === null ? await countMerchants(db, filter) : connections.length;
  const rowsMax = Math.max(ROWS_OF_EACH_MIN, Math.floor(ROWS_OF_STATEMENT / Math.max(1, ownerCount)));
  const rows = await db.query<Row>({
    name: "", // Each set of filters has its own text.
    text: `
      with parameters as (
        select $1::uuid, $2::integer, $3::uuid[], $4::uuid[], $5::timestamptz, $6::text, $7::uuid, $8::text,
               $9::timestamptz, $10::timestamptz, $11::timestamptz, $12::timestamptz, $13::uuid[], $14::uuid[],
               $15::uuid[], $16::uuid, $17::uuid),
      read as materialized (
        select found.*, ${merchant} as merchant_id
        from ${from}
        cross join lateral (
          select o.id, o.connection_id, o.goods_minor, o.currency, o.changed_at, (${conditionsOf(filter)}) as fits,
                 row_number() over (partition by ${keyed.merchant} order by ${keyed.id} ${order}) = ${rowsMax} as is_last
          from ${orders}
          where ${owns} and ${keyed.id} ${after} $1 and ${keyed.id} >= $16 and ${keyed.id} < $17
          order by ${keyed.id} ${order}
          limit ${rowsMax}) as found
        where ${shown}),
      ended as materialized (
        select count(*)::integer as rows_read,
               (array_agg(id order by id ${order}) filter (where is_last))[1] as read_to
        from read)
      select ended.rows_read, ended.read_to, shown.*
      from ended
      left join (
        select found.id, found.goods_minor, found.currency, found.changed_at, c.id as connection_id,
               c.name as connection_name, m.id as merchant_id, m.name as merchant_name
        from read as found
        cross join ended
        join merchants m on m.id = found.merchant_id
        join connections c on c.merchant_id = found.merchant_id and c.id = found.connection_id
        where found.fits and (ended.read_to is null or found.id ${upTo} ended.read_to)
        order by found.id ${order}
        limit $2 + 1) as shown on true`,
    values: [...listValues(filter, afterId, limit, now), fromId, untilId],
  });
  const [first] = rows;
  return {
    orders: rows.flatMap((row) => (row.id === null ? [] : [toListed(row)])),
    rowsRead: first?.rows_read ?? 0,
    readTo: first?.read_to ?? null,
  };
}
