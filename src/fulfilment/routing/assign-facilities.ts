import { adjustShipping } from "../../ledger/adjust-shipping.ts";
import { chargeShippings } from "../../ledger/charge-shipping.ts";
import { type RecordContext, SERVICE } from "../../lifecycle/applied-transition.ts";
import { hasFailedPayment } from "../../lifecycle/lifecycle.ts";
import type { OrderKey } from "../../lifecycle/order.ts";
import { readUnroutedOrders, saveRoutes, type UnroutedOrder } from "../../orders/routing/routing-sql.ts";
import { insertTimelineEntries } from "../../orders/timeline/timeline-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { insertReservations } from "../../stock/reservations-sql.ts";
import type { Availability, ProductKey } from "../../stock/stock.ts";
import { lockStock, moveReserved, readAvailability } from "../../stock/stock-sql.ts";
import { chooseFacilities } from "./choose-facility.ts";
import { withoutRoutingHolds } from "./hold-transitions.ts";
import { type ChosenFacility, planRoutes, type Route, reservationsFor } from "./plan-routes.ts";
import { lockRates, readRatedFacilities } from "./rated-facilities-sql.ts";
import { setRoutingHolds } from "./set-routing-holds.ts";

/**
 * Gives each order a facility, reserves its stock there and charges its shipping, or puts the order on hold. The caller
 * has locked the orders. Its transaction stores everything or nothing. Returns the connections that have deliveries to
 * send: holds are published, routes are not.
 */
export async function assignFacilities(
  tx: Queryable,
  keys: readonly OrderKey[],
  at: RecordContext,
): Promise<ConnectionKey[]> {
  const orders = await readUnroutedOrders(tx, keys);
  const { choices, stocked } = await choose(
    tx,
    orders.filter((order) => !hasFailedPayment(order)),
  );
  const { routes, holds } = planRoutes(orders, choices);
  const sending = await setRoutingHolds(tx, holds, at);
  if (routes.length > 0) await storeRoutes(tx, routes, stocked, at);
  return sending;
}

async function choose(
  tx: Queryable,
  orders: readonly UnroutedOrder[],
): Promise<{ choices: readonly ChosenFacility[]; stocked: Availability }> {
  const stocked = await readAvailability(tx, await lockStock(tx, productsOf(orders)));
  const countries = [...new Set(orders.map((order) => order.countryCode))];
  const chooseByRates = async () =>
    chooseFacilities(orders, await readRatedFacilities(tx, countries), stocked);
  const choices = await chooseByRates();
  if (choices.every(({ choice }) => choice.outcome !== "held")) return { choices, stocked };
  // A change of rates that commits before the hold is visible would not find the order, which would miss it.
  // So holds are decided under a lock on the rates. Other choices need no lock, and do not block changes of rates.
  await lockRates(tx);
  return { choices: await chooseByRates(), stocked };
}

async function storeRoutes(
  tx: Queryable,
  routes: readonly Route[],
  stocked: Availability,
  at: RecordContext,
): Promise<void> {
  await saveRoutes(tx, routes, at.now);
  const merchants = new Map(routes.map(({ order }) => [order.id, order.merchantId]));
  const reservations = reservationsFor(routes, stocked).map((each) => ({
    ...each,
    merchantId: merchants.get(each.orderId) ?? "", // Each reservation is for one of these routes.
  }));
  await insertReservations(tx, reservations);
  const moves = reservations.map((each) => ({ ...each, reserved: each.quantity }));
  await moveReserved(tx, moves, at.now);
  await chargeRoutes(tx, routes, at);
  const entries = routes.map(({ order }) => ({
    order: {
      merchantId: order.merchantId,
      id: order.id,
      status: "ACCEPTED" as const, // Only accepted orders are routed.
      holdReasons: withoutRoutingHolds(order),
    },
    cause: { actor: SERVICE, operation: "route" },
    shipmentId: null,
  }));
  await insertTimelineEntries(tx, entries, at);
}

/** Orders that were routed before are few: each had its address corrected. */
async function chargeRoutes(tx: Queryable, routes: readonly Route[], at: RecordContext): Promise<void> {
  const charges = routes.map(({ order, shippingMinor }) => ({
    order,
    amountMinor: shippingMinor,
    currency: order.currency,
  }));
  await chargeShippings(
    tx,
    charges.filter(({ order }) => !order.wasRouted),
    at,
  );
  for (const charge of charges.filter(({ order }) => order.wasRouted)) await adjustShipping(tx, charge, at);
}

/** The products of orders, each once. */
const productsOf = (orders: readonly UnroutedOrder[]): ProductKey[] => [
  ...new Map(
    orders.flatMap(({ merchantId, lines }) =>
      lines.map(({ productId }) => [`${merchantId} ${productId}`, { merchantId, id: productId }] as const),
    ),
  ).values(),
];
