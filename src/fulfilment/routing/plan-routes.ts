import type { RoutingHoldReason } from "../../lifecycle/hold-reasons.ts";
import type { UnroutedOrder } from "../../orders/routing/routing-sql.ts";
import type { Reservation } from "../../stock/reservations-sql.ts";
import type { Availability } from "../../stock/stock.ts";
import type { Choice } from "./choose-facility.ts";

/** An order and the facility that was chosen for it. */
export type ChosenFacility = { readonly order: UnroutedOrder; readonly choice: Choice };

/** An order that a facility ships, or that goes to the work list where there is no facility. */
export type Route = {
  readonly order: UnroutedOrder;
  readonly facilityId: string | null;
  readonly shippingMinor: bigint;
};

/** An order and the reason for which routing holds it from now on; null: it does not. */
export type WantedHold = { readonly order: UnroutedOrder; readonly reason: RoutingHoldReason | null };

/**
 * What routing stores for orders.
 * @param choices for all of these orders but those whose payment failed. These lose their position among the waiting
 * orders, and are routed like new ones once they are paid (decision 0046).
 */
export function planRoutes(
  orders: readonly UnroutedOrder[],
  choices: readonly ChosenFacility[],
): { readonly routes: readonly Route[]; readonly holds: readonly WantedHold[] } {
  const reasons = new Map(
    choices.flatMap(({ order, choice }) => (choice.outcome === "held" ? [[order.id, choice.reason]] : [])),
  );
  return {
    routes: choices.flatMap(toRoute),
    holds: orders.map((order) => ({ order, reason: reasons.get(order.id) ?? null })),
  };
}

function toRoute({ order, choice }: ChosenFacility): Route[] {
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
export const reservationsFor = (routes: readonly Route[], stocked: Availability): Reservation[] =>
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
