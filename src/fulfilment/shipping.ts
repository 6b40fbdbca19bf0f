import { roleOnOrder } from "../audit/grant.ts";
import type { RecordContext } from "../lifecycle/applied-transition.ts";
import { acceptanceOf, applyTransition } from "../lifecycle/lifecycle.ts";
import type { Order, OrderKey, ShipmentChange, Transition } from "../lifecycle/order.ts";
import { queueMails } from "../mail/mails-sql.ts";
import { readAccountEmail } from "../merchants/merchants-sql.ts";
import {
  type DecidedChange,
  inSeenOrder,
  type LockedContext,
  type Staff,
  storeOutcome,
  storeOutcomes,
} from "../orders/changes/change-order.ts";
import {
  readShipRequest,
  type ShipRequest,
  toShip,
  toShipmentUpdate,
} from "../orders/changes/ship-request.ts";
import { storeTransitions } from "../orders/changes/store-transitions.ts";
import { withinTimeline } from "../orders/changes/timeline-sql.ts";
import { orderOrRefusal } from "../orders/changes/transition-order.ts";
import { lockRealOrders, readOrdersByKey } from "../orders/orders-sql.ts";
import type { OpenParcel } from "../orders/owners-sql.ts";
import { lockUnroutedOrders } from "../orders/routing-sql.ts";
import { distinctConnections } from "../platform/connection-key.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { Owner } from "../platform/database/fair-share.ts";
import { groupCalls } from "../platform/database/group.ts";
import type { NewId } from "../platform/ids.ts";
import { notFound, type Problem, validationFailed } from "../platform/wire/problems.ts";
import { findKnownTexts, type KnownText } from "./known-codes.ts";
import {
  findParcelsWithNumber,
  newlyNumbered,
  type RequestedNumber,
  repeatedNumber,
} from "./repeated-numbers.ts";
import { assignFacilities } from "./routing/assign-facilities.ts";
import { newlyTracked, trackingMail } from "./tracking-mail.ts";

/** A request about the shipments of a real order. `Nothing` is null if there may be nothing to be done. */
export type ShippingRequest<Nothing extends null = never> = RequestedNumber & {
  readonly context: Context;
  readonly staff: Staff;
  readonly key: OrderKey;
  readonly carrier?: string | null | undefined;
  /**
   * The transition that it means for the order under the lock, or why it is refused. It may see the order before it is routed, which
   * changes no line. @param known what the service knows the carrier's texts as
   */
  readonly decide: (
    order: Order,
    newId: NewId,
    known: readonly KnownText[],
  ) => Transition | Problem | Nothing;
};

/**
 * Stores what a request means, and returns the order after it, or why it is refused. Requests of one caller that arrive together are
 * stored together, and take as many statements as one (docs/design/performance.md, "Shipments in groups").
 */
export const shippingStore = () =>
  groupCalls<ShippingRequest & { readonly owner: Owner }, Order | Problem>({
    name: "store shipping",
    run: (requests) => storeShipping<never>(requests),
    sizeMax: 100,
    concurrencyMax: 3,
    ownerOf: ({ owner }) => owner,
    oneOwnerEach: true,
  });

/** Creates a shipment of lines of a real order. The first one moves the order to IN_PROGRESS. */
export function toShipOrder(
  context: Context,
  staff: Staff,
  key: OrderKey,
  request: ShipRequest,
): ShippingRequest {
  const { carrier, trackingNumber, repeatedTrackingNumber } = request;
  const read = readShipRequest(request);
  return {
    ...{ context, staff, key, carrier, trackingNumber, repeatedTrackingNumber },
    decide: (order, newId, known) => (known.length > 0 ? knownCodes(known) : toShip(order, read, newId)),
  };
}

/** Completes an order of which every line has a shipment. */
export const toCompleteOrder = (context: Context, staff: Staff, key: OrderKey): ShippingRequest => ({
  ...{ context, staff, key },
  decide: () => ({ name: "complete" }),
});

/** Adds tracking to a shipment of a real order, or changes its status. The first tracking makes it `shipped`. */
export function toUpdateShipment(
  context: Context,
  staff: Staff,
  key: OrderKey,
  shipmentId: string,
  { repeatedTrackingNumber, ...change }: ShipmentChange & Pick<ShipRequest, "repeatedTrackingNumber">,
): ShippingRequest {
  const { carrier, trackingNumber } = change;
  return {
    ...{ context, staff, key, carrier, trackingNumber, repeatedTrackingNumber },
    decide(order, _newId, known) {
      const transition = toShipmentUpdate(order, shipmentId, change);
      const shipment = order.shipments.find(({ id }) => id === shipmentId);
      // A partner may have called an order like a number that the shipment has since.
      const unwanted = known.filter(({ field }) => transition.change[field] !== shipment?.[field]);
      return shipment !== undefined && unwanted.length > 0 ? knownCodes(unwanted) : transition;
    },
  };
}

const knownCodes = (known: readonly KnownText[]): Problem =>
  validationFailed(
    known.map(({ field, knownAs }) => ({ pointer: `/${field}`, rule: "known_code", knownAs })),
  );

/**
 * Stores requests of one caller in one transaction, in the order of the requests. One that is refused changes nothing and keeps no
 * other back. Those that name an order again follow in a transaction of their own, so that each sees what the last has stored.
 *
 * @returns an answer for each request
 */
export async function storeShipping<Nothing extends null = never>(
  requests: readonly ShippingRequest<Nothing>[],
): Promise<(Order | Problem | Nothing)[]> {
  const answers = new Map<ShippingRequest<Nothing>, Order | Problem | Nothing>();
  for (let left = requests; left.length > 0; ) {
    const once = [...new Map(left.toReversed().map((request) => [request.key.id, request])).values()];
    for (const [request, answer] of await storeOnce(once.toReversed())) answers.set(request, answer);
    left = left.filter((request) => !answers.has(request));
  }
  return requests.map((request) => answers.get(request) as Order | Problem | Nothing); // Each has one.
}

/** The requests name each order once. */
async function storeOnce<Nothing extends null>(
  requests: readonly ShippingRequest<Nothing>[],
): Promise<Map<ShippingRequest<Nothing>, Order | Problem | Nothing>> {
  const [first] = requests;
  const answers = new Map<ShippingRequest<Nothing>, Order | Problem | Nothing>();
  if (first === undefined) return answers;
  const { context } = first;
  const known = await findKnownTexts(
    context.db,
    requests.map(({ key: { merchantId }, carrier, trackingNumber }) => ({
      merchantId,
      carrier,
      trackingNumber,
    })),
  );
  const calls = requests.map((request, at) => ({ request, known: known[at] ?? [] }));
  const parcels = await findParcelsWithNumber(context.db, requests);
  const orders = await inTransaction(context, async (tx) => {
    const keys = requests.map(({ key }) => key);
    const locked = await lockRealOrders(tx, keys);
    // A person may have signed in twice, and has proved it again in one session only.
    const notRecent = requests.find(({ staff }) => staff.by.notRecent)?.staff.by.notRecent ?? null;
    const at = { ...context, now: context.clock.now(), notRecent };
    const orders = await prepareShipping(tx, locked, calls, at);
    const open = [...parcels];
    const changes: DecidedChange[] = [];
    for (const call of calls) {
      const decided = await decideShipping(tx, orders.get(call.request.key.id), call, open, at);
      const isChange = decided !== null && "outcome" in decided;
      if (isChange) changes.push(decided);
      answers.set(
        call.request,
        isChange ? orderOrRefusal(decided.cause.operation, decided.outcome) : decided,
      );
    }
    await storeOutcomes(tx, changes, at);
    await mailTracking(tx, changes, at);
    return [...orders.values()];
  });
  context.signals.send("deliveries_due", orders);
  context.signals.sendOrders(orders);
  return answers;
}

type ShippingCall<Nothing extends null> = {
  readonly request: ShippingRequest<Nothing>;
  readonly known: readonly KnownText[];
};

/** @param open the parcels that a new number is compared with; the new ones of this request are added */
async function decideShipping<Nothing extends null>(
  tx: Queryable,
  order: Order | undefined,
  { request: { staff, decide, repeatedTrackingNumber }, known }: ShippingCall<Nothing>,
  open: OpenParcel[],
  at: LockedContext,
): Promise<DecidedChange | Problem | Nothing> {
  const role = order === undefined ? null : roleOnOrder(staff.grants, order);
  if (order === undefined || role === null) return notFound("order");
  const transition = decide(order, at.newId, known);
  if (transition === null || !("name" in transition)) return transition;
  const { name } = transition;
  const applied = applyTransition(order, transition, at.now);
  const isMeant = repeatedTrackingNumber === true;
  const repeated = isMeant ? null : repeatedNumber(staff, name, order, applied.order, open);
  if (repeated !== null) return repeated;
  open.push(...newlyNumbered(order, applied.order));
  const outcome = name === "updateShipment" ? await withinTimeline(tx, applied) : applied;
  const by = { ...staff.by, actor: { ...staff.by.actor, kind: role } };
  return { order, outcome, cause: { operation: name, by } };
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
 * Does at once what workers do within a second: stores acceptances by the deadline, and routes the orders. So an order can be
 * shipped right after its acceptance. The effect stays if the shipping is rejected.
 *
 * @param orders locked by the transaction, and read under their locks
 * @returns the orders after that
 */
async function prepareShipping(
  tx: Queryable,
  orders: ReadonlyMap<string, Order>,
  calls: readonly ShippingCall<null>[],
  { newId, now }: RecordContext,
): Promise<ReadonlyMap<string, Order>> {
  // What a route returns of the shipping is an effect of the correction of the address, which has asked for the proof.
  const at = { newId, now };
  const unprepared = calls.flatMap(({ request: { key, staff, decide }, known }) => {
    const order = orders.get(key.id);
    if (order === undefined || roleOnOrder(staff.grants, order) === null || !isUnprepared(order, now))
      return [];
    const transition = decide(order, newId, known);
    return transition !== null && "name" in transition && transition.name === "ship" ? [order] : [];
  });
  if (unprepared.length === 0) return orders;
  const acceptances = unprepared.flatMap((order) => acceptanceOf(order, now) ?? []);
  await storeTransitions(tx, acceptances, at);
  const selection = {
    connections: distinctConnections(unprepared),
    share: unprepared.length,
    only: unprepared.map(({ id }) => id),
    except: [],
  };
  const unrouted = await lockUnroutedOrders(tx, selection);
  if (unrouted.length > 0) await assignFacilities(tx, unrouted, at);
  const prepared = await readOrdersByKey(tx, unprepared);
  return new Map([...orders, ...prepared.map((order) => [order.id, order] as const)]);
}

/** Whether the acceptance is not stored yet, or the route. */
const isUnprepared = (order: Order, now: Date): boolean =>
  acceptanceOf(order, now) !== null || (order.status === "ACCEPTED" && order.routedAt === null);

/**
 * Queues a mail with the carrier's tracking to the merchant's account address (specification, part 1), for each
 * shipment whose tracking has become known between two states of an order. The mail has the shipment's id, so there is
 * only one, however often the tracking changes.
 */
async function mailTracking(
  tx: Queryable,
  changes: readonly DecidedChange[],
  { now }: RecordContext,
): Promise<void> {
  const tracked = changes.flatMap(({ order: before, outcome: { order } }) =>
    newlyTracked(before, order).map((shipment) => ({ order, shipment })),
  );
  const recipients = new Map<string, string>();
  for (const { merchantId } of tracked.map(({ order }) => order))
    if (!recipients.has(merchantId)) recipients.set(merchantId, await readAccountEmail(tx, merchantId));
  await queueMails(
    tx,
    tracked.map(({ order, shipment }) => ({
      ...trackingMail(order, shipment),
      merchantId: order.merchantId,
      connectionId: order.connectionId,
      id: shipment.id,
      recipient: recipients.get(order.merchantId) ?? "", // Each was read above.
      now,
    })),
  );
}
