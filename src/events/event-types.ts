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

/** Only for endpoints that name them (decision 0016). */
const OPT_IN_EVENT_TYPES = [
  "order.accepted",
  "order.inProgress",
  "order.shipmentUpdated",
  "order.paymentFailed",
] as const;
export type OptInEventType = (typeof OPT_IN_EVENT_TYPES)[number];

/** The types that an endpoint can name, and by which the feed can be filtered. */
export const EVENT_TYPES = [...DEFAULT_EVENT_TYPES, ...OPT_IN_EVENT_TYPES] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** A signed test event for one endpoint. Endpoints cannot name it, and the feed does not show it. */
export const PING = "webhook.ping";
