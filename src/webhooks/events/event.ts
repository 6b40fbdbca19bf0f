import { toTypeId } from "../../platform/ids.ts";

/**
 * An event as it is stored. The body is the exact text that partners receive; it never changes
 * (docs/design/event-feed.md, "The body is built once").
 */
export type EventRow = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly id: string;
  readonly type: string;
  /**
   * Null for events that are not about an order, like `sequence`. An opt-in event has the sequence of the event before
   * it.
   */
  readonly orderId: string | null;
  readonly sequence: number | null;
  readonly body: string;
  /** For a test order: when it is erased with its events. The event is not sent after that. Null for all others. */
  readonly notAfter: Date | null;
};

type EventContent = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly id: string;
  readonly type: string;
  readonly occurredAt: Date;
  readonly testMode: boolean;
  readonly orderId: string | null;
  readonly sequence: number | null;
  readonly notAfter: Date | null;
  /** `{order, shipment?}` or `{product}`, in the form of the API. */
  readonly data: Readonly<Record<string, unknown>>;
};

/** Writes an event's body. */
export function eventRow({
  merchantId,
  connectionId,
  id,
  type,
  occurredAt,
  testMode,
  orderId,
  sequence,
  notAfter,
  data,
}: EventContent): EventRow {
  const body = JSON.stringify({
    id: toTypeId("evt", id),
    type,
    timestamp: occurredAt.toISOString(),
    testMode,
    connectionId: toTypeId("con", connectionId),
    sequence,
    data,
  });
  return { merchantId, connectionId, id, type, orderId, sequence, body, notAfter };
}

/** The types that an endpoint receives by default: the events of the specification, part 6. */
export const DEFAULT_EVENT_TYPES = [
  "order.created",
  "order.canceled",
  "order.onHold",
  "order.onHoldReleased",
  "order.shipmentCreated",
  "order.shipmentReturned",
  "order.completed",
  "product.published",
] as const;

/** Only for endpoints that name them (docs/design/event-feed.md, "Event types"). */
export const OPT_IN_EVENT_TYPES = [
  "order.accepted",
  "order.inProgress",
  "order.shipmentUpdated",
  "order.paymentFailed",
  "order.linesCanceled",
] as const;
export type OptInEventType = (typeof OPT_IN_EVENT_TYPES)[number];

/** The types that an endpoint can name, and by which the feed can be filtered. */
export const EVENT_TYPES = [...DEFAULT_EVENT_TYPES, ...OPT_IN_EVENT_TYPES] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** A signed test event for one endpoint. Endpoints cannot name it, and the feed does not show it. */
export const PING = "webhook.ping";

/** When each type is published, in a sentence. */
export const EVENT_MEANINGS: Readonly<Record<EventType | typeof PING, string>> = {
  "order.created": "An order was created.",
  "order.canceled": "The order was canceled.",
  "order.onHold": "A hold was placed on the order.",
  "order.onHoldReleased": "The hold of the order was released.",
  "order.shipmentCreated": "A shipment of the order was created.",
  "order.shipmentReturned": "A shipment of the order came back.",
  "order.completed": "The order was completed.",
  "product.published": "The merchant exposed a product to the connection.",
  "order.accepted": "The cancel window has closed, or a review has approved the order.",
  "order.inProgress": "The first shipment of the order was created.",
  "order.shipmentUpdated": "The status or tracking of a shipment has changed.",
  "order.paymentFailed": "A charge for the order was declined.",
  "order.linesCanceled":
    "Units of the order were canceled because they cannot be delivered. The others ship.",
  "webhook.ping": "A test event for one endpoint, sent by request.",
};
