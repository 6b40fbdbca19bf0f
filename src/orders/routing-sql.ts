import { recordChanges } from "../changes/record-changes.ts";
import type { OrderKey } from "../lifecycle/order.ts";
import {
  type ConnectionKey,
  type ConnectionKeyRow,
  connectionColumns,
  toConnectionKey,
} from "../platform/connection-key.ts";
import { merchantByMerchant, merchantsOf, searchReachable } from "../platform/database/citus.ts";
import { type Database, type Queryable, readToLimits } from "../platform/database/database.ts";
import { shareOf } from "../platform/run-in-turn.ts";
import type { OrderSelection } from "./changes/process-orders.ts";
import { lockOldestOrders } from "./orders-sql.ts";
import { listConnectionsWithOrders } from "./owners-sql.ts";

/** An accepted real order that has not been routed. */
export type UnroutedOrder = OrderKey & {
  readonly holdReasons: readonly string[];
  /** The country of the shipping address. */
  readonly countryCode: string;
  readonly currency: string;
  /** True if it lost a route because its address was corrected. Its shipping may have been charged then. */
  readonly wasRouted: boolean;
  /** `weightGrams` is the present weight of one unit of the product. */
  readonly lines: readonly {
    readonly id: string;
    readonly productId: string;
    readonly quantity: number;
    readonly weightGrams: number | null;
  }[];
};

/** Connections with orders that are due for routing. */
export const listConnectionsWithUnroutedOrders = (db: Queryable): Promise<ConnectionKey[]> =>
  listConnectionsWithOrders(db, {
    name: "list-connections-with-unrouted-orders",
    text: `
      select c.merchant_id, c.id as connection_id
      from connections c
      cross join lateral (
        select o.id
        from orders o
        where o.merchant_id = c.merchant_id and o.connection_id = c.id and ($1::uuid[] is null or o.merchant_id = any($1))
          and o.status = 'ACCEPTED' and not o.test_mode and o.routed_at is null
          and not o.hold_reasons && '{payment_failed,out_of_stock,address_unserviceable}'
        order by o.id
        limit 1) as oldest
      where ($1::uuid[] is null or c.merchant_id = any($1))
      order by oldest.id`,
    values: [],
  });

/**
 * Locks orders that are due for routing, of each connection its share of the oldest. Skips orders that are locked. Uses
 * orders_routing_due_idx.
 */
export const lockUnroutedOrders = (tx: Queryable, selection: OrderSelection): Promise<OrderKey[]> =>
  lockOldestOrders(tx, selection, {
    name: "lock-unrouted-orders",
    text: `
      select found.merchant_id, found.connection_id, found.id
      from unnest($1::uuid[], $2::uuid[]) as listed (merchant_id, connection_id)
      cross join lateral (
        select o.merchant_id, o.connection_id, o.id
        from orders o
        where o.merchant_id = listed.merchant_id and o.connection_id = listed.connection_id
          and o.status = 'ACCEPTED' and not o.test_mode and o.routed_at is null
          and not o.hold_reasons && '{payment_failed,out_of_stock,address_unserviceable}'
          and ($3::uuid[] is null or o.id = any($3)) and o.id <> all($4::uuid[])
          and ($6::uuid is null or o.merchant_id = $6)
        order by o.id
        limit $5
        for no key update skip locked) as found`,
  });

/**
 * Locks those orders that still wait for stock or for a rate. It waits for locked orders, or fails, because a skipped
 * order would not be evaluated again. All transactions lock orders in this order.
 */
export async function lockWaitingOrders(tx: Queryable, keys: readonly OrderKey[]): Promise<OrderKey[]> {
  const rows = await merchantByMerchant(tx, keys, (own, merchantId) =>
    tx.query<OrderKeyRow>({
      name: "lock-waiting-orders",
      text: `
        select o.merchant_id, o.connection_id, o.id
        from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as listed (merchant_id, connection_id, id)
        join orders o on o.merchant_id = listed.merchant_id and o.connection_id = listed.connection_id and o.id = listed.id
        where o.status = 'ACCEPTED' and not o.test_mode and o.routed_at is null
          and o.hold_reasons && '{out_of_stock,address_unserviceable}'
          and ($4::uuid is null or listed.merchant_id = $4)
        order by o.id
        for no key update of o`,
      values: [...connectionColumns(own), own.map(({ id }) => id), merchantId],
    }),
  );
  return rows.map(toOrderKey);
}

type OrderKeyRow = ConnectionKeyRow & { id: string };
const toOrderKey = (row: OrderKeyRow): OrderKey => ({ ...toConnectionKey(row), id: row.id });

/** Reads what routing needs of orders that the caller has locked, oldest first. */
export async function readUnroutedOrders(tx: Queryable, keys: readonly OrderKey[]): Promise<UnroutedOrder[]> {
  const rows = await tx.query<
    OrderKeyRow & {
      hold_reasons: string[];
      country_code: string;
      currency: string;
      was_routed: boolean;
      lines: UnroutedOrder["lines"];
    }
  >({
    name: "read-unrouted-orders",
    text: `
      select o.merchant_id, o.connection_id, o.id, o.hold_reasons, o.country_code, o.currency,
             o.first_routed_at is not null as was_routed,
             (select json_agg(json_build_object(
                       'id', l.id, 'productId', l.product_id, 'quantity', l.quantity, 'weightGrams', p.weight_grams)
                     order by l.id)
              from order_lines l
              join products p on p.merchant_id = l.merchant_id and p.id = l.product_id
              where l.merchant_id = o.merchant_id and l.order_id = o.id and l.cancellation_id is null
                and ($4::uuid[] is null or l.merchant_id = any($4))
                and ($4::uuid[] is null or p.merchant_id = any($4))) as lines
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as listed (merchant_id, connection_id, id)
      join orders o on o.merchant_id = listed.merchant_id and o.connection_id = listed.connection_id and o.id = listed.id
      where ($4::uuid[] is null or o.merchant_id = any($4))
      order by o.id`,
    values: [...connectionColumns(keys), keys.map(({ id }) => id), await merchantsOf(tx, keys)],
  });
  return rows.map((row) => ({
    ...toOrderKey(row),
    holdReasons: row.hold_reasons,
    countryCode: row.country_code,
    currency: row.currency,
    wasRouted: row.was_routed,
    lines: row.lines,
  }));
}

/** Stores the facilities of orders. A null means that there is no facility. The caller has locked the orders. */
export async function saveRoutes(
  tx: Queryable,
  routes: readonly { readonly order: OrderKey; readonly facilityId: string | null }[],
  now: Date,
): Promise<void> {
  if (routes.length === 0) return;
  await tx.query({
    name: "save-routes",
    text: `
      update orders o
      set facility_id = route.facility_id, routed_at = $5, changed_at = greatest(o.changed_at, $5)
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) as route (merchant_id, connection_id, id, facility_id)
      where o.merchant_id = route.merchant_id and o.connection_id = route.connection_id and o.id = route.id
        and ($6::uuid[] is null or o.merchant_id = any($6))`,
    values: [
      ...connectionColumns(routes.map(({ order }) => order)),
      routes.map(({ order }) => order.id),
      routes.map(({ facilityId }) => facilityId),
      now,
      await merchantsOf(
        tx,
        routes.map(({ order }) => order),
      ),
    ],
  });
  recordChanges(
    tx,
    now,
    routes.map(({ order: { merchantId, id } }) => ({
      merchantId,
      orderId: id,
      kind: "order",
      objectId: id,
      isTimed: true,
      events: ["order.readyToShip"],
    })),
  );
}

/** Waiting orders that one statement reads, whether they fit or not. */
const READ_MAX = 500;

type WaitingOrder = ConnectionKey & { readonly id: string };

/** The largest quantity of a product that one order can get. */
export type ProductSupply = { readonly productId: string; readonly unitsMax: number };

/** How far a scan through the waiting orders of a merchant has come. */
export type MerchantPosition = { readonly merchantId: string; readonly afterId: string };

/** Orders that fit, and by merchant how far its orders have been read: null if no order waits after them. */
export type MerchantsPage = {
  readonly orders: readonly WaitingOrder[];
  readonly ends: ReadonlyMap<string, string | null>;
};

/** A position in the list of the waiting orders of all merchants, which is sorted by merchant and id. */
export type WaitingPosition = { readonly merchantId: string; readonly orderId: string };

/**
 * Orders that fit, and how far the list has been read. `end` is null if no order waits after the given position.
 * `isWhole`: all merchants were searched. While a node of Citus is down, some are not.
 */
export type WaitingPage = {
  readonly orders: readonly WaitingOrder[];
  readonly end: WaitingPosition | null;
  readonly isWhole: boolean;
};

type Row = ConnectionKeyRow & { id: string; fits: boolean };

/**
 * Waiting orders of these merchants that contain any of the products, in no larger quantity than is available, the oldest of
 * each merchant first. Each merchant is read from its own position by orders_waiting_idx, and has an equal share of what a
 * statement reads (docs/design/fulfilment.md, "Waiting orders").
 */
export async function listOrdersWaitingForProducts(
  db: Database,
  positions: readonly MerchantPosition[],
  supplies: readonly ProductSupply[],
  limit: number,
): Promise<MerchantsPage> {
  if (positions.length === 0) return { orders: [], ends: new Map() };
  const share = shareOf(READ_MAX, positions.length);
  const rows = await readPage(db, {
    name: "list-orders-waiting-for-products",
    text: `
      select waiting.*
      from merchants m
      cross join lateral (
        select o.merchant_id, o.connection_id, o.id,
               exists (
                 select
                 from order_lines l
                 where l.merchant_id = o.merchant_id and l.order_id = o.id and l.product_id = any($4::uuid[])
                   and l.cancellation_id is null
                   and ($6::uuid[] is null or l.merchant_id = any($6))
                 group by l.product_id
                 having sum(l.quantity) <= ($5::integer[])[array_position($4::uuid[], l.product_id)]) as fits
        from orders o
        where o.merchant_id = m.id and o.id > ($2::uuid[])[array_position($1::uuid[], m.id)]
          and o.status = 'ACCEPTED' and not o.test_mode and o.routed_at is null
          and o.hold_reasons && '{out_of_stock,address_unserviceable}'
          and ($6::uuid[] is null or o.merchant_id = any($6))
        order by o.id
        limit $3) as waiting
      where m.id = any($1::uuid[])
      order by waiting.merchant_id, waiting.id`,
    values: [
      positions.map(({ merchantId }) => merchantId),
      positions.map(({ afterId }) => afterId),
      share,
      supplies.map(({ productId }) => productId),
      supplies.map(({ unitsMax }) => unitsMax),
      await merchantsOf(db, positions),
    ],
  });
  return merchantsPageOf(rows, positions, share, limit);
}

/** A merchant with an order that fits and is not on the page continues before it. */
function merchantsPageOf(
  rows: readonly Row[],
  positions: readonly MerchantPosition[],
  share: number,
  limit: number,
): MerchantsPage {
  const fitting = rows.filter(({ fits }) => fits);
  const left = new Set(fitting.slice(limit));
  const rowsOf = Map.groupBy(rows, (row) => row.merchant_id);
  const endOf = ({ merchantId, afterId }: MerchantPosition): string | null => {
    const own = rowsOf.get(merchantId) ?? [];
    const next = own.findIndex((row) => left.has(row));
    if (next === -1 && own.length < share) return null;
    return (next === -1 ? own : own.slice(0, next)).at(-1)?.id ?? afterId;
  };
  return {
    orders: fitting.slice(0, limit).map(toWaitingOrder),
    ends: new Map(positions.map((position) => [position.merchantId, endOf(position)])),
  };
}

/** An estimate of few orders for each merchant must not make PostgreSQL read and sort all those of a merchant that has many. */
const readPage = (db: Database, statement: Parameters<Database["query"]>[0]): Promise<Row[]> =>
  db.transaction(async (tx) => {
    await readToLimits(tx);
    return tx.query<Row>(statement);
  });

const toWaitingOrder = (row: Row): WaitingOrder => ({ ...toConnectionKey(row), id: row.id });

/**
 * Waiting orders to some countries, the oldest of each merchant first. A scan over all shards; uses orders_waiting_idx.
 */
export async function listOrdersWaitingForCountries(
  db: Database,
  after: WaitingPosition,
  countryCodes: readonly string[],
  limit: number,
): Promise<WaitingPage> {
  let isWhole = true;
  const rows = await searchReachable(db, "list-orders-waiting-for-countries", (merchants) => {
    isWhole = merchants === null;
    return readPage(db, {
      name: "list-orders-waiting-for-countries",
      text: `
        select o.merchant_id, o.connection_id, o.id, o.country_code = any($3::text[]) as fits
        from orders o
        where o.status = 'ACCEPTED' and not o.test_mode and o.routed_at is null
          and o.hold_reasons && '{out_of_stock,address_unserviceable}'
          and (o.merchant_id, o.id) > ($1, $2)
          and ($4::uuid[] is null or o.merchant_id = any($4))
        order by o.merchant_id, o.id
        limit 500`,
      values: [after.merchantId, after.orderId, countryCodes, merchants],
    });
  });
  return pageOf(rows, limit, isWhole);
}

/** Ends after the last order that was read, or after the last of the page if more of them fit. */
function pageOf(rows: readonly Row[], limit: number, isWhole: boolean): WaitingPage {
  const fitting = rows.filter(({ fits }) => fits);
  const last = fitting.length > limit ? fitting[limit - 1] : rows.at(-1);
  return {
    orders: fitting.slice(0, limit).map(toWaitingOrder),
    end: last ? { merchantId: last.merchant_id, orderId: last.id } : null,
    isWhole,
  };
}
