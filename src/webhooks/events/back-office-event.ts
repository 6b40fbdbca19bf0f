import type { ConnectionKey } from "../../platform/connection-key.ts";
import { toTypeId } from "../../platform/ids.ts";
import { type OwnerKind, toWireOwner } from "../owner.ts";
import type { EventRow } from "./event.ts";

// The events of merchants and facilities: what a program of theirs has to act on. What only has to be known is in the feed of
// changes (docs/design/event-feed.md, "Events of merchants and facilities").

/** What the endpoints of a merchant receive. */
const MERCHANT_EVENT_TYPES = [
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
  "stock.low",
] as const;

/** What the endpoints of a facility receive. */
const FACILITY_EVENT_TYPES = [
  "order.readyToShip",
  "order.withdrawn",
  "order.held",
  "order.released",
  "order.shipped",
  "shipment.voided",
  "order.linesCanceled",
  "order.canceled",
  "return.recorded",
  "stock.low",
] as const;

export type BackOfficeEventType =
  | (typeof MERCHANT_EVENT_TYPES)[number]
  | (typeof FACILITY_EVENT_TYPES)[number];

export const BACK_OFFICE_EVENT_TYPES: Readonly<
  Record<Exclude<OwnerKind, "connection">, readonly BackOfficeEventType[]>
> = { merchant: MERCHANT_EVENT_TYPES, facility: FACILITY_EVENT_TYPES };

/** When each type is published, in a sentence. */
export const BACK_OFFICE_EVENT_MEANINGS: Readonly<Record<BackOfficeEventType, string>> = {
  "order.created": "An order was created.",
  "order.held": "A hold was placed on the order, or its reasons changed.",
  "order.released": "The hold of the order was released.",
  "order.readyToShip": "The order can be shipped now, from the facility that it is routed to.",
  "order.withdrawn":
    "The order is not routed to the facility any more. The event names the order and shows nothing else of it.",
  "order.shipped": "A shipment of the order was created.",
  "shipment.voided": "A shipment that never left was voided: its lines can ship again.",
  "order.linesCanceled":
    "Lines of the order were canceled because they cannot be delivered. The others ship.",
  "order.completed": "The order was completed.",
  "order.canceled": "The order was canceled.",
  "charge.failed": "A charge was declined, so that the order is on hold.",
  "refund.created": "A refund was created.",
  "return.recorded": "The warehouse recorded goods that came back.",
  "stock.low":
    "Fewer units of a product are available at a facility than its `lowStockBelow`. Published again only after they were no fewer.",
};

type BackOfficeEventContent = {
  /** A merchant or a facility. */
  readonly owner: ConnectionKey;
  readonly id: string;
  readonly type: string;
  readonly occurredAt: Date;
  /** Null if the event is not about an order, like `sequence`. */
  readonly orderId: string | null;
  readonly sequence: number | null;
  /** Objects in the form in which the back office shows them to the owner. */
  readonly data: Readonly<Record<string, unknown>>;
};

/** Writes an event's body. */
export function backOfficeEventRow({
  owner: { merchantId, connectionId },
  id,
  type,
  occurredAt,
  orderId,
  sequence,
  data,
}: BackOfficeEventContent): EventRow {
  const { merchantId: ofMerchant, facilityId } = toWireOwner({ merchantId, connectionId });
  const body = JSON.stringify({
    id: toTypeId("evt", id),
    type,
    timestamp: occurredAt.toISOString(),
    merchantId: ofMerchant,
    facilityId,
    data,
  });
  return { merchantId, connectionId, id, type, orderId, sequence, body, notAfter: null };
}
