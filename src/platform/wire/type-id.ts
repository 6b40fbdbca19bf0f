/**
 * TypeIDs, version 0.3: a prefix, `_`, and a UUID in base32 (decision 0181). A read of an order makes and reads several, so
 * the digits are written into a buffer, and only the finished text is a string.
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
export function encodeTypeId(prefix: string, uuid: string): string {
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
export function decodeTypeId(prefix: string, text: string): string | null {
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
