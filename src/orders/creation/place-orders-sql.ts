import type { Order } from "../../lifecycle/order.ts";
import type { ReviewPolicy } from "../../merchants/connection.ts";
import {
  type ConnectionKey,
  type ConnectionKeyRow,
  distinctConnections,
  toConnectionKey,
} from "../../platform/connection-key.ts";
import { merchantByMerchant } from "../../platform/database/citus.ts";
import { plainArray, type Queryable } from "../../platform/database/database.ts";
import type { EventRow } from "../../webhooks/events/event.ts";
import { addressColumns } from "../changes/save-orders-sql.ts";
import { searchWordsOf } from "../search-words.ts";

/** The facts about a product and its connection that an order needs. */
export type OrderableProduct = {
  readonly discontinued: boolean;
  readonly priceMinor: bigint;
  /** The merchant's currency, which all products of a connection have. */
  readonly currency: string;
  readonly reviewPolicy: ReviewPolicy;
  /** All of these as one text of the database, which changes with each of them. */
  readonly terms: string;
};

/** A product that an order has, and its connection. */
export type RequestedProduct = ConnectionKey & { readonly productId: string };

/** A product as a process has read it before. */
export type KnownProduct = RequestedProduct & OrderableProduct;

/** A new order, with the values that its rules do not need. */
export type NewOrder = {
  readonly order: Order;
  readonly idempotencyKey: string;
  readonly requestHash: Buffer;
  /** As in `x-request-id`. */
  readonly requestId: string | undefined;
  readonly goodsMinor: bigint;
  readonly currency: string;
  /** The merchant is charged for the goods at once. */
  readonly charge: boolean;
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
  requested: readonly RequestedProduct[],
): Promise<Map<string, KnownProduct>> {
  if (requested.length === 0) return new Map();
  const rows = await merchantByMerchant(db, requested, (own, merchantId) =>
    readProductsOf(db, own, merchantId),
  );
  return new Map(
    rows.map((row) => [
      productKey(row.connection_id, row.product_id),
      {
        ...toConnectionKey(row),
        productId: row.product_id,
        discontinued: row.status === "discontinued",
        priceMinor: row.price_minor,
        currency: row.currency,
        reviewPolicy: {
          maxQuantity: row.review_max_quantity,
          maxOrderValueMinor: row.review_max_order_value_minor,
          countries: row.review_countries,
        },
        terms: row.terms,
      },
    ]),
  );
}

const readProductsOf = (db: Queryable, requested: readonly RequestedProduct[], merchantId: string | null) =>
  db.query<
    ConnectionKeyRow & {
      product_id: string;
      status: string;
      price_minor: bigint;
      currency: string;
      review_max_quantity: number | null;
      review_max_order_value_minor: bigint | null;
      review_countries: string[] | null;
      terms: string;
    }
  >({
    name: "read-orderable-products",
    text: `
      select e.merchant_id, e.connection_id, e.product_id, p.status, p.price_minor, c.currency,
             c.review_max_quantity, c.review_max_order_value_minor, c.review_countries,
             row(p.status, p.price_minor, c.currency,
                 c.review_max_quantity, c.review_max_order_value_minor, c.review_countries)::text as terms
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as requested (merchant_id, connection_id, product_id)
      join exposed_products e on e.merchant_id = requested.merchant_id and e.connection_id = requested.connection_id
        and e.product_id = requested.product_id
      join connections c on c.merchant_id = requested.merchant_id and c.id = requested.connection_id
      join products p on p.merchant_id = requested.merchant_id and p.id = requested.product_id
      where e.withdrawn_at is null and ($4::uuid is null or requested.merchant_id = $4)`,
    values: [
      requested.map((product) => product.merchantId),
      requested.map(({ connectionId }) => connectionId),
      requested.map(({ productId }) => productId),
      merchantId,
    ],
  });

export type StoredOrders = {
  readonly ids: ReadonlySet<string>;
  /** The connections whose dispatchers have new deliveries to send. */
  readonly connectionsWithDeliveries: readonly ConnectionKey[];
};

type PlacedRow = { order_id: string; has_deliveries: boolean };

/**
 * Stores new orders with their lines, charges, first events and deliveries, by the function `place_orders`
 * (docs/design/creating-orders.md, "One function stores a group"). Returns which orders were stored. An order whose key or
 * external id is taken is left out: the unique constraints decide, also between processes
 * (docs/design/creating-orders.md, "Constraints decide"). So is one with a product that is no longer as it is known.
 * @param known the products that were not read for these orders (docs/design/creating-orders.md, "Known products")
 */
export async function insertOrders(
  db: Queryable,
  orders: readonly NewOrder[],
  known: readonly KnownProduct[],
  now: Date,
): Promise<StoredOrders> {
  if (orders.length === 0) return { ids: new Set(), connectionsWithDeliveries: [] };
  const keyed = orders.map((order) => ({ ...order, merchantId: order.order.merchantId }));
  const rows = await merchantByMerchant(db, keyed, (own, merchantId) => {
    const ownKnown =
      merchantId === null ? known : known.filter((product) => product.merchantId === merchantId);
    return insertOrdersOf(db, own, ownKnown, merchantId, now);
  });
  const withDeliveries = new Set(rows.flatMap((row) => (row.has_deliveries ? [row.order_id] : [])));
  return {
    ids: new Set(rows.map((row) => row.order_id)),
    connectionsWithDeliveries: distinctConnections(
      orders.flatMap(({ order: { id, merchantId, connectionId } }) =>
        withDeliveries.has(id) ? [{ merchantId, connectionId }] : [],
      ),
    ),
  };
}

function insertOrdersOf(
  db: Queryable,
  orders: readonly NewOrder[],
  known: readonly KnownProduct[],
  merchantId: string | null,
  now: Date,
): Promise<PlacedRow[]> {
  const lines = orders.flatMap(({ order, unitPricesMinor }) =>
    order.lines.map((line, index) => ({ ...line, order, unitPriceMinor: unitPricesMinor[index] })),
  );
  return db.query<PlacedRow>({
    name: "place-orders",
    text: `
      select order_id, has_deliveries
      from place_orders($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    values: [
      merchantId,
      JSON.stringify(orders.map(toInput)),
      orders.map(({ event }) => event.body).join("\n"),
      plainArray(lines.map(({ order }) => order.merchantId)),
      plainArray(lines.map(({ order }) => order.connectionId)),
      plainArray(lines.map(({ order }) => order.id)),
      plainArray(lines.map(({ id }) => id)),
      plainArray(lines.map(({ productId }) => productId)),
      plainArray(lines.map(({ quantity }) => quantity)),
      plainArray(lines.map(({ unitPriceMinor }) => String(unitPriceMinor))), // PostgreSQL rejects a missing one.
      now,
      plainArray(known.map((product) => product.merchantId)),
      plainArray(known.map(({ connectionId }) => connectionId)),
      plainArray(known.map(({ productId }) => productId)),
      known.map(({ terms }) => terms),
    ],
  });
}

/** An order in the form of the type `new_order`. */
function toInput(
  { order, idempotencyKey, requestHash, requestId, goodsMinor, currency, charge, event }: NewOrder,
  index: number,
) {
  return {
    merchant_id: order.merchantId,
    connection_id: order.connectionId,
    id: order.id,
    test_mode: order.testMode,
    external_order_id: order.externalOrderId,
    idempotency_key: idempotencyKey,
    request_hash: `\\x${requestHash.toString("hex")}`,
    request_id: requestId,
    status: order.status,
    goods_minor: goodsMinor.toString(),
    currency,
    ...addressColumns(order.shippingAddress),
    note: order.note,
    metadata: isEmpty(order.metadata) ? null : order.metadata,
    acceptance_due_at: order.acceptanceDueAt?.toISOString() ?? null,
    expires_at: order.expiresAt?.toISOString() ?? null,
    charge,
    event_id: event.id,
    event_type: event.type,
    words: searchWordsOf(order.shippingAddress, order.externalOrderId),
    number: index + 1,
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
      select e.merchant_id, e.connection_id, e.order_id as id, e.idempotency_key, e.external_order_id, e.request_hash,
             o.test_mode, o.expires_at
      from requested r
      join order_requests e on e.merchant_id = r.merchant_id and e.connection_id = r.connection_id
        and e.idempotency_key = r.idempotency_key
      join orders o on o.merchant_id = e.merchant_id and o.id = e.order_id
      union
      select e.merchant_id, e.connection_id, e.order_id, e.idempotency_key, e.external_order_id, e.request_hash,
             o.test_mode, o.expires_at
      from requested r
      join order_requests e on e.merchant_id = r.merchant_id and e.connection_id = r.connection_id
        and e.external_order_id = r.external_order_id
      join orders o on o.merchant_id = e.merchant_id and o.id = e.order_id`,
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
