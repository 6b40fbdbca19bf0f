import type { RecordContext } from "../lifecycle/applied-transition.ts";
import { acceptanceOf, applyTransition } from "../lifecycle/lifecycle.ts";
import type { Order, OrderKey, ShipmentChange, Transition } from "../lifecycle/order.ts";
import { queueMail } from "../mail/mails-sql.ts";
import { readAccountEmail } from "../merchants/merchants-sql.ts";
import { inSeenOrder, type Staff, storeOutcome } from "../orders/changes/change-order.ts";
import {
  readShipRequest,
  type ShipRequest,
  toShip,
  toShipmentUpdate,
} from "../orders/changes/ship-request.ts";
import { storeTransitions } from "../orders/changes/store-transitions.ts";
import { withinTimeline } from "../orders/changes/timeline-sql.ts";
import { orderOrRefusal } from "../orders/changes/transition-order.ts";
import { readOrders } from "../orders/orders-sql.ts";
import type { OpenParcel } from "../orders/owners-sql.ts";
import { lockUnroutedOrders } from "../orders/routing-sql.ts";
import type { Context } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { NewId } from "../platform/ids.ts";
import { type Problem, validationFailed } from "../platform/wire/problems.ts";
import { findKnownTexts } from "./known-codes.ts";
import { findParcelsWithNumber, repeatedNumber } from "./repeated-numbers.ts";
import { assignFacilities } from "./routing/assign-facilities.ts";
import { newlyTracked, trackingMail } from "./tracking-mail.ts";

/** Creates a shipment of lines of a real order. The first one moves the order to IN_PROGRESS. */
export async function shipOrder(
  context: Context,
  staff: Staff,
  key: OrderKey,
  request: ShipRequest,
): Promise<Order | Problem> {
  const known = await findKnownTexts(context.db, key.merchantId, request);
  if (known.length > 0) return knownCodes(known);
  const { trackingNumber, repeatedTrackingNumber } = request;
  const parcels = await findParcelsWithNumber(context.db, staff, trackingNumber, repeatedTrackingNumber);
  const read = readShipRequest(request);
  return storeShipping(context, staff, key, (order, newId) => toShip(order, read, newId), parcels);
}

/** Adds tracking to a shipment of a real order, or changes its status. The first tracking makes it `shipped`. */
export async function updateShipment(
  context: Context,
  staff: Staff,
  key: OrderKey,
  shipmentId: string,
  { repeatedTrackingNumber, ...change }: ShipmentChange & Pick<ShipRequest, "repeatedTrackingNumber">,
): Promise<Order | Problem> {
  const { db } = context;
  const known = await findKnownTexts(db, key.merchantId, change);
  const parcels = await findParcelsWithNumber(db, staff, change.trackingNumber, repeatedTrackingNumber);
  const decide = (order: Order) => {
    const transition = toShipmentUpdate(order, shipmentId, change);
    const shipment = order.shipments.find(({ id }) => id === shipmentId);
    // A partner may have called an order like a number that the shipment has since.
    const unwanted = known.filter(({ field }) => transition.change[field] !== shipment?.[field]);
    return shipment !== undefined && unwanted.length > 0 ? knownCodes(unwanted) : transition;
  };
  return storeShipping<Problem>(context, staff, key, decide, parcels);
}

const knownCodes = (known: Awaited<ReturnType<typeof findKnownTexts>>): Problem =>
  validationFailed(
    known.map(({ field, knownAs }) => ({ pointer: `/${field}`, rule: "known_code", knownAs })),
  );

/**
 * Ships lines of a real order, or updates a shipment, as `decide` requests it of the order under the lock. `decide` sees the order
 * before it is routed, which changes no line.
 * @param parcels with which a new tracking number is not to be shared
 */
export function storeShipping<Other extends Problem | null>(
  context: Context,
  staff: Staff,
  key: OrderKey,
  decide: (order: Order, newId: NewId) => Transition | Other,
  parcels: readonly OpenParcel[],
): Promise<Order | Problem | Other> {
  return inSeenOrder<Order | Problem | Other>(context, staff, key, async (tx, stored, at, by) => {
    const transition = decide(stored, at.newId);
    if (transition === null || !("name" in transition)) return transition;
    const { name } = transition;
    const order = name === "ship" ? await prepareShipping(tx, stored, at) : stored;
    const applied = applyTransition(order, transition, at.now);
    const repeated = repeatedNumber(name, order, applied.order, parcels);
    if (repeated !== null) return repeated;
    const outcome = name === "ship" ? applied : await withinTimeline(tx, applied);
    await storeOutcome(tx, order, outcome, { operation: name, by }, at);
    await mailTracking(tx, order, outcome.order, at);
    return orderOrRefusal(name, outcome);
  });
}

/**
 * Voids a shipment that never left: its lines are unshipped again, and their goods are back in the stock and reserved
 * (docs/design/lifecycle.md, "Voided shipments"). A retry is safe: it changes nothing.
 */
export function voidShipment(
  context: Context,
  staff: Staff,
  key: OrderKey,
  shipmentId: string,
  detail: string | null,
): Promise<Order | Problem> {
  return inSeenOrder(context, staff, key, async (tx, order, at, by) => {
    const transition = { name: "voidShipment", shipmentId } as const;
    const outcome = await withinTimeline(tx, applyTransition(order, transition, at.now));
    await storeOutcome(tx, order, outcome, { operation: "voidShipment", by, detail }, at);
    return orderOrRefusal("voidShipment", outcome);
  });
}

/**
 * Does at once for one order what workers do within a second: stores an acceptance by the deadline, and routes the
 * order. So an order can be shipped right after its acceptance. The effect stays if the shipping is rejected.
 *
 * @param order locked by the transaction, and read under the lock
 * @returns the order after that
 */
async function prepareShipping(tx: Queryable, order: Order, { newId, now }: RecordContext): Promise<Order> {
  // What a route returns of the shipping is an effect of the correction of the address, which has asked for the proof.
  const at = { newId, now };
  const acceptance = acceptanceOf(order, at.now);
  if (acceptance !== null) await storeTransitions(tx, [acceptance], at);
  const accepted = acceptance?.after ?? order;
  if (accepted.status !== "ACCEPTED" || accepted.routedAt !== null) return accepted;
  const selection = { connections: [order], share: 1, only: [order.id], except: [] };
  const unrouted = await lockUnroutedOrders(tx, selection);
  if (unrouted.length === 0) return accepted;
  await assignFacilities(tx, unrouted, at);
  const [routed] = await readOrders(tx, order, [order.id]);
  return routed ?? accepted;
}

/**
 * Queues a mail with the carrier's tracking to the merchant's account address (specification, part 1), for each
 * shipment whose tracking has become known between two states of an order. The mail has the shipment's id, so there is
 * only one, however often the tracking changes.
 */
async function mailTracking(
  tx: Queryable,
  before: Order,
  after: Order,
  { now }: RecordContext,
): Promise<void> {
  const { merchantId, connectionId } = after;
  const tracked = newlyTracked(before, after);
  if (tracked.length === 0) return;
  const recipient = await readAccountEmail(tx, merchantId);
  for (const shipment of tracked)
    await queueMail(tx, {
      ...trackingMail(after, shipment),
      merchantId,
      connectionId,
      id: shipment.id,
      recipient,
      now,
    });
}
