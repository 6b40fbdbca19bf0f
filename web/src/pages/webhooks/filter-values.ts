import type { EventType } from "../../api/schema.d.ts";

/** All types of events: those that every endpoint receives by default, then those that it must name. */
export const EVENT_TYPES = [
  "order.created",
  "order.canceled",
  "order.onHold",
  "order.onHoldReleased",
  "order.shipmentCreated",
  "order.shipmentReturned",
  "order.completed",
  "product.published",
  "order.accepted",
  "order.inProgress",
  "order.shipmentUpdated",
  "order.paymentFailed",
] as const satisfies readonly EventType[];

/** The filters of endpoints by health, those that need attention first. */
export const HEALTHS = ["unhealthy", "failing", "backing_off", "paused", "healthy"] as const;
