import { adjustShipping, chargeShippings } from "../../ledger/shipping-charges.ts";
import { type AppliedTransition, type RecordContext, SERVICE } from "../../lifecycle/applied-transition.ts";
import { appliedTransitions, applyTransition, hasFailedPayment } from "../../lifecycle/lifecycle.ts";
import { type Order, type OrderKey, ROUTING_HOLD_REASONS, type Transition } from "../../lifecycle/order.ts";
import { storeTransitions } from "../../orders/changes/store-transitions.ts";
import { insertTimelineEntries } from "../../orders/changes/timeline-sql.ts";
import { readOrdersByKey } from "../../orders/orders-sql.ts";
import { readUnroutedOrders, saveRoutes, type UnroutedOrder } from "../../orders/routing-sql.ts";
import { bookShippings } from "../../payments/account/account.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { Unproved } from "../../platform/wire/problems.ts";
import { insertReservations } from "../../stock/reservations-sql.ts";
import {
  type Availability,
  lockStock,
  moveReserved,
  type ProductKey,
  readAvailability,
} from "../../stock/stock-sql.ts";
import {
  type ChosenFacility,
  chooseFacilities,
  type FacilityRoute,
  lockRates,
  planRoutes,
  readRatedFacilities,
  reservationsFor,
  type WantedHold,
} from "./plan-routes.ts";

/**
 * Gives each order a facility, reserves its stock there and charges its shipping, or puts the order on hold. The caller
 * has locked the orders. Its transaction stores everything or nothing. Returns the connections that have deliveries to
 * send: holds are published, routes are not.
 * @param at names the proof that a person lacks, if shipping that is returned is an effect of that person's request
 */
export async function assignFacilities(
  tx: Queryable,
  keys: readonly OrderKey[],
  at: RecordContext & Unproved,
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
  routes: readonly FacilityRoute[],
  stocked: Availability,
  at: RecordContext & Unproved,
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
  await chargeRoutes(tx, routes, at); // Last, because it locks the merchants' accounts.
}

/** Orders that were routed before are few: each had its address corrected. */
async function chargeRoutes(
  tx: Queryable,
  routes: readonly FacilityRoute[],
  at: RecordContext & Unproved,
): Promise<void> {
  const charges = routes.map(({ order, shippingMinor }) => ({
    order,
    amountMinor: shippingMinor,
    currency: order.currency,
  }));
  const first = charges.filter(({ order }) => !order.wasRouted);
  await chargeShippings(tx, await bookShippings(tx, first, at), at);
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

const PLACED_BY_ROUTING: readonly string[] = ROUTING_HOLD_REASONS;

/** An order's hold reasons, without those that routing sets and releases. */
export const withoutRoutingHolds = ({ holdReasons }: WantedHold["order"]): string[] =>
  holdReasons.filter((reason) => !PLACED_BY_ROUTING.includes(reason));

/** The transition that sets the hold that the order needs. Null if it already has it, or needs none. */
export const holdToAdd = ({ order, reason }: WantedHold): Extract<Transition, { name: "addHold" }> | null =>
  reason === null || order.holdReasons.includes(reason) ? null : { name: "addHold", reasons: [reason] };

/** The transition that releases the routing holds that the order no longer needs. Null if it has none. */
export function releaseOf({
  order,
  reason,
}: WantedHold): Extract<Transition, { name: "releaseHold" }> | null {
  const reasons = PLACED_BY_ROUTING.filter((known) => known !== reason && order.holdReasons.includes(known));
  return reasons.length === 0 ? null : { name: "releaseHold", reasons };
}

/**
 * Places and releases the holds of routing. All other hold reasons stay. A new reason is placed before the old one is
 * released, so that the order is never published as released in between. Reads only the orders that change, but these
 * whole, because their events contain the whole order. Returns the connections that have deliveries to send.
 */
async function setRoutingHolds(
  tx: Queryable,
  wanted: readonly WantedHold[],
  at: RecordContext,
): Promise<ConnectionKey[]> {
  const changing = new Map(
    wanted
      .filter((hold) => holdToAdd(hold) !== null || releaseOf(hold) !== null)
      .map((hold) => [hold.order.id, hold]),
  );
  const orders = await readOrdersByKey(
    tx,
    [...changing.values()].map(({ order }) => order),
  );
  const applied = orders.flatMap((order) => {
    const hold = changing.get(order.id);
    return hold === undefined ? [] : applyHold(order, hold, at.now);
  });
  return storeTransitions(tx, applied, at);
}

/** Each transition starts from the result of the one before it. */
function applyHold(order: Order, hold: WantedHold, now: Date): AppliedTransition[] {
  const applied: AppliedTransition[] = [];
  for (const transition of [holdToAdd(hold), releaseOf(hold)]) {
    if (transition === null) continue;
    const before = applied.at(-1)?.after ?? order;
    const outcome = applyTransition(before, transition, now);
    applied.push(...appliedTransitions(before, outcome, { actor: SERVICE, operation: transition.name }));
  }
  return applied;
}
