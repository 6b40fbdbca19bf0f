import { chargeShippings } from "../../ledger/charge-shipping.ts";
import { type RecordContext, SERVICE } from "../../lifecycle/applied-transition.ts";
import { hasFailedPayment } from "../../lifecycle/lifecycle.ts";
import { insertTimelineEntries } from "../../orders/changes/timeline-sql.ts";
import { readUnroutedOrders, saveRoutes, type UnroutedOrder } from "../../orders/routing/routing-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { insertReservations } from "../../stock/reservations-sql.ts";
import type { Availability } from "../../stock/stock.ts";
import { lockStock, moveStock, readAvailability } from "../../stock/stock-sql.ts";
import { chooseFacilities } from "./choose-facility.ts";
import { withoutRoutingHolds } from "./hold-transitions.ts";
import { type ChosenFacility, planRoutes, type Route, reservationsFor } from "./plan-routes.ts";
import { lockRates, readRatedFacilities } from "./rated-facilities-sql.ts";
import { setRoutingHolds } from "./set-routing-holds.ts";

/**
 * Gives each order a facility, reserves its stock there and charges its shipping, or puts the order on hold. The caller
 * has locked the orders. Its transaction stores everything or nothing.
 */
export async function assignFacilities(
  tx: Queryable,
  connection: ConnectionKey,
  orderIds: readonly string[],
  at: RecordContext,
): Promise<void> {
  const orders = await readUnroutedOrders(tx, connection, orderIds);
  const { choices, stocked } = await choose(
    tx,
    connection.merchantId,
    orders.filter((order) => !hasFailedPayment(order)),
  );
  const { routes, holds } = planRoutes(orders, choices);
  await setRoutingHolds(tx, connection, holds, at);
  if (routes.length > 0) await storeRoutes(tx, connection, routes, stocked, at);
}

async function choose(
  tx: Queryable,
  merchantId: string,
  orders: readonly UnroutedOrder[],
): Promise<{ choices: readonly ChosenFacility[]; stocked: Availability }> {
  const productIds = distinct(orders.flatMap(({ lines }) => lines.map((line) => line.productId)));
  const stocked = await readAvailability(tx, merchantId, await lockStock(tx, merchantId, productIds));
  const countries = distinct(orders.map((order) => order.countryCode));
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
  connection: ConnectionKey,
  routes: readonly Route[],
  stocked: Availability,
  at: RecordContext,
): Promise<void> {
  const facilities = routes.map(({ order, facilityId }) => ({ orderId: order.id, facilityId }));
  await saveRoutes(tx, connection, facilities, at.now);
  const reservations = reservationsFor(routes, stocked);
  await insertReservations(tx, connection, reservations);
  const moves = reservations.map((each) => ({ ...each, onHand: 0, reserved: each.quantity }));
  await moveStock(tx, connection.merchantId, moves, at.now);
  const charges = routes.map(({ order, shippingMinor }) => ({
    order: { merchantId: connection.merchantId, id: order.id },
    amountMinor: shippingMinor,
    currency: order.currency,
  }));
  await chargeShippings(tx, charges, at);
  const entries = routes.map(({ order }) => ({
    order: {
      merchantId: connection.merchantId,
      id: order.id,
      status: "ACCEPTED" as const, // Only accepted orders are routed.
      holdReasons: withoutRoutingHolds(order),
    },
    cause: { actor: SERVICE, operation: "route" },
    shipmentId: null,
  }));
  await insertTimelineEntries(tx, entries, at);
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)];
