import { ADDRESS_UNSERVICEABLE, type Order, OUT_OF_STOCK } from "../../lifecycle/order.ts";
import { isOpen } from "../../lifecycle/parts.ts";
import { readUnroutedOrders, type UnroutedOrder } from "../../orders/routing-sql.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { readStockForOrder, type StockForOrder } from "../../stock/stock-sql.ts";
import { heaviestServed, type RatedFacility, readRatedFacilities, servesOrder } from "./plan-routes.ts";

/** A stocked product of an order that has not shipped, and where it is. */
export type NeededProduct = {
  readonly productId: string;
  readonly lineIds: readonly string[];
  /** Units that have not shipped. */
  readonly needed: number;
  /** Those with the most available units first, at most `SHOWN_FACILITIES_MAX`. */
  readonly facilities: readonly (StockForOrder & {
    /** Whether the facility has a rate for the order. */
    readonly serves: boolean;
  })[];
};

/** What the rates of facilities must cover. */
type Destination = {
  readonly countryCode: string;
  readonly currency: string;
  readonly weightGrams: number;
  /** The heaviest order that a facility sends there in this currency. Null if none sends any. */
  readonly maxWeightGrams: number | null;
};

/** Why routing holds an order. A null is no such hold. */
export type ExplainedHolds = {
  readonly products: readonly NeededProduct[] | null;
  readonly destination: Destination | null;
};

/**
 * Explains the holds of routing by what is stored now, which may have changed since an order was held
 * (docs/design/fulfilment.md, "What a hold needs").
 * @param facilityIds the facilities whose stock the caller sees. Null: all of them
 */
export async function explainHolds(
  db: Queryable,
  order: Order,
  facilityIds: readonly string[] | null,
): Promise<ExplainedHolds> {
  const lacksStock = order.holdReasons.includes(OUT_OF_STOCK);
  const lacksRate = order.holdReasons.includes(ADDRESS_UNSERVICEABLE);
  if (order.testMode || (!lacksStock && !lacksRate)) return { products: null, destination: null };
  const [routed] = await readUnroutedOrders(db, [order]);
  if (routed === undefined) return { products: null, destination: null };
  const rated = await readRatedFacilities(db, [routed.countryCode]);
  return {
    products: lacksStock ? await neededProducts(db, order, routed, rated, facilityIds) : null,
    destination: lacksRate
      ? {
          countryCode: routed.countryCode,
          currency: routed.currency,
          weightGrams: routed.lines.reduce(
            (sum, { quantity, weightGrams }) => sum + quantity * (weightGrams ?? 0),
            0,
          ),
          maxWeightGrams: heaviestServed(routed, rated),
        }
      : null,
  };
}

async function neededProducts(
  db: Queryable,
  order: Order,
  routed: UnroutedOrder,
  rated: readonly RatedFacility[],
  facilityIds: readonly string[] | null,
): Promise<NeededProduct[]> {
  const open = Map.groupBy(order.lines.filter(isOpen), ({ productId }) => productId);
  const stock = await readStockForOrder(db, order, [...open.keys()], facilityIds);
  const serving = new Set(rated.filter((facility) => servesOrder(facility, routed)).map(({ id }) => id));
  return [...open].flatMap(([productId, lines]) => {
    const facilities = stock.get(productId);
    if (facilities === undefined) return []; // It is made to order.
    return [
      {
        productId,
        lineIds: lines.map(({ id }) => id),
        needed: lines.reduce((sum, { quantity }) => sum + quantity, 0),
        facilities: facilities.map((at) => ({ ...at, serves: serving.has(at.facilityId) })),
      },
    ];
  });
}
