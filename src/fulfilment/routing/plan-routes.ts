import { ADDRESS_UNSERVICEABLE, OUT_OF_STOCK, type RoutingHoldReason } from "../../lifecycle/order.ts";
import type { UnroutedOrder } from "../../orders/routing-sql.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { Reservation } from "../../stock/reservations-sql.ts";
import type { Availability } from "../../stock/stock-sql.ts";
import type { Facility, Rate } from "../facilities-sql.ts";

/** An order and the facility chosen for it. */
export type ChosenFacility = { readonly order: UnroutedOrder; readonly choice: Choice };

/** An order that is routed. Its facility is null if there are no facilities. */
export type FacilityRoute = {
  readonly order: UnroutedOrder;
  readonly facilityId: string | null;
  readonly shippingMinor: bigint;
};

/** An order and the reason for its routing hold. Null means no hold. */
export type WantedHold = { readonly order: UnroutedOrder; readonly reason: RoutingHoldReason | null };

/**
 * The rows that routing stores for these orders.
 * @param choices for each order whose payment has not failed; the others lose their position among the waiting orders and are
 *   routed like new ones once they are paid (docs/design/fulfilment.md, "Waiting orders")
 */
export function planRoutes(
  orders: readonly UnroutedOrder[],
  choices: readonly ChosenFacility[],
): { readonly routes: readonly FacilityRoute[]; readonly holds: readonly WantedHold[] } {
  const reasons = new Map(
    choices.flatMap(({ order, choice }) => (choice.outcome === "held" ? [[order.id, choice.reason]] : [])),
  );
  return {
    routes: choices.flatMap(toRoute),
    holds: orders.map((order) => ({ order, reason: reasons.get(order.id) ?? null })),
  };
}

function toRoute({ order, choice }: ChosenFacility): FacilityRoute[] {
  switch (choice.outcome) {
    case "routed":
      return [{ order, facilityId: choice.facilityId, shippingMinor: choice.shippingMinor }];
    case "unrouted":
      return [{ order, facilityId: null, shippingMinor: 0n }];
    case "held":
      return [];
    default:
      return choice satisfies never;
  }
}

/** The stock to reserve for routed orders. Products that are made to order have no stock. */
export const reservationsFor = (routes: readonly FacilityRoute[], stocked: Availability): Reservation[] =>
  routes.flatMap(({ order, facilityId }) =>
    facilityId === null
      ? []
      : order.lines
          .filter(({ productId }) => stocked.has(productId))
          .map(({ id, productId, quantity }) => ({
            orderId: order.id,
            lineId: id,
            facilityId,
            productId,
            quantity,
          })),
  );

/** The part of an order on which the choice of its facility depends. */
export type RoutableOrder = {
  readonly countryCode: string;
  /** Shipping is charged in this currency. */
  readonly currency: string;
  readonly lines: readonly {
    readonly productId: string;
    readonly quantity: number;
    /** Weight of one unit; null counts as 0. */
    readonly weightGrams: number | null;
  }[];
};

export type RatedFacility = Pick<Facility, "id" | "countryCode"> & { readonly rates: readonly Rate[] };

export type Choice =
  | { readonly outcome: "routed"; readonly facilityId: string; readonly shippingMinor: bigint }
  /** There is no facility. The order is ready to ship without one, and its shipping is free. */
  | { readonly outcome: "unrouted" }
  | { readonly outcome: "held"; readonly reason: RoutingHoldReason };

/**
 * Chooses the facility that ships an order. It must have all lines in stock and a rate for the order. A facility in the
 * customer's country comes first, then the one with the cheapest shipping, then the oldest
 * (docs/design/fulfilment.md, "Choice of a facility"). If no facility has a rate, the order is unserviceable whatever the
 * stock, because waiting for stock would not help.
 */
export function chooseFacility(
  order: RoutableOrder,
  facilities: readonly RatedFacility[],
  availability: Availability,
): Choice {
  if (facilities.length === 0) return { outcome: "unrouted" };
  const weightGrams = weightOf(order);
  const serving = facilities.flatMap((facility) => {
    const rate = findRateBracket(facility.rates, order, weightGrams);
    return rate === undefined ? [] : { facility, shippingMinor: rate.priceMinor };
  });
  if (serving.length === 0) return { outcome: "held", reason: ADDRESS_UNSERVICEABLE };
  const wanted = unitsByProduct(order.lines);
  const [best] = serving
    .filter(({ facility }) => hasAll(facility.id, wanted, availability))
    .sort(
      (one, other) =>
        Number(other.facility.countryCode === order.countryCode) -
          Number(one.facility.countryCode === order.countryCode) ||
        compare(one.shippingMinor, other.shippingMinor) ||
        compare(one.facility.id, other.facility.id), // Ids sort by time.
    );
  return best === undefined
    ? { outcome: "held", reason: OUT_OF_STOCK }
    : { outcome: "routed", facilityId: best.facility.id, shippingMinor: best.shippingMinor };
}

/** Chooses for several orders in turn. Stock that an earlier order gets is not available to a later one. */
export function chooseFacilities<Order extends RoutableOrder>(
  orders: readonly Order[],
  facilities: readonly RatedFacility[],
  availability: Availability,
): { readonly order: Order; readonly choice: Choice }[] {
  const left = new Map([...availability].map(([id, byFacility]) => [id, new Map(byFacility)]));
  return orders.map((order) => {
    const choice = chooseFacility(order, facilities, left);
    if (choice.outcome !== "routed") return { order, choice };
    for (const [productId, quantity] of unitsByProduct(order.lines)) {
      const byFacility = left.get(productId);
      byFacility?.set(choice.facilityId, (byFacility.get(choice.facilityId) ?? 0) - quantity);
    }
    return { order, choice };
  });
}

/** Several lines can have the same product. */
function unitsByProduct(lines: RoutableOrder["lines"]): Map<string, number> {
  const units = new Map<string, number>();
  for (const { productId, quantity } of lines) units.set(productId, (units.get(productId) ?? 0) + quantity);
  return units;
}

const weightOf = ({ lines }: RoutableOrder): number =>
  lines.reduce((sum, { quantity, weightGrams }) => sum + quantity * (weightGrams ?? 0), 0);

/** A product with a stock record at any facility is out of stock at the facilities without one. */
const hasAll = (
  facilityId: string,
  wanted: ReadonlyMap<string, number>,
  availability: Availability,
): boolean =>
  [...wanted].every(([productId, quantity]) => {
    const byFacility = availability.get(productId);
    return byFacility === undefined || (byFacility.get(facilityId) ?? 0) >= quantity;
  });

const compare = <T extends bigint | string>(one: T, other: T): number =>
  Number(one > other) - Number(one < other);

/** The lightest rate bracket that covers a weight, to a country and in a currency. Undefined if there is none. */
const findRateBracket = (
  rates: readonly Rate[],
  { countryCode, currency }: Pick<Rate, "countryCode" | "currency">,
  weightGrams: number,
): Rate | undefined =>
  rates
    .filter((rate) => rate.countryCode === countryCode && rate.currency === currency)
    .filter((rate) => rate.maxWeightGrams >= weightGrams)
    .sort((one, other) => one.maxWeightGrams - other.maxWeightGrams)[0];

/** True if a facility has a rate for an order. */
export const servesOrder = ({ rates }: RatedFacility, order: RoutableOrder): boolean =>
  findRateBracket(rates, order, weightOf(order)) !== undefined;

/** The heaviest order to the country and in the currency of an order that a facility sends. Null if none sends any. */
export const heaviestServed = (
  { countryCode, currency }: RoutableOrder,
  facilities: readonly RatedFacility[],
): number | null =>
  facilities
    .flatMap(({ rates }) => rates)
    .filter((rate) => rate.countryCode === countryCode && rate.currency === currency)
    .reduce<number | null>((most, { maxWeightGrams }) => Math.max(most ?? 0, maxWeightGrams), null);

/** All facilities, with their rates to some countries. A closed one has none, so that no order is routed to it. */
export async function readRatedFacilities(
  db: Queryable,
  countryCodes: readonly string[],
): Promise<RatedFacility[]> {
  const rows = await db.query<{
    id: string;
    country_code: string;
    rates: { countryCode: string; currency: string; maxWeightGrams: number; priceMinor: string }[];
  }>({
    name: "read-rated-facilities",
    text: `
      select f.id, f.country_code,
             (select coalesce(json_agg(json_build_object(
                       'countryCode', r.country_code, 'currency', r.currency,
                       'maxWeightGrams', r.max_weight_grams, 'priceMinor', r.price_minor::text)), '[]')
              from facility_rates r
              where r.facility_id = f.id and f.closed_at is null and r.country_code = any($1::text[])) as rates
      from facilities f`,
    values: [countryCodes],
  });
  return rows.map((row) => ({
    id: row.id,
    countryCode: row.country_code,
    rates: row.rates.map((rate) => ({ ...rate, priceMinor: BigInt(rate.priceMinor) })),
  }));
}

/**
 * Prevents changes of rates and new facilities until the transaction ends. Only other routing can run at the same time.
 * It locks the table, because a new facility has no row to lock. A transaction that changes a facility or its rates, or
 * clears supply changes, waits for this lock without holding one that routing needs. So they cannot deadlock.
 *
 * Facilities are on each node of Citus, which passes the lock on to all of them. But all processes change them through the
 * coordinator, where they lock the table, too. So its lock is enough, and orders are put on hold while a node is down
 * (docs/design/distribution.md, "A node that is down").
 */
export async function lockRates(tx: Queryable): Promise<void> {
  if (await tx.isDistributed())
    await tx.query({
      name: "lock-on-the-coordinator-alone",
      text: "select set_config('citus.enable_ddl_propagation', 'off', true)",
      values: [],
    });
  await tx.query({
    name: "lock-rates",
    text: "lock table facilities in share mode",
    values: [],
  });
}
