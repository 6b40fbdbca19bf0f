import { type Static, Type } from "typebox";
import { applyTransition, isChange } from "../../lifecycle/lifecycle.ts";
import { type Order, type OrderRef, OUT_OF_STOCK, type Transition } from "../../lifecycle/order.ts";
import { SANDBOX_TRANSITIONS } from "../../lifecycle/possible-transitions.ts";
import { readLimitOverrides } from "../../merchants/connections-sql.ts";
import { limitReached, maximumOf } from "../../merchants/limits.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { fromTypeId, type NewId } from "../../platform/ids.ts";
import { isProblem, notFound, type Problem, validationFailed } from "../../platform/wire/problems.ts";
import { enumeration } from "../../platform/wire/schemas.ts";
import { lockOrder } from "../orders-sql.ts";
import {
  byPartner,
  inOrderTransaction,
  type LockedContext,
  type Requester,
  storeOutcome,
} from "./change-order.ts";
import {
  holdReasonsField,
  namedShipment,
  type ReadShipRequest,
  readShipRequest,
  shipFields,
  shipmentChangeFields,
  shipmentErrors,
  shipmentIdField,
  toShip,
  toShipmentUpdate,
} from "./ship-request.ts";
import { countTimelineEntries } from "./timeline-sql.ts";
import { orderOrRefusal } from "./transition-order.ts";

export const SANDBOX_TRANSITIONS_TEXT =
  "`process`, `accept`, `complete` and `cancel` set the status PROCESSING, ACCEPTED, COMPLETED and CANCELED. `hold` and `releaseHold` place and clear a hold. `ship` creates a shipment: `shipped` if it has a tracking number or address, else `pending`. `complete` makes pending shipments `shipped`. `returnShipment` records that a shipment has come back.";

export const TestOrderTransitionSchema = enumeration(
  "TestOrderTransition",
  SANDBOX_TRANSITIONS,
  SANDBOX_TRANSITIONS_TEXT,
);

export const TransitionRequestSchema = Type.Object(
  {
    transition: TestOrderTransitionSchema,
    reasons: Type.Optional(
      holdReasonsField(
        "For `hold`: what must change before the order can proceed. Default: `out_of_stock`.",
        OUT_OF_STOCK,
      ),
    ),
    ...shipFields("For `ship`: "),
    shipmentId: Type.Optional(
      shipmentIdField(
        "For `returnShipment`: the shipment that came back. Default: the most recent one that has not come back.",
      ),
    ),
  },
  { title: "TransitionRequest", description: "A transition of a test order." },
);
type TransitionRequest = Static<typeof TransitionRequestSchema>;

/**
 * POST /v1/test/orders/{orderId}/transitions. Specification, parts 3 and 4;
 * docs/design/lifecycle.md, "The sandbox" and "Rejected transitions". Test orders follow the same lifecycle as real orders. A
 * real order gets the same response as a missing one.
 */
export async function transitionTestOrder(
  context: Context,
  connection: ConnectionKey,
  ref: OrderRef,
  request: TransitionRequest,
  by: Requester,
): Promise<Order | Problem> {
  return inOrderTransaction(context, connection, ref, (tx, order, at) =>
    transitionLocked(tx, order, request, by, at),
  );
}

/** The same within a transaction, which has locked nothing that waits for an order. Signal it after the commit. */
export async function transitionTestOrderWithin(
  tx: Queryable,
  context: Context,
  connection: ConnectionKey,
  id: string,
  request: TransitionRequest,
): Promise<Order | Problem> {
  const order = await lockOrder(tx, connection, { id, testMode: true, externalOrderId: null }, context.clock);
  return transitionLocked(tx, order, request, byPartner(), { ...context, now: context.clock.now() });
}

async function transitionLocked(
  tx: Queryable,
  order: Order | undefined,
  request: TransitionRequest,
  by: Requester,
  at: LockedContext,
): Promise<Order | Problem> {
  if (!order?.testMode) return notFound("test order");
  const transition = toTransition(order, request, readShipRequest(request), at.newId);
  if (isProblem(transition)) return transition;
  const outcome = applyTransition(order, transition, at.now);
  const reached = isChange(outcome) ? await reachedLimit(tx, order) : null;
  if (reached !== null) return reached;
  await storeOutcome(tx, order, outcome, { operation: request.transition, by }, at);
  return orderOrRefusal(request.transition, outcome);
}

export const TrackingRequestSchema = Type.Object(shipmentChangeFields, {
  title: "TestTrackingRequest",
  description: "What a carrier reports of a shipment of a test order. Absent fields keep their values.",
});

/**
 * POST /v1/test/orders/{orderId}/shipments/{shipmentId}/tracking: what the warehouse does to a real shipment
 * (src/fulfilment/shipping.ts, toUpdateShipment), for a test order.
 */
export function trackTestShipment(
  context: Context,
  connection: ConnectionKey,
  named: { readonly ref: OrderRef; readonly shipmentId: string },
  change: Static<typeof TrackingRequestSchema>,
  by: Requester,
): Promise<Order | Problem> {
  const id = fromTypeId("shp", named.shipmentId);
  return inOrderTransaction(context, connection, named.ref, async (tx, order, at) => {
    if (!order?.testMode) return notFound("test order");
    if (id === null || !order.shipments.some((shipment) => shipment.id === id)) return notFound("shipment");
    const outcome = applyTransition(order, toShipmentUpdate(order, id, change), at.now);
    const reached = isChange(outcome) ? await reachedLimit(tx, order) : null;
    if (reached !== null) return reached;
    await storeOutcome(tx, order, outcome, { operation: "updateShipment", by }, at);
    return orderOrRefusal("updateShipment", outcome);
  });
}

/** Under the order's lock, so the limit is exact. A transition without an event counts, too: it adds to the timeline. */
async function reachedLimit(tx: Queryable, order: Order): Promise<Problem | null> {
  const overridesOf = await readLimitOverrides(tx, [order]);
  const maximum = maximumOf(overridesOf(order), "testOrderTransitions");
  const made = await countTimelineEntries(tx, order, maximum);
  return made >= maximum ? limitReached("testOrderTransitions", maximum) : null;
}

/** The transition, or an error for each part of the order that it names wrongly. Fields of other transitions are ignored. */
function toTransition(
  order: Order,
  { transition, reasons, shipmentId }: TransitionRequest,
  read: ReadShipRequest,
  newId: NewId,
): Transition | Problem {
  switch (transition) {
    case "hold":
      return { name: "hold", reasons: reasons ?? [OUT_OF_STOCK] };
    case "ship":
      return toShip(order, read, newId);
    case "returnShipment": {
      const errors = shipmentErrors(order, shipmentId);
      if (errors.length > 0) return validationFailed(errors);
      return { name: "returnShipment", shipmentId: namedShipment(shipmentId) };
    }
    default:
      return { name: transition };
  }
}
