import { toTypeId } from "../platform/ids.ts";

/** A fact as it is stored: the body is the exact text that partners receive, frozen when it happened (decision 0021). */
export type EventRow = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly id: string;
  readonly type: string;
  /** Null for events that are not about an order; `sequence` likewise. An opt-in event has that of the event before it. */
  readonly orderId: string | null;
  readonly sequence: number | null;
  readonly body: string;
  /** When everything about a test order is erased: it is not sent from then on. Null for anything else. */
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
  /** `{order, shipment?}` or `{product}`, in their wire shapes. */
  readonly data: Readonly<Record<string, unknown>>;
};

/** Freezes an event's body. */
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
