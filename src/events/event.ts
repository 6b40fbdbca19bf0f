import { toTypeId } from "../platform/ids.ts";
import { isoTime } from "../platform/time.ts";

/** An event as it is stored. The body is the exact text that partners receive; it never changes (decision 0021). */
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
    timestamp: isoTime(occurredAt),
    testMode,
    connectionId: toTypeId("con", connectionId),
    sequence,
    data,
  });
  return { merchantId, connectionId, id, type, orderId, sequence, body, notAfter };
}
