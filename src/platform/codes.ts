import { ID_PREFIXES, type IdPrefix } from "./ids.ts";

/**
 * What scanners read: ids of the service, barcodes of products, and what scanners put around both (docs/design/fulfilment.md,
 * "What a scanner sends"). The console has the same rules in web/src/ui/scan/read-scan.ts; one table tests both.
 */

/** What a scanner puts before a code to name its kind, such as `]C1`, if it is set so. */
const AIM_PREFIX = /^\][A-Za-z][0-9A-Za-z]/;

/** GS1 ends an element of variable length with it. A scanner also sends it first, in place of FNC1. */
const GROUP_SEPARATOR = "\u001d";

/** A code without what the scanner has put around it. */
export const readCode = (scanned: string): string =>
  scanned
    .trim()
    .replace(AIM_PREFIX, "")
    .replace(/^[\s\p{Cc}]+|[\s\p{Cc}]+$/gu, "");

export type CodeOfId = { readonly prefix: IdPrefix; readonly id: string };

/** TypeIDs in any case. Most keyboards with another layout have `?` where the scanner means `_`. */
const TYPE_ID = new RegExp(`^(${ID_PREFIXES.join("|")})([_?])([0-7][0-9a-hjkmnp-tv-z]{25})$`, "i");

/**
 * The ids that a code can be, as the API writes them; usually none or one. German and Swiss keyboards also exchange y and z, and a
 * `?` shows only that the layout is another one, so it can mean two ids, of which one exists.
 */
export function idsIn(scanned: string): CodeOfId[] {
  const code = readCode(scanned);
  const printed = idInDigits(code);
  if (printed !== null) return [printed];
  const [, prefix = "", between, suffix = ""] = TYPE_ID.exec(code.toLowerCase()) ?? [];
  const known = ID_PREFIXES.find((one) => one === prefix);
  if (known === undefined) return [];
  const read = { prefix: known, id: `${known}_${suffix}` };
  if (between === "_" || !/[yz]/.test(suffix)) return [read];
  const exchanged = suffix.replace(/[yz]/g, (sign) => (sign === "y" ? "z" : "y"));
  return [{ prefix: known, id: `${known}_${exchanged}` }, read];
}

/**
 * Printed barcodes are digits, because keyboard layouts and caps lock move letters and `_` (docs/design/fulfilment.md, "Printed
 * codes"): a digit for the kind, the number that a TypeID writes with 32 digits, and that number modulo 97 as a check.
 */
const KINDS: Readonly<Record<string, IdPrefix>> = { 1: "ord", 2: "shp", 3: "pick" };
const COMMAND = "9";
const NUMBER_LENGTH = 39;
const COMMAND_LENGTH = 13;
const BASE_32 = "0123456789abcdefghjkmnpqrstvwxyz";

function idInDigits(code: string): CodeOfId | null {
  const prefix = KINDS[code.charAt(0)];
  if (prefix === undefined || code.length !== 1 + NUMBER_LENGTH + 2 || !isChecked(code)) return null;
  let number = BigInt(code.slice(1, -2));
  if (number >= 1n << 128n) return null;
  let suffix = "";
  for (let count = 0; count < 26; count += 1) {
    suffix = (BASE_32[Number(number % 32n)] ?? "") + suffix; // A remainder is less than 32.
    number /= 32n;
  }
  return { prefix, id: `${prefix}_${suffix}` };
}

/** A command that the packing table prints as a barcode, such as "close this parcel". */
export const isCommand = (scanned: string): boolean => {
  const code = readCode(scanned);
  return code.length === 1 + COMMAND_LENGTH + 2 && code.startsWith(COMMAND) && isChecked(code);
};

const isChecked = (code: string): boolean =>
  /^\d+$/.test(code) && BigInt(code.slice(0, -2)) % 97n === BigInt(code.slice(-2));

/**
 * What barcodes of a merchant's products are compared by: a number of at most 14 digits without the zeros before it, because a
 * UPC of 12 digits, an EAN of 13 and a GTIN of 14 with zeros are one number, and scanners add and drop these zeros. Anything else
 * is compared as it is. The database has the same expression in `products.barcode_key`.
 */
export const barcodeKey = (barcode: string): string =>
  /^\d{1,14}$/.test(barcode) ? barcode.replace(/^0+(?=\d)/, "") : barcode;

/** The keys of products that a scanned code can mean, the most probable first. */
export function barcodeKeysIn(scanned: string): string[] {
  const code = readCode(scanned);
  const gtin = gtinIn(code);
  const expanded = expandedUpcE(code);
  const numbers = [code, ...(gtin === null ? [] : [gtin]), ...(expanded === null ? [] : [expanded])];
  return [...new Set([...numbers.map(barcodeKey), code.toUpperCase(), code.toLowerCase()])];
}

/**
 * The GTIN of a GS1 code: `(01)09506000134352(10)A1`, the same without brackets as a scanner sends it, or the address of a GS1
 * Digital Link. Null if it has none. Dates of fixed length may be before the GTIN.
 */
function gtinIn(code: string): string | null {
  const [, bracketed] = /\(01\)(\d{14})/.exec(code) ?? [];
  if (bracketed !== undefined) return bracketed;
  const [, linked] = /^https?:\/\/[^/]+(?:\/[^?#]*)?\/01\/(\d{8,14})(?=[/?#]|$)/i.exec(code) ?? [];
  if (linked !== undefined) return linked;
  const elements = code
    .split(GROUP_SEPARATOR)
    .map((part) => /^(?:1[1-7]\d{6})*01(\d{14})(?=\d\d|$)/.exec(part)?.[1]);
  return elements.find((gtin) => gtin !== undefined && hasValidCheckDigit(gtin)) ?? null;
}

/** The UPC of 12 digits that a UPC-E of 8 digits abbreviates. Null if the code is none. */
function expandedUpcE(code: string): string | null {
  const [, system, digits = "", last = "", check] = /^([01])(\d{5})(\d)(\d)$/.exec(code) ?? [];
  if (system === undefined) return null;
  const at = (index: number) => digits.charAt(index);
  const body =
    last <= "2"
      ? `${at(0)}${at(1)}${last}0000${at(2)}${at(3)}${at(4)}`
      : last === "3"
        ? `${digits.slice(0, 3)}00000${digits.slice(3)}`
        : last === "4"
          ? `${digits.slice(0, 4)}00000${digits.slice(4)}`
          : `${digits}0000${last}`;
  const upc = `${system}${body}${check}`;
  return hasValidCheckDigit(upc) ? upc : null;
}

/**
 * Whether the last digit of a number of GS1 (GTIN, SSCC) is right: the digits before it count 3, 1, 3 and so on from the right.
 * Zeros before a number do not change it.
 */
export function hasValidCheckDigit(number: string): boolean {
  if (!/^\d{2,}$/.test(number)) return false;
  const [check = 0, ...others] = [...number].map(Number).reverse();
  const sum = others.reduce((total, digit, index) => total + digit * (index % 2 === 0 ? 3 : 1), 0);
  return (10 - (sum % 10)) % 10 === check;
}
