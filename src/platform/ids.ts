import { V7Generator } from "uuidv7";
import type { Clock } from "./time.ts";

/** The types that the prefixes of ids name. Products are plain UUIDs (docs/design/api-conventions.md, "Ids"). */
export const ID_PREFIXES = [
  "ord",
  "test",
  "line",
  "shp",
  "evt",
  "whe",
  "dlv",
  "con",
  "mer",
  "key",
  "fac",
  "chg",
  "pay",
  "bank",
  "pick",
  "ret",
  "can",
  "rfd",
  "aud",
  "tok",
  "view",
  "proc",
  "per",
  "rsd",
  "flt",
  "crt",
  "ses",
  "change",
] as const;
export type IdPrefix = (typeof ID_PREFIXES)[number];

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

const idsOfMoments = new V7Generator(new RandomNumbers());

/** A new UUIDv7 of a moment, for what is stored long after its operation has received its ids. */
export const newIdAt = (moment: Date): string =>
  idsOfMoments.generateOrResetCore(moment.getTime(), ROLLBACK_ALLOWANCE_MS).toString();

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

/**
 * TypeIDs, version 0.3: a prefix, `_`, and a UUID in base32 (docs/design/api-conventions.md, "Ids"). A read of an order makes
 * and reads several, so the digits are written into a buffer, and only the finished text is a string.
 */

/** A UUID has 128 bits and 26 digits have 130, so the first digit is at most 7. */
const SUFFIX = /^_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
/** Versions 1 to 8 of RFC 9562 with its variant, and the nil and max UUIDs. */
const VALID_UUID =
  /^(?:.{14}[1-8].{4}[89ab].{16}|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff)$/;

const BASE_32 = digits("0123456789abcdefghjkmnpqrstvwxyz");
const BASE_16 = digits("0123456789abcdef");
/** Where a UUID has its hexadecimal digits. */
const HEX_POSITIONS = [...Array(36).keys()].filter((at) => ![8, 13, 18, 23].includes(at));

const written = { suffix: Buffer.alloc(26), uuid: Buffer.from("00000000-0000-0000-0000-000000000000") };

/** @param uuid with hyphens, in lower case */
function encodeTypeId(prefix: string, uuid: string): string {
  let [bits, count, at] = [0, 2, 0]; // The two bits that a UUID does not fill.
  for (const position of HEX_POSITIONS) {
    bits = (bits << 4) | BASE_16.valueAt(uuid, position);
    count += 4;
    if (count < 5) continue;
    count -= 5;
    written.suffix[at] = BASE_32.codeOf((bits >> count) & 31);
    bits &= 31;
    at += 1;
  }
  return `${prefix}_${written.suffix.toString("latin1")}`;
}

/** The UUID with hyphens, in lower case. Null if the text is not a TypeID with this prefix. */
function decodeTypeId(prefix: string, text: string): string | null {
  if (!text.startsWith(prefix) || !SUFFIX.test(text.slice(prefix.length))) return null;
  let at = prefix.length + 1;
  let [bits, count] = [BASE_32.valueAt(text, at), 3]; // Of the first digit, three bits count.
  for (const position of HEX_POSITIONS) {
    if (count < 4) {
      at += 1;
      bits = ((bits & 31) << 5) | BASE_32.valueAt(text, at);
      count += 5;
    }
    count -= 4;
    written.uuid[position] = BASE_16.codeOf((bits >> count) & 15);
  }
  const uuid = written.uuid.toString("latin1");
  return VALID_UUID.test(uuid) ? uuid : null;
}

/** The digits of a base, from values to character codes and back. */
function digits(alphabet: string) {
  const codes = Buffer.from(alphabet);
  const values = new Uint8Array(128);
  for (const [value, code] of codes.entries()) values[code] = value;
  return {
    codeOf: (value: number): number => codes[value] ?? 0,
    valueAt: (text: string, position: number): number => values[text.charCodeAt(position)] ?? 0,
  };
}
