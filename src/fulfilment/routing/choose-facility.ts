import { ADDRESS_UNSERVICEABLE, OUT_OF_STOCK, type RoutingHoldReason } from "../../lifecycle/hold-reasons.ts";
import type { Availability } from "../../stock/stock.ts";
import type { Facility, Rate } from "../facilities/facility.ts";
import { findRateBracket } from "./rate-brackets.ts";

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
 * customer's country comes first, then the one with the cheapest shipping, then the oldest (decision 0044). If no
 * facility has a rate, the order is unserviceable whatever the stock, because waiting for stock would not help.
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
