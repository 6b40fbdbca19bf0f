import type { EventType, TestOrderTransition } from "../../sdk/src/index.ts";
import { Ended, EXIT, UsageError } from "./exit.ts";
import { knownEndpoint } from "./listen-endpoint.ts";
import type { Session } from "./session.ts";
import { createTestOrder } from "./test-orders.ts";

/** What makes each event happen on a new test order. Null: no test order causes it, so a sample is sent. */
const TRANSITIONS = {
  "order.created": [],
  "order.canceled": ["cancel"],
  "order.onHold": ["hold"],
  "order.onHoldReleased": ["hold", "releaseHold"],
  "order.shipmentCreated": ["ship"],
  "order.shipmentReturned": ["ship", "returnShipment"],
  "order.completed": ["ship", "complete"],
  "order.shipmentUpdated": ["ship"], // And its tracking.
  "product.published": null,
  "order.accepted": null,
  "order.inProgress": null,
  "order.paymentFailed": null,
  "order.linesCanceled": null,
} as const satisfies Record<EventType, readonly TestOrderTransition[] | null>;

/** Makes an event happen, and says how. */
export async function trigger(session: Session, type: string, endpointId?: string): Promise<void> {
  const { client, output } = session;
  if (!isEventType(type))
    throw new UsageError(`${type} is no event type. There are: ${Object.keys(TRANSITIONS).join(", ")}.`);
  const transitions = TRANSITIONS[type];
  if (transitions === null) return ping(session, type, endpointId);
  const order = await createTestOrder(client);
  let shipmentId: string | undefined;
  for (const transition of transitions) {
    const { shipments } = await client.testOrders.transition(order.id, { transition });
    shipmentId = shipments[0]?.id;
  }
  if (type === "order.shipmentUpdated" && shipmentId !== undefined)
    await client.testOrders.track(order.id, shipmentId, { status: "delivered" });
  const [event] = (await client.events.list({ orderId: order.id, type })).data;
  if (event === undefined)
    throw new Ended(
      EXIT.rejected,
      `Order ${order.id} has no event: ${type} is published only to endpoints that name it. Run listen --types ${type}.`,
    );
  const by = ["create", ...transitions].join(", ");
  output.line({ type, by: "test-order", orderId: order.id, eventId: event.id, transitions }, [
    `${type}: test order ${order.id} (${by}), event ${event.id}`,
  ]);
}

const isEventType = (type: string): type is EventType => Object.hasOwn(TRANSITIONS, type);

async function ping(session: Session, type: EventType, given?: string): Promise<void> {
  const endpointId = given ?? (await knownEndpoint(session, "test"));
  if (endpointId === null)
    throw new UsageError(
      `No test order causes ${type}, so a sample is sent, and there is no endpoint for it: run listen first, or name --endpoint.`,
    );
  const { id, eventId } = await session.client.webhookEndpoints.ping(endpointId, { type });
  session.output.line({ type, by: "sample", endpointId, deliveryId: id, eventId }, [
    `${type}: no test order causes it, so a sample was sent to ${endpointId}, event ${eventId}`,
  ]);
}
