import { chargeShippings } from "../../ledger/charge-shipping.ts";
import { type RecordContext, SERVICE } from "../../lifecycle/applied-transition.ts";
import { hasFailedPayment } from "../../lifecycle/lifecycle.ts";
import { failedOrders, goPastFailures, type OrderFailure } from "../../orders/changes/order-failure.ts";
import {
  limitLockWaits,
  lockUnroutedOrder,
  lockUnroutedOrders,
  lockWaitingOrders,
  readUnroutedOrders,
  saveRoutes,
  type UnroutedOrder,
} from "../../orders/changes/routing-sql.ts";
import { insertTimelineEntries } from "../../orders/changes/timeline-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { insertReservations } from "../../stock/reservations-sql.ts";
import type { Availability } from "../../stock/stock.ts";
import { lockStock, moveStock, readAvailability } from "../../stock/stock-sql.ts";
import { type Choice, chooseFacilities } from "./choose-facility.ts";
import { lockRates, readRatedFacilities } from "./rated-facilities-sql.ts";
import { setRoutingHolds, type WantedHold, withoutRoutingHolds } from "./routing-holds.ts";

/** Orders taken in one transaction: the stock of their products is locked for that long. */
const BATCH_SIZE = 100;

/**
 * Longest wait for a lock, be it of a waiting order or of its products' stock, when a page of them is tried together.
 * Whoever holds it longer must not keep the orders of all connections waiting.
 */
const LOCK_WAIT_MS = 1_000;
/** The same when an order of a failed batch is tried alone: a hundred of them may meet the same lock. */
const LOCK_WAIT_ALONE_MS = 100;

/**
 * Routes the next batch of a connection's accepted orders, past those that cannot be stored, which it adds to the
 * round's failures; answers how many it looked at.
 */
export async function routeDueOrders(
  context: Context,
  connection: ConnectionKey,
  failures: unknown[],
): Promise<number> {
  const except = failedOrders(failures, connection); // They are still due, and would come first again.
  let orderIds: string[] = [];
  try {
    await routeOrders(context, connection, async (tx) => {
      orderIds = await lockUnroutedOrders(tx, connection, except, BATCH_SIZE);
      return orderIds;
    });
  } catch (error) {
    const failed = await goPastFailures({ error, connection, orderIds, step: "routed" }, (orderId) =>
      routeOrders(context, connection, async (tx) => {
        await limitLockWaits(tx, LOCK_WAIT_ALONE_MS);
        return lockUnroutedOrder(tx, connection, orderId, { ifFree: true });
      }),
    );
    failures.push(...failed);
  }
  return orderIds.length;
}

/** Routes one order, if it is to be routed. */
export const routeOrder = (context: Context, connection: ConnectionKey, orderId: string): Promise<number> =>
  routeOrders(context, connection, (tx) => lockUnroutedOrder(tx, connection, orderId));

/**
 * Tries orders again that wait for stock or for a rate, past those that cannot be stored; those that wait no more are
 * left alone. Answers the failures.
 */
export async function routeWaitingOrders(
  context: Context,
  connection: ConnectionKey,
  orderIds: readonly string[],
): Promise<OrderFailure[]> {
  const route = (ids: readonly string[], lockWaitMs: number) =>
    routeOrders(context, connection, async (tx) => {
      await limitLockWaits(tx, lockWaitMs);
      return lockWaitingOrders(tx, connection, ids);
    });
  try {
    await route(orderIds, LOCK_WAIT_MS);
    return [];
  } catch (error) {
    return goPastFailures({ error, connection, orderIds, step: "routed" }, (orderId) =>
      route([orderId], LOCK_WAIT_ALONE_MS),
    );
  }
}

/**
 * Gives orders a facility: its stock is kept for them, and their shipping is charged; or puts them on hold. All of it
 * is one transaction, so an order is routed with its stock and its charge, or not at all.
 */
async function routeOrders(
  context: Context,
  connection: ConnectionKey,
  lockOrders: (tx: Queryable) => Promise<string[]>,
): Promise<number> {
  const count = await inTransaction(context, async (tx) => {
    const ids = await lockOrders(tx);
    if (ids.length === 0) return 0;
    const at = { newId: context.newId, now: context.clock.now() };
    const orders = await readUnroutedOrders(tx, connection, ids);
    const paying = orders.filter((order) => !hasFailedPayment(order));
    const { choices, stocked } = await choose(tx, connection.merchantId, paying);
    await setRoutingHolds(tx, connection, wantedHolds(orders, choices), at);
    await storeRoutes(tx, connection, choices.flatMap(toRoute), stocked, at);
    return ids.length;
  });
  if (count > 0) context.signals.send("deliveries_due", [connection]);
  return count;
}

type Chosen = { readonly order: UnroutedOrder; readonly choice: Choice };

async function choose(
  tx: Queryable,
  merchantId: string,
  orders: readonly UnroutedOrder[],
): Promise<{ choices: readonly Chosen[]; stocked: Availability }> {
  const productIds = distinct(orders.flatMap(({ lines }) => lines.map((line) => line.productId)));
  const stocked = await readAvailability(tx, merchantId, await lockStock(tx, merchantId, productIds));
  const countries = distinct(orders.map((order) => order.countryCode));
  const chooseByRates = async () =>
    chooseFacilities(orders, await readRatedFacilities(tx, countries), stocked);
  const choices = await chooseByRates();
  if (choices.every(({ choice }) => choice.outcome !== "held")) return { choices, stocked };
  // Rates that change right now would be news before the hold is there for it to find, and the order would wait for
  // ever. So a hold is decided under a lock; all other orders do without, as they would only keep rates from changing.
  await lockRates(tx);
  return { choices: await chooseByRates(), stocked };
}

/** An order that goes to a facility, or to the work list where there is none. */
type Route = {
  readonly order: UnroutedOrder;
  readonly facilityId: string | null;
  readonly shippingMinor: bigint;
};

function toRoute({ order, choice }: Chosen): Route[] {
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

async function storeRoutes(
  tx: Queryable,
  connection: ConnectionKey,
  routes: readonly Route[],
  stocked: Availability,
  at: RecordContext,
): Promise<void> {
  if (routes.length === 0) return;
  await saveRoutes(
    tx,
    connection,
    routes.map(({ order, facilityId }) => ({ orderId: order.id, facilityId })),
    at.now,
  );
  const kept = routes.flatMap(({ order, facilityId }) =>
    facilityId === null ? [] : reservationsOf(order, facilityId, stocked),
  );
  await insertReservations(tx, connection, kept);
  await moveStock(
    tx,
    connection.merchantId,
    kept.map((each) => ({ ...each, onHand: 0, reserved: each.quantity })),
    at.now,
  );
  const charges = routes.map(({ order, shippingMinor }) => ({
    order: { merchantId: connection.merchantId, id: order.id },
    amountMinor: shippingMinor,
    currency: order.currency,
  }));
  await chargeShippings(tx, charges, at);
  const steps = routes.map(({ order }) => ({
    actor: SERVICE,
    operation: "route",
    orderId: order.id,
    status: "ACCEPTED" as const,
    holdReasons: withoutRoutingHolds(order),
  }));
  await insertTimelineEntries(tx, connection, steps, at);
}

/** Products that are made to order have no stock to be kept. */
const reservationsOf = (order: UnroutedOrder, facilityId: string, stocked: Availability) =>
  order.lines
    .filter(({ productId }) => stocked.has(productId))
    .map(({ id, productId, quantity }) => ({
      ...{ orderId: order.id, lineId: id },
      ...{ facilityId, productId, quantity },
    }));

/**
 * An order whose payment failed has no choice: it gives up its place among those that wait, and is routed like a new
 * one once it is paid for (decision 0046).
 */
function wantedHolds(orders: readonly UnroutedOrder[], choices: readonly Chosen[]): WantedHold[] {
  const held = new Map(
    choices.flatMap(({ order, choice }) => (choice.outcome === "held" ? [[order.id, choice.reason]] : [])),
  );
  return orders.map((order) => ({ order, reason: held.get(order.id) ?? null }));
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)];
