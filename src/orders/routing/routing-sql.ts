import { amongMerchants, merchantsOf } from "../../distribution/among-merchants.ts";
import { merchantByMerchant, ofMerchant } from "../../distribution/merchant-by-merchant.ts";
import type { OrderKey } from "../../lifecycle/order.ts";
import {
  type ConnectionKey,
  type ConnectionKeyRow,
  connectionColumns,
  toConnectionKey,
} from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { lockOldestOrders } from "../changes/lock-orders-sql.ts";
import type { OrderSelection } from "../changes/process-orders.ts";
import { UNROUTED, WAITS_FOR_SUPPLY } from "../conditions-sql.ts";
import { listConnectionsWithOrders } from "../connections-with-orders-sql.ts";

/** An accepted real order that has not been routed. */
export type UnroutedOrder = OrderKey & {
  readonly holdReasons: readonly string[];
  /** The country of the shipping address. */
  readonly countryCode: string;
  readonly currency: string;
  /** Whether it lost a route because its address was corrected. Its shipping may have been charged then. */
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
    condition: UNROUTED,
    values: [],
    oldestBy: "id",
  });

/**
 * Locks orders that are due for routing, of each connection its share of the oldest. Skips orders that are locked. Uses
 * orders_routing_due_idx.
 */
export const lockUnroutedOrders = (tx: Queryable, selection: OrderSelection): Promise<OrderKey[]> =>
  lockOldestOrders(tx, selection, { name: "lock-unrouted-orders", condition: () => UNROUTED });

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
        where ${WAITS_FOR_SUPPLY} and ${ofMerchant("$4", "listed.merchant_id")}
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
              where l.merchant_id = o.merchant_id and l.order_id = o.id
                and ${amongMerchants("$4", "l.merchant_id")} and ${amongMerchants("$4", "p.merchant_id")}) as lines
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as listed (merchant_id, connection_id, id)
      join orders o on o.merchant_id = listed.merchant_id and o.connection_id = listed.connection_id and o.id = listed.id
      where ${amongMerchants("$4", "o.merchant_id")}
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
      set facility_id = route.facility_id, routed_at = $5
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) as route (merchant_id, connection_id, id, facility_id)
      where o.merchant_id = route.merchant_id and o.connection_id = route.connection_id and o.id = route.id
        and ${amongMerchants("$6", "o.merchant_id")}`,
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
}
