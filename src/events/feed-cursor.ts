import { bytesOf, uuidOf } from "../platform/ids.ts";
import { decodeCursor, encodeCursor, UUID_MIN as UUID_START } from "../platform/wire/cursor.ts";
import type { FeedPosition } from "./feed-sql.ts";

/** Before all events. */
export const FEED_START: FeedPosition = { transactionId: "0", sequence: 0, eventId: UUID_START };

const LIST = "events";
const TRANSACTION_BYTES = 8;
const SEQUENCE_BYTES = 4;
const UUID_BYTES = 16;

/** The cursor of the page after this position of the feed. */
export function encodeFeedCursor({ transactionId, sequence, eventId }: FeedPosition): string {
  const numbers = Buffer.alloc(TRANSACTION_BYTES + SEQUENCE_BYTES);
  numbers.writeBigUInt64BE(BigInt(transactionId));
  numbers.writeInt32BE(sequence, TRANSACTION_BYTES);
  return encodeCursor(LIST, Buffer.concat([numbers, bytesOf(eventId)]));
}

/** The position that a cursor contains. Null if the text is not a cursor of the feed. */
export function decodeFeedCursor(cursor: string): FeedPosition | null {
  const bytes = decodeCursor(LIST, cursor);
  if (bytes?.length !== TRANSACTION_BYTES + SEQUENCE_BYTES + UUID_BYTES) return null;
  return {
    transactionId: bytes.readBigUInt64BE().toString(),
    sequence: bytes.readInt32BE(TRANSACTION_BYTES),
    eventId: uuidOf(bytes.subarray(TRANSACTION_BYTES + SEQUENCE_BYTES)),
  };
}
