import { hasValidCheckDigit } from "../codes.ts";
import type { Damage } from "../wire/rules.ts";

// What spreadsheets do to identifiers of which they think that they are numbers, dates or formulas
// (docs/design/fulfilment.md, "Damaged identifiers"). A value of such a form can also be meant so: callers ask whether it is stored.

/** `#N/A`, `#REF!`, `#DIV/0!` and their translations, such as `#WERT!`, `Err:502`, and `####` of a column that is too narrow. */
const ERROR_VALUE = /^(?:#(?:N\/?[AVD]|\p{Lu}+(?:\/0)?[!?]|#{2,})|Err:\d{3})$/u;
/** Soft hyphens, spaces that do not break or have no width, marks of direction, byte order marks. */
const INVISIBLE = /[\u00a0\u00ad\u2007\u202f\ufeff]|[\u200b-\u200f\u2028-\u202e\u2060-\u2064]/;
/** As they are written: `1E5` is a SKU, `1E+05` is a number. */
const EXPONENT = /^-?\d(?:[.,]\d+)?E[+-]\d{2,3}$/i;

/** In English, German, French, Spanish, Italian and Dutch. */
const MONTHS = [
  "jan(?:uary|uar|v)?|feb(?:ruary|ruar|br)?|fév(?:r)?|mar(?:ch|s|zo)?|mär(?:z)?|mrz|mrt|apr(?:il)?|avr(?:il)?|abr|may|mai|mei|mag",
  "june?|juni|juin|juil|july?|juli|giu|lug|aug(?:ust)?|ago|août|set|sept?(?:ember)?|oct(?:ober|obre)?|okt(?:ober)?|ott|out",
  "nov(?:ember|embre)?|dec(?:ember)?|dez(?:ember)?|déc(?:embre)?|dic|ene|gen",
];
const MONTH = `(?:${MONTHS.join("|")})\\.?`;
const DATES = [
  `\\d{1,2}(?:\\.|\\.?[-\\s/]\\s?)${MONTH}(?:[-\\s/.]\\s?\\d{2,4})?`, // 10-Dec, 1. M\u00e4r, 12.Okt, 10-Dec-26
  `${MONTH}[-\\s/]\\d{2,4}`, // Dec-10, Dez 10
  "\\d{1,2}[./]\\d{1,2}[./](?:\\d{2}|\\d{4})", // 10.12.2026, 12/10/26
  "\\d{1,2}-\\d{1,2}-(?:19|20)\\d{2}", // 01-03-2026
  "\\d{4}-\\d{2}-\\d{2}(?:[T ].*)?", // 2026-12-10, also of a date cell
];
const DATE = new RegExp(`^(?:${DATES.join("|")})$`, "iu");

/** Where an encoding has no letter for one of the text, programs write one of these. */
const LOST_LETTERS = /\ufffd|\?\?/;
/** An identifier of digits that a program took for a number with decimals. */
const WITH_DECIMALS = /^\d{3,}[.,]0{1,2}$/;
/** Longer numbers keep 15 digits. One in a thousand numbers of 18 digits ends so by chance. */
const ROUNDED = /^\d{15}0{3,}$/;

/** True for an error value of a spreadsheet, which is no value of any column. */
export const isErrorValue = (text: string): boolean => ERROR_VALUE.test(text);

/**
 * What a spreadsheet has probably done to an identifier. Null: nothing that one can see.
 * @param isFormula its cell is a formula
 */
export function damageOf(text: string, isFormula = false): Damage | null {
  if (isFormula) return "formula";
  if (isErrorValue(text)) return "error_value";
  if (INVISIBLE.test(text)) return "invisible";
  if (LOST_LETTERS.test(text)) return "letters";
  if (EXPONENT.test(text)) return "exponent";
  if (WITH_DECIMALS.test(text)) return "decimals";
  if (ROUNDED.test(text)) return "rounded";
  return DATE.test(text) ? "date" : null;
}

/**
 * What a spreadsheet may have done to an identifier that is probably meant so: it is imported with a warning. `01-03-26` and `12.0`
 * are usual for SKUs, and one in a hundred numbers of 17 digits ends with two zeros.
 */
export function possibleDamageOf(text: string): Damage | null {
  if (/^(?:0?[1-9]|[12]\d|3[01])-(?:0?[1-9]|[12]\d|3[01])-\d{2}$/.test(text)) return "date";
  if (/^\d{1,2}[.,]0$/.test(text)) return "decimals";
  return /^\d{15}00$/.test(text) ? "rounded" : null;
}

/** The most digits of identifiers that have lost zeros: those of a GTIN. */
const DIGITS_MAX = 14;
const NUMBER = /^[1-9]\d*$/;

/** What a number could have been before a spreadsheet took the zeros from its beginning. */
export const withZeros = (text: string): string[] =>
  NUMBER.test(text)
    ? Array.from(
        { length: Math.max(0, DIGITS_MAX - text.length) },
        (_, count) => "0".repeat(count + 1) + text,
      )
    : [];

/** True if a spreadsheet makes the one of the other. */
export const hasLostZeros = (text: string, original: string): boolean =>
  NUMBER.test(text) && /^0+/.test(original) && original.replace(/^0+/, "") === text;

const GTIN_LENGTHS = [8, 12, 13, 14];

/** The check digit of a UPC-E is that of the number that it abbreviates. */
const UPC_E = /^[01]\d{7}$/;

/** A barcode with the digits of a GTIN, but not the last one that it would have. */
export const hasWrongCheckDigit = (barcode: string): boolean =>
  /^\d+$/.test(barcode) &&
  !UPC_E.test(barcode) &&
  GTIN_LENGTHS.includes(barcode.length) &&
  !hasValidCheckDigit(barcode);

/** Eleven digits, or nine and ten: a GTIN without its first zeros, as its check digit says. */
export const isGtinWithoutZeros = (barcode: string): boolean =>
  /^[1-9]\d{8,10}$/.test(barcode) && hasValidCheckDigit(barcode);
