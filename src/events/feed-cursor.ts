import { bytesOf, uuidOf } from "../platform/ids.ts";
import { decodeCursor, encodeCursor, UUID_MIN } from "../platform/wire/cursor.ts";

/** A position in the feed of a connection: after the event with this position. */
export type FeedPosition = { readonly position: string; readonly eventId: string };

/** A position in the feed of one order: after the event with this sequence and id. */
export type OrderPosition = { readonly orderId: string; readonly sequence: number; readonly eventId: string };

/** Before all events. */
export const FEED_START: FeedPosition = { position: "0", eventId: UUID_MIN };

const LIST = "events";
const LIST_OF_ORDER = "events of an order";
const POSITION_BYTES = 8;
const SEQUENCE_BYTES = 4;
const UUID_BYTES = 16;

/** The cursor of the page after this position of the feed. */
export function encodeFeedCursor({ position, eventId }: FeedPosition): string {
  const bytes = Buffer.alloc(POSITION_BYTES);
  bytes.writeBigInt64BE(BigInt(position));
  return encodeCursor(LIST, Buffer.concat([bytes, bytesOf(eventId)]));
}

/** The position that a cursor contains. Null if the text is not a cursor of the feed. */
export function decodeFeedCursor(cursor: string): FeedPosition | null {
  const bytes = decodeCursor(LIST, cursor);
  if (bytes === null) return null;
  // Until positions were counted for each connection, a transaction id and a sequence preceded the event.
  if (bytes.length === POSITION_BYTES + SEQUENCE_BYTES + UUID_BYTES)
    return { ...FEED_START, eventId: uuidOf(bytes.subarray(POSITION_BYTES + SEQUENCE_BYTES)) };
  if (bytes.length !== POSITION_BYTES + UUID_BYTES) return null;
  const position = bytes.readBigInt64BE();
  return position < 0n
    ? null
    : { position: position.toString(), eventId: uuidOf(bytes.subarray(POSITION_BYTES)) };
}

/** The cursor of the page after this position of an order's feed. */
export function encodeOrderCursor({ orderId, sequence, eventId }: OrderPosition): string {
  const bytes = Buffer.alloc(SEQUENCE_BYTES);
  bytes.writeInt32BE(sequence);
  return encodeCursor(LIST_OF_ORDER, Buffer.concat([bytes, bytesOf(orderId), bytesOf(eventId)]));
}

/** The position that a cursor contains. Null if the text is not a cursor of the feed of an order. */
export function decodeOrderCursor(cursor: string): OrderPosition | null {
  const bytes = decodeCursor(LIST_OF_ORDER, cursor);
  if (bytes?.length !== SEQUENCE_BYTES + UUID_BYTES + UUID_BYTES) return null;
  return {
    sequence: bytes.readInt32BE(),
    orderId: uuidOf(bytes.subarray(SEQUENCE_BYTES, SEQUENCE_BYTES + UUID_BYTES)),
    eventId: uuidOf(bytes.subarray(SEQUENCE_BYTES + UUID_BYTES)),
  };
}
