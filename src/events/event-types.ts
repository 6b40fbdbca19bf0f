/** The types that an endpoint receives unless it names others: the events of the specification, part 6. */
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

/** Only for those who name them (decision 0016). */
const OPT_IN_EVENT_TYPES = [
  "order.accepted",
  "order.inProgress",
  "order.shipmentUpdated",
  "order.paymentFailed",
] as const;
export type OptInEventType = (typeof OPT_IN_EVENT_TYPES)[number];

/** What an endpoint may name, and a feed be narrowed to. */
export const EVENT_TYPES = [...DEFAULT_EVENT_TYPES, ...OPT_IN_EVENT_TYPES] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** A signed test event for one endpoint; no endpoint names it, and no feed shows it. */
export const PING = "webhook.ping";
