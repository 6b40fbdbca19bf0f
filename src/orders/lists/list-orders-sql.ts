import { ORDER_STATUSES, type OrderStatus } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { PagePosition } from "../../platform/wire/cursor.ts";
import { ACCEPTANCE_SUSPENDED, AWAITS_ACCEPTANCE, acceptanceDue } from "../conditions-sql.ts";

/** The connection and the merchant that an order belongs to. */
export type OrderOwner = {
  readonly connectionId: string;
  readonly connectionName: string;
  readonly merchantId: string;
  readonly merchantName: string;
};

/** Which orders are listed. A null restricts nothing. */
export type OrderFilter = {
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

type OwnerRow = {
  id: string;
  connection_id: string;
  connection_name: string;
  merchant_id: string;
  merchant_name: string;
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
          select o.id, o.connection_id
          from orders o
          where ${scope} and o.id < $1 and ${part}
            and ${conditionsOf(filter).join("\n            and ")}
          order by o.id desc
          limit $2 + 1)`;

/** The newest orders of each merchant, by the primary key. */
const fromMerchants = (filter: OrderFilter): string => `
      from merchants m
      cross join lateral ${newestOf(filter, "o.merchant_id = m.id")} as found
      join connections c on c.merchant_id = m.id and c.id = found.connection_id`;

/** The newest orders of each connection, by the indexes that begin with the connection. */
const fromConnections = (filter: OrderFilter): string => `
      from connections c
      join merchants m on m.id = c.merchant_id
      cross join lateral (
        ${partsOf(filter)
          .map((part) => newestOf(filter, "o.merchant_id = c.merchant_id and o.connection_id = c.id", part))
          .join("\n        union all ")}) as found`;

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
 * newest orders of each merchant or connection are read by an index, so the cost grows with their number, not with the
 * number of orders.
 */
export async function listOrders(
  db: Queryable,
  filter: OrderFilter,
  { afterId, limit }: PagePosition,
  now: Date,
): Promise<(OrderOwner & { readonly id: string })[]> {
  const rows = await db.query<OwnerRow>({
    // Not a named statement: each set of filters has its own text.
    name: "",
    text: `
      -- All texts have the same parameters, but not every text uses all of them.
      with parameters as (select $5::timestamptz, $6::uuid, $7::text)
      select found.id, c.id as connection_id, c.name as connection_name, m.id as merchant_id, m.name as merchant_name
      ${filter.connectionId === null && isUnfiltered(filter) ? fromMerchants(filter) : fromConnections(filter)}
      where ($3::uuid is null or m.id = $3) and ($4::uuid is null or c.id = $4)
      order by found.id desc
      limit $2 + 1`,
    values: [afterId, limit, filter.merchantId, filter.connectionId, now, filter.orderId, filter.text],
  });
  return rows.map(toOwner);
}

/** The connection and merchant of an order, by the service's id. Null if there is none. A scan over all shards. */
export async function findOrderOwner(
  db: Queryable,
  orderId: string,
): Promise<(OrderOwner & { readonly id: string; readonly testMode: boolean }) | null> {
  const [row] = await db.query<OwnerRow & { test_mode: boolean }>({
    name: "find-order-owner",
    text: `
      select found.id, found.test_mode, c.id as connection_id, c.name as connection_name,
             m.id as merchant_id, m.name as merchant_name
      from merchants m
      cross join lateral (
        select o.id, o.connection_id, o.test_mode from orders o where o.merchant_id = m.id and o.id = $1 offset 0) as found
      join connections c on c.merchant_id = m.id and c.id = found.connection_id`,
    values: [orderId],
  });
  return row === undefined ? null : { ...toOwner(row), testMode: row.test_mode };
}

/** The same by the id of a shipment. */
export async function findOrderOfShipment(
  db: Queryable,
  shipmentId: string,
): Promise<(OrderOwner & { readonly id: string }) | null> {
  const [row] = await db.query<OwnerRow>({
    name: "find-order-of-shipment",
    text: `
      select s.order_id as id, c.id as connection_id, c.name as connection_name,
             m.id as merchant_id, m.name as merchant_name
      from shipments s
      join orders o on o.merchant_id = s.merchant_id and o.id = s.order_id
      join connections c on c.merchant_id = s.merchant_id and c.id = o.connection_id
      join merchants m on m.id = s.merchant_id
      where s.id = $1`,
    values: [shipmentId],
  });
  return row === undefined ? null : toOwner(row);
}

const toOwner = (row: OwnerRow): OrderOwner & { readonly id: string } => ({
  id: row.id,
  connectionId: row.connection_id,
  connectionName: row.connection_name,
  merchantId: row.merchant_id,
  merchantName: row.merchant_name,
});

/** What the merchant is charged for an order and for each of its lines, with the products of the lines. */
export type OrderPrices = {
  readonly goodsMinor: bigint;
  readonly currency: string;
  readonly lines: ReadonlyMap<
    string,
    { readonly sku: string; readonly name: string; readonly unitPriceMinor: bigint }
  >;
};

export async function readOrderPrices(
  db: Queryable,
  connection: ConnectionKey,
  orderId: string,
): Promise<OrderPrices> {
  const rows = await db.query<{
    goods_minor: bigint;
    currency: string;
    line_id: string;
    unit_price_minor: bigint;
    sku: string;
    name: string;
  }>({
    name: "read-order-prices",
    text: `
      select o.goods_minor, o.currency, l.id as line_id, l.unit_price_minor, p.sku, p.name
      from orders o
      join order_lines l on l.merchant_id = o.merchant_id and l.order_id = o.id
      join products p on p.merchant_id = $1 and p.id = l.product_id
      where o.merchant_id = $1 and o.connection_id = $2 and l.merchant_id = $1 and o.id = $3`,
    values: [connection.merchantId, connection.connectionId, orderId],
  });
  const [first] = rows;
  if (first === undefined) throw new Error("An order has at least one line.");
  return {
    goodsMinor: first.goods_minor,
    currency: first.currency,
    lines: new Map(
      rows.map((row) => [
        row.line_id,
        { sku: row.sku, name: row.name, unitPriceMinor: row.unit_price_minor },
      ]),
    ),
  };
}
