import type { RoutingHoldReason } from "../../lifecycle/hold-reasons.ts";
import type { UnroutedOrder } from "../../orders/routing/routing-sql.ts";
import type { Reservation } from "../../stock/reservations-sql.ts";
import type { Availability } from "../../stock/stock.ts";
import type { Choice } from "./choose-facility.ts";

/** An order and the facility chosen for it. */
export type ChosenFacility = { readonly order: UnroutedOrder; readonly choice: Choice };

/** An order that is routed. Its facility is null if there are no facilities. */
export type Route = {
  readonly order: UnroutedOrder;
  readonly facilityId: string | null;
  readonly shippingMinor: bigint;
};

/** An order and the reason for its routing hold. Null means no hold. */
export type WantedHold = { readonly order: UnroutedOrder; readonly reason: RoutingHoldReason | null };

/**
 * What routing stores for these orders.
 * @param choices for each order whose payment has not failed; the others lose their position among the waiting orders
 *   and are routed like new ones once they are paid (decision 0046)
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
