import { V7Generator } from "uuidv7";
import type { Clock } from "./clock.ts";

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
  | "tok";

/** Makes UUIDv7 values, as lower-case text, that sort by the clock's time and by the order of the calls. */
export type NewId = () => string;

// RFC 9562 lets a generator run ahead of a clock that is set back. Beyond this difference it follows the clock.
const ROLLBACK_ALLOWANCE_MS = 10_000;

export function newIdsFrom(clock: Clock): NewId {
  const generator = new V7Generator();
  return () => generator.generateOrResetCore(clock.now().getTime(), ROLLBACK_ALLOWANCE_MS).toString();
}

const HEX = "0123456789abcdef";
/** Base 32 as TypeIDs have it: no i, l, o and u. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const DIGIT_COUNT = 26;

/** The value of each digit, by its character code. */
const valuesOf = (digits: string): readonly number[] => {
  const values: number[] = [];
  for (const [value, digit] of [...digits].entries()) values[digit.charCodeAt(0)] = value;
  return values;
};
const HEX_VALUES = valuesOf(HEX);
const DIGIT_VALUES = valuesOf(DIGITS);
const HYPHEN = "-".charCodeAt(0);

/**
 * A UUID in lower case as a TypeID of the API, such as `ord_01m7y7np16fe68bxp4h91tdmdn`. Each order, event and delivery
 * has several, so this and its reverse are our own (decision 0110).
 */
export function toTypeId(prefix: IdPrefix, uuid: string): string {
  let text = `${prefix}_`;
  // 128 bits, and two zeros before them, are 26 times five bits.
  let [bits, count] = [0, 2];
  for (let at = 0; at < uuid.length; at += 1) {
    const code = uuid.charCodeAt(at);
    if (code === HYPHEN) continue;
    bits = (bits << 4) | (HEX_VALUES[code] ?? 0);
    count += 4;
    if (count >= 5) {
      count -= 5;
      text += DIGITS[(bits >>> count) & 31];
    }
  }
  return text;
}

/** A TypeID names a UUID of RFC 9562: of a known version, or all zeros or ones. */
const RFC_UUID =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|0{8}(?:-0{4}){3}-0{12}|f{8}(?:-f{4}){3}-f{12})$/;

/** The UUID in a TypeID with this prefix. Null if the text is not one, as most partners' own ids are not. */
export function fromTypeId(prefix: IdPrefix, text: string): string | null {
  const start = prefix.length + 1;
  if (text.length !== start + DIGIT_COUNT || !text.startsWith(prefix) || text[prefix.length] !== "_")
    return null;
  let hex = "";
  let [bits, count] = [0, -2];
  for (let at = start; at < text.length; at += 1) {
    const value = DIGIT_VALUES[text.charCodeAt(at)];
    if (value === undefined || (at === start && value > 7)) return null; // Above 7 there were more than 128 bits.
    bits = (bits << 5) | value;
    count += 5;
    while (count >= 4) {
      count -= 4;
      hex += HEX[(bits >>> count) & 15];
    }
  }
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  return RFC_UUID.test(uuid) ? uuid : null;
}

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

/** The smallest UUIDv7 of a moment: a bound for time-ordered ids, not an id. */
export function uuidAt(moment: Date): string {
  const hex = moment.getTime().toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** When a UUIDv7 was made, by the clock of its maker: its first 12 digits are milliseconds. */
export const momentOf = (uuid: string): Date =>
  new Date(Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16));
