import type { EventRow } from "../../events/event.ts";
import { chargeGoods } from "../../ledger/ledger-sql.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { ReviewPolicy } from "../../merchants/review-policy.ts";
import {
  type ConnectionKey,
  type ConnectionKeyRow,
  distinctConnections,
  toConnectionKey,
} from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { fanOut } from "../../webhooks/publishing/fan-out-sql.ts";
import { addressColumns } from "../address/address-columns.ts";

/** What an order needs to know of a product and its connection. */
export type OrderableProduct = {
  readonly discontinued: boolean;
  readonly priceMinor: bigint;
  /** The merchant's currency, which all products of a connection have. */
  readonly currency: string;
  readonly reviewPolicy: ReviewPolicy;
};

/** A new order, with the values that its rules do not need. */
export type NewOrder = {
  readonly order: Order;
  readonly idempotencyKey: string;
  readonly requestHash: Buffer;
  /** As in `x-request-id`. */
  readonly requestId: string | undefined;
  readonly goodsMinor: bigint;
  readonly currency: string;
  /** One per line, in the order of the lines. */
  readonly unitPricesMinor: readonly bigint[];
  readonly event: EventRow;
};

/** An order that already has a requested key or external id. */
export type EarlierOrder = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly id: string;
  readonly idempotencyKey: string;
  readonly externalOrderId: string | null;
  readonly requestHash: Buffer;
  readonly testMode: boolean;
  readonly expiresAt: Date | null;
};

export const productKey = (connectionId: string, productId: string): string => `${connectionId} ${productId}`;

/** The requested products that are exposed to the connection, by `productKey`. */
export async function readOrderableProducts(
  db: Queryable,
  requested: readonly (ConnectionKey & { readonly productId: string })[],
): Promise<Map<string, OrderableProduct>> {
  const rows = await db.query<{
    connection_id: string;
    product_id: string;
    status: string;
    price_minor: bigint;
    currency: string;
    review_max_quantity: number | null;
    review_max_order_value_minor: bigint | null;
    review_countries: string[] | null;
  }>({
    name: "read-orderable-products",
    text: `
      select e.connection_id, e.product_id, p.status, p.price_minor, c.currency,
             c.review_max_quantity, c.review_max_order_value_minor, c.review_countries
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as requested (merchant_id, connection_id, product_id)
      join exposed_products e on e.merchant_id = requested.merchant_id and e.connection_id = requested.connection_id
        and e.product_id = requested.product_id
      join connections c on c.merchant_id = requested.merchant_id and c.id = requested.connection_id
      join products p on p.merchant_id = requested.merchant_id and p.id = requested.product_id
      where e.withdrawn_at is null`,
    values: [
      requested.map(({ merchantId }) => merchantId),
      requested.map(({ connectionId }) => connectionId),
      requested.map(({ productId }) => productId),
    ],
  });
  return new Map(
    rows.map((row) => [
      productKey(row.connection_id, row.product_id),
      {
        discontinued: row.status === "discontinued",
        priceMinor: row.price_minor,
        currency: row.currency,
        reviewPolicy: {
          maxQuantity: row.review_max_quantity,
          maxOrderValueMinor: row.review_max_order_value_minor,
          countries: row.review_countries,
        },
      },
    ]),
  );
}

export type StoredOrders = {
  readonly ids: ReadonlySet<string>;
  /** The connections whose dispatchers have new deliveries to send. */
  readonly connectionsWithDeliveries: readonly ConnectionKey[];
};

/**
 * Stores new orders with their lines, charges, first events and deliveries, in one statement. Returns which orders were
 * stored. An order whose key or external id is taken is left out: the unique constraints decide, also between processes
 * (decision 0005). Rows are inserted in the order of their keys, so that two groups with the same keys wait for each
 * other and do not deadlock.
 */
export async function insertOrders(
  db: Queryable,
  orders: readonly NewOrder[],
  now: Date,
): Promise<StoredOrders> {
  if (orders.length === 0) return { ids: new Set(), connectionsWithDeliveries: [] };
  const rows = await db.query<ConnectionKeyRow & { id: string; has_deliveries: boolean }>({
    name: "insert-orders",
    text: `
      with input as materialized (
        select *
        from json_to_recordset($1::json) as input (
          merchant_id uuid, connection_id uuid, id uuid, test_mode boolean, external_order_id text, idempotency_key text,
          request_hash text, request_id text, status text, goods_minor bigint, currency text,
          first_name text, last_name text, name text, company text, address1 text, address2 text,
          city text, zip text, state_code text, country_code text, phone text, note text, metadata json,
          created_at timestamptz, acceptance_due_at timestamptz, expires_at timestamptz,
          lines json, event_id uuid, event_type text, event_body text)
      ), placed as (
        insert into orders (
          merchant_id, connection_id, id, test_mode, external_order_id, idempotency_key, request_hash, request_id, status,
          hold_reasons, goods_minor, currency, first_name, last_name, name, company, address1, address2,
          city, zip, state_code, country_code, phone, note, metadata,
          created_at, updated_at, acceptance_due_at, expires_at, last_sequence)
        select merchant_id, connection_id, id, test_mode, external_order_id, idempotency_key, decode(request_hash, 'hex'),
               request_id, status, '{}', goods_minor, currency, first_name, last_name, name, company, address1, address2,
               city, zip, state_code, country_code, phone, note, metadata,
               created_at, created_at, acceptance_due_at, expires_at, 1
        from input
        order by merchant_id, connection_id, idempotency_key
        on conflict do nothing
        returning merchant_id, connection_id, id, test_mode, status, goods_minor, request_id, created_at
      ), placed_lines as (
        insert into order_lines (merchant_id, connection_id, order_id, id, product_id, quantity, unit_price_minor)
        select p.merchant_id, p.connection_id, p.id, l.id, l.product_id, l.quantity, l.unit_price_minor
        from placed p
        join input i on i.merchant_id = p.merchant_id and i.id = p.id
        cross join json_to_recordset(i.lines) as l (id uuid, product_id uuid, quantity integer, unit_price_minor bigint)
      ), published as (
        insert into events (merchant_id, connection_id, id, type, order_id, sequence, body, not_after)
        select p.merchant_id, p.connection_id, i.event_id, i.event_type, p.id, 1, i.event_body, i.expires_at
        from placed p
        join input i on i.merchant_id = p.merchant_id and i.id = p.id
        returning merchant_id, connection_id, id as event_id, type as event_type, order_id, sequence, not_after
      ), ${chargeGoods("placed")}, ${fanOut("published", "$2", null, true)}
      select p.id, p.merchant_id, p.connection_id,
             p.connection_id in (select h.connection_id from heads h) as has_deliveries
      from placed p`,
    values: [JSON.stringify(orders.map(toInput)), now],
  });
  return {
    ids: new Set(rows.map(({ id }) => id)),
    connectionsWithDeliveries: distinctConnections(
      rows.filter((row) => row.has_deliveries).map(toConnectionKey),
    ),
  };
}

function toInput({
  order,
  idempotencyKey,
  requestHash,
  requestId,
  goodsMinor,
  currency,
  unitPricesMinor,
  event,
}: NewOrder) {
  return {
    merchant_id: order.merchantId,
    connection_id: order.connectionId,
    id: order.id,
    test_mode: order.testMode,
    external_order_id: order.externalOrderId,
    idempotency_key: idempotencyKey,
    request_hash: requestHash.toString("hex"),
    request_id: requestId,
    status: order.status,
    goods_minor: goodsMinor.toString(),
    currency,
    ...addressColumns(order.shippingAddress),
    note: order.note,
    metadata: isEmpty(order.metadata) ? null : order.metadata,
    created_at: order.createdAt,
    acceptance_due_at: order.acceptanceDueAt,
    expires_at: order.expiresAt,
    lines: order.lines.map((line, index) => ({
      id: line.id,
      product_id: line.productId,
      quantity: line.quantity,
      unit_price_minor: unitPricesMinor[index]?.toString(),
    })),
    event_id: event.id,
    event_type: event.type,
    event_body: event.body,
  };
}

const isEmpty = (metadata: Order["metadata"]): boolean => Object.keys(metadata).length === 0;

/**
 * Orders of the connection that have one of the requested keys or external ids. There are two lookups, because the
 * planner would use neither unique index for one with `or`: without statistics it would read all orders of the
 * merchant.
 */
export async function readEarlierOrders(
  db: Queryable,
  requested: readonly (ConnectionKey & {
    readonly idempotencyKey: string;
    readonly externalOrderId: string | null;
  })[],
): Promise<EarlierOrder[]> {
  const rows = await db.query<{
    merchant_id: string;
    connection_id: string;
    id: string;
    idempotency_key: string;
    external_order_id: string | null;
    request_hash: Buffer;
    test_mode: boolean;
    expires_at: Date | null;
  }>({
    name: "read-earlier-orders",
    text: `
      with requested as materialized (
        select *
        from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[])
          as requested (merchant_id, connection_id, idempotency_key, external_order_id)
      )
      select o.merchant_id, o.connection_id, o.id, o.idempotency_key, o.external_order_id, o.request_hash, o.test_mode,
             o.expires_at
      from requested r
      join orders o on o.merchant_id = r.merchant_id and o.connection_id = r.connection_id
        and o.idempotency_key = r.idempotency_key
      union
      select o.merchant_id, o.connection_id, o.id, o.idempotency_key, o.external_order_id, o.request_hash, o.test_mode,
             o.expires_at
      from requested r
      join orders o on o.merchant_id = r.merchant_id and o.connection_id = r.connection_id
        and o.external_order_id = r.external_order_id`,
    values: [
      requested.map(({ merchantId }) => merchantId),
      requested.map(({ connectionId }) => connectionId),
      requested.map(({ idempotencyKey }) => idempotencyKey),
      requested.map(({ externalOrderId }) => externalOrderId),
    ],
  });
  return rows.map((row) => ({
    merchantId: row.merchant_id,
    connectionId: row.connection_id,
    id: row.id,
    idempotencyKey: row.idempotency_key,
    externalOrderId: row.external_order_id,
    requestHash: row.request_hash,
    testMode: row.test_mode,
    expiresAt: row.expires_at,
  }));
}
