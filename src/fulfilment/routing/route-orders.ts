import { isShippingPending } from "../../ledger/ledger.ts";
import { readLedger } from "../../ledger/ledger-sql.ts";
import { mayReturnShipping } from "../../ledger/shipping-charges.ts";
import { applyTransition, isChange } from "../../lifecycle/lifecycle.ts";
import { type Order, type OrderKey, ROUTING_HOLD_REASONS } from "../../lifecycle/order.ts";
import { changesAddress } from "../../lifecycle/parts.ts";
import { ADDRESS_CORRECTION, addressVersion, hasCorrectionsLeft } from "../../orders/address.ts";
import {
  type CanceledLines,
  type CancelLinesRequest,
  storeCancelLines,
} from "../../orders/cancellations/cancel-lines.ts";
import { inSeenOrder, type Staff, storeOutcome } from "../../orders/changes/change-order.ts";
import {
  type OrderBatch,
  type OrderFailure,
  type OrderSelection,
  processOrders,
} from "../../orders/changes/process-orders.ts";
import { orderOrRefusal, transitionRefused } from "../../orders/changes/transition-order.ts";
import type { AddressUpdate } from "../../orders/order-wire.ts";
import { readOrders } from "../../orders/orders-sql.ts";
import { lockUnroutedOrders, lockWaitingOrders } from "../../orders/routing-sql.ts";
import { type ConnectionKey, distinctConnections } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { limitLockWaits, type Queryable } from "../../platform/database/database.ts";
import { versionChanged } from "../../platform/wire/content-version.ts";
import { isProblem, type Problem, requireRecentAuthentication } from "../../platform/wire/problems.ts";
import { assignFacilities } from "./assign-facilities.ts";

/** Orders routed in one transaction, which locks the stock of all their products. */
export const ROUTED_TOGETHER_MAX = 100;

/**
 * Longest wait for the lock of a waiting order or of its stock, when a page of orders is routed together. A transaction
 * that keeps a lock longer must not delay the orders of all connections.
 */
const LOCK_WAIT_MS = 1_000;
/** The same for an order of a failed batch. It is shorter, because a hundred of them can wait for the same lock. */
const LOCK_WAIT_AGAIN_MS = 100;

/**
 * Routes the next batch of accepted orders of these connections; returns how many it evaluated. Orders that cannot be
 * stored are skipped and added to the run's failures.
 */
export async function routeDueOrders(
  context: Context,
  connections: readonly ConnectionKey[],
  failures: unknown[],
): Promise<number> {
  const batch = batchOf(connections, (tx, selection) => lockUnroutedOrders(tx, selection));
  return processOrders(context, batch, failures);
}

/**
 * Routes orders that wait for stock or for a rate, if that is possible now. Orders that wait no longer are left as they
 * are; orders that cannot be stored are skipped. Returns the failures.
 */
export async function routeWaitingOrders(
  context: Context,
  orders: readonly OrderKey[],
): Promise<OrderFailure[]> {
  if (orders.length === 0) return [];
  const byId = new Map(orders.map((order) => [order.id, order]));
  const batch = batchOf(distinctConnections(orders), (tx, { only }) =>
    lockWaitingOrders(
      tx,
      (only ?? []).flatMap((id) => byId.get(id) ?? []),
    ),
  );
  const failures: OrderFailure[] = [];
  await processOrders(context, batch, failures, orders);
  return failures;
}

const batchOf = (
  connections: readonly ConnectionKey[],
  lock: (tx: Queryable, selection: OrderSelection) => Promise<OrderKey[]>,
): OrderBatch<OrderKey> => ({
  connections,
  sizeMax: ROUTED_TOGETHER_MAX,
  done: "routed",
  async lock(tx, selection, again) {
    await limitLockWaits(tx, again ? LOCK_WAIT_AGAIN_MS : LOCK_WAIT_MS);
    return lock(tx, selection);
  },
  process: (tx, orders, at) => assignFacilities(tx, orders, at),
});

/**
 * Cancels units of a real order that cannot be delivered (docs/design/lifecycle.md, "Canceled lines"). An order that waits for stock is
 * routed in the same transaction if the facilities have what is left.
 */
export function cancelLines(
  context: Context,
  staff: Staff,
  key: OrderKey,
  request: CancelLinesRequest,
): Promise<CanceledLines | Problem> {
  return inSeenOrder<CanceledLines | Problem>(context, staff, key, async (tx, order, at, by) => {
    const canceled = await storeCancelLines(tx, order, request, at, by);
    if (isProblem(canceled) || canceled.replayed || !isWaiting(canceled.order)) return canceled;
    await assignFacilities(tx, [canceled.order], at);
    const [routed = canceled.order] = await readOrders(tx, order, [order.id]);
    return { order: routed, replayed: false };
  });
}

const isWaiting = ({ status, routedAt, holdReasons }: Order): boolean =>
  status === "ACCEPTED" &&
  routedAt === null &&
  ROUTING_HOLD_REASONS.some((each) => holdReasons.includes(each));

/**
 * Corrects the address of a real order that has not shipped (docs/design/lifecycle.md, "Corrected addresses"). If the country
 * changes, the order loses its route and its reservations, and an accepted order is routed again in the same transaction: no
 * other order gets its goods in between. A retry is safe: it changes nothing. If the address has another version than expected,
 * it is rejected (docs/design/api-conventions.md, "Expected versions"). A person needs recent authentication if shipping is
 * returned, or can be once the order no longer waits.
 */
export function correctOrderAddress(
  context: Context,
  staff: Staff,
  key: OrderKey,
  { countryCode, expectedVersion, ...texts }: AddressUpdate,
): Promise<Order | Problem> {
  const change = { ...texts, ...(countryCode !== undefined && { countryCode: countryCode.toUpperCase() }) };
  return inSeenOrder(context, staff, key, async (tx, order, at, by) => {
    if (changesAddress(order, change)) {
      const version = addressVersion(order.shippingAddress);
      if (expectedVersion !== undefined && expectedVersion !== version)
        return versionChanged("The fields of the address", version);
      if (!(await hasCorrectionsLeft(tx, order)))
        return transitionRefused(ADDRESS_CORRECTION, order, "too_many_corrections");
    }
    const ledger = await readLedger(tx, order, order.id); // No outcome is recorded under the lock.
    const isPending = isShippingPending(ledger);
    const correction = { name: ADDRESS_CORRECTION, change, isShippingPending: isPending } as const;
    const outcome = applyTransition(order, correction, at.now);
    const cause = { operation: ADDRESS_CORRECTION, by, detail: Object.keys(change).sort().join(", ") };
    await storeOutcome(tx, order, outcome, cause, at);
    const corrected = orderOrRefusal(ADDRESS_CORRECTION, outcome);
    if (isProblem(corrected)) return corrected;
    const isUnrouted = corrected.status === "ACCEPTED" && corrected.routedAt === null;
    if (!isUnrouted || !isChange(outcome)) return corrected;
    await assignFacilities(tx, [corrected], at);
    const [routed = corrected] = await readOrders(tx, corrected, [corrected.id]);
    // The order waits, and a job will route it: what that returns is an effect of this request, too.
    const isElsewhere = corrected.shippingAddress.countryCode !== order.shippingAddress.countryCode;
    if (routed.routedAt === null && isElsewhere && mayReturnShipping(ledger)) requireRecentAuthentication(at);
    return routed;
  });
}
