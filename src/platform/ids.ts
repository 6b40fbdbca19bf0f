import { V7Generator } from "uuidv7";
import type { Clock } from "./clock.ts";
import { decodeTypeId, encodeTypeId } from "./wire/type-id.ts";

/** The type that an id's prefix names. Products are plain UUIDs (decision 0009). */
export type IdPrefix =
  | "ord"
  | "test"
  | "line"
  | "shp"
  | "evt"
  | "whe"
  | "dlv"
  | "con"
  | "mer"
  | "key"
  | "fac"
  | "chg"
  | "pay"
  | "pick"
  | "ret"
  | "rfd"
  | "aud"
  | "tok"
  | "view"
  | "proc"
  | "per"
  | "rsd"
  | "ses";

/** Makes UUIDv7 values, as lower-case text, that sort by the clock's time and by the order of the calls. */
export type NewId = () => string;

// RFC 9562 lets a generator run ahead of a clock that is set back. Beyond this difference it follows the clock.
const ROLLBACK_ALLOWANCE_MS = 10_000;

/** Random numbers in stock: asking the system for a few costs more than the rest of an id. */
class RandomNumbers {
  readonly #stock = new Uint32Array(1_024);
  #used = this.#stock.length;

  nextUint32(): number {
    if (this.#used === this.#stock.length) {
      crypto.getRandomValues(this.#stock);
      this.#used = 0;
    }
    const number = this.#stock[this.#used] ?? 0; // It is within the stock.
    this.#used += 1;
    return number;
  }
}

export function newIdsFrom(clock: Clock): NewId {
  const generator = new V7Generator(new RandomNumbers());
  return () => generator.generateOrResetCore(clock.now().getTime(), ROLLBACK_ALLOWANCE_MS).toString();
}

/** A UUID as a TypeID of the API, such as `ord_01m7y7np16fe68bxp4h91tdmdn`. */
export const toTypeId = (prefix: IdPrefix, uuid: string): string => encodeTypeId(prefix, uuid);

/** The UUID in a TypeID with this prefix. Null if the text is not one. */
export const fromTypeId = (prefix: IdPrefix, text: string): string | null => decodeTypeId(prefix, text);

/** The id of an order on the wire: the prefix distinguishes real orders from test orders. */
export const wireOrderId = (order: { id: string; testMode: boolean }): string =>
  toTypeId(order.testMode ? "test" : "ord", order.id);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The UUID in its canonical lower-case form. Null if the text is not one. */
export const parseUuid = (text: string): string | null => (UUID.test(text) ? text.toLowerCase() : null);

/** The nil UUID of RFC 9562. No row has it. */
export const NO_UUID = "00000000-0000-0000-0000-000000000000";

/** A UUID's 16 bytes, and back. */
export const bytesOf = (uuid: string): Buffer => Buffer.from(uuid.replaceAll("-", ""), "hex");
export const uuidOf = (bytes: Buffer): string =>
  bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

/** A UUIDv7 has 48 bits for the milliseconds since 1970. */
const MOMENT_MAX_MS = 2 ** 48 - 1;

/**
 * The smallest UUIDv7 of a moment: a bound for time-ordered ids, not an id. A moment before or after those of all ids
 * counts as the first or the last of these.
 */
export function uuidAt(moment: Date): string {
  const ms = Math.min(MOMENT_MAX_MS, Math.max(0, moment.getTime()));
  const hex = ms.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** When a UUIDv7 was made, by the clock of its maker: its first 12 digits are milliseconds. */
export const momentOf = (uuid: string): Date =>
  new Date(Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16));
