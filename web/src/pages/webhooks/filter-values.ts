import type { Delivery, EventType, FacilityEventType, MerchantEventType } from "../../api/schema.d.ts";
import type { OwnerKind } from "./owner.tsx";

/** All types of events of partners: those that every endpoint receives by default, then those that it must name. */
const OF_CONNECTIONS = [
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
  "order.linesCanceled",
] as const satisfies readonly EventType[];

const OF_MERCHANTS = [
  "order.created",
  "order.held",
  "order.released",
  "order.readyToShip",
  "order.shipped",
  "shipment.voided",
  "order.linesCanceled",
  "order.completed",
  "order.canceled",
  "charge.failed",
  "refund.created",
  "return.recorded",
] as const satisfies readonly MerchantEventType[];

const OF_FACILITIES = [
  "order.readyToShip",
  "order.withdrawn",
  "order.held",
  "order.released",
  "order.shipped",
  "shipment.voided",
  "order.linesCanceled",
  "order.canceled",
  "return.recorded",
] as const satisfies readonly FacilityEventType[];

export type OwnedEventType = EventType | MerchantEventType | FacilityEventType;

/** What the endpoints of each kind of owner can receive. */
export const EVENT_TYPES: Record<OwnerKind, readonly OwnedEventType[]> = {
  connection: OF_CONNECTIONS,
  merchant: OF_MERCHANTS,
  facility: OF_FACILITIES,
};

export const ALL_EVENT_TYPES: readonly OwnedEventType[] = [...new Set(Object.values(EVENT_TYPES).flat())];

/** The filters of endpoints by health, those that need attention first. */
export const HEALTHS = ["unhealthy", "failing", "backing_off", "paused", "healthy"] as const;

const SOON_MS = 2_000;
/** An attempt may be running, or none is planned. */
const UNPLANNED_MS = 5_000;
const LATEST_MS = 60_000;

/**
 * After how many milliseconds to read deliveries again, because an attempt of one of them will have ended: outcomes are not
 * among the updates (docs/design/console.md, "Live updates"). False: all have ended.
 */
export function outcomesDueInMs(
  deliveries: readonly Pick<Delivery, "status" | "nextAttemptAt">[],
): number | false {
  const delays = deliveries
    .filter(({ status }) => status === "pending")
    .map(({ nextAttemptAt }) =>
      nextAttemptAt === null ? UNPLANNED_MS : Date.parse(nextAttemptAt) - Date.now() + SOON_MS,
    );
  return delays.length === 0 ? false : Math.min(LATEST_MS, Math.max(SOON_MS, Math.min(...delays)));
}
