import { hasValidCheckDigit } from "../codes.ts";
import type { Damage } from "../wire/rules.ts";
import { isMisread } from "./decode.ts";

// What spreadsheets do to identifiers of which they think that they are numbers, dates or formulas
// (docs/design/fulfilment.md, "Damaged identifiers"). A value of such a form can also be meant so: callers ask whether it is stored.

/** `#N/A`, `#REF!`, `#DIV/0!` and their translations, such as `#WERT!`, `Err:502`, and `####` of a column that is too narrow. */
const ERROR_VALUE = /^(?:#(?:N\/?[AVD]|\p{Lu}+(?:\/0)?[!?]|#{2,})|Err:\d{3})$/u;
/** What programs write where there is no value. */
const NO_VALUE = /^(?:NaN|nan|null|NULL|None|undefined)$/;
/** Control characters, soft hyphens, spaces that do not break or have no width, marks of direction, byte order marks. */
const INVISIBLE = /[\p{Cc}\u00a0\u00ad\u2007\u202f\ufeff\u200b-\u200f\u2028-\u202e\u2060-\u2064]/gu;
/** As they are written: `1E5` is a SKU, `1E+05` is a number. */
const EXPONENT = /^-?\d(?:[.,]\d+)?E[+-]\d{2,3}$/i;
/** As spreadsheets write what they take for true or false, in several languages. */
const BOOLEAN =
  /^(?:TRUE|FALSE|WAHR|FALSCH|VRAI|FAUX|VERO|FALSO|VERDADERO|VERDADEIRO|WAAR|ONWAAR|PRAWDA|FAŁSZ)$/;
/** `'00123`, which keeps a number as text while it is typed into a spreadsheet, and a text in quotes. */
const QUOTES = /^['\u2018\u2019\u00b4`]\d|^["'\u2018-\u201f\u00ab\u00bb].*["'\u2018-\u201f\u00ab\u00bb]$/s;

/** In English and German, which begin them with a capital, and in French, Spanish, Italian, Portuguese and Dutch. */
const MONTH = [
  "(?:Jan(?:uary|uar)?|Feb(?:ruary|ruar)?|Mar(?:ch)?|Mär(?:z)?|Mrz|Apr(?:il)?|May|Mai|June?|Juni|July?|Juli|Aug(?:ust)?|Sept?(?:ember)?",
  "Oct(?:ober)?|Okt(?:ober)?|Nov(?:ember)?|De[cz](?:ember)?",
  "janv?|févr?|fev|feb|mar[sz]?|mrt|a[vbp]r|ma[iyg]|mei|jun|juin|giu|jul|juil|lug|aug|août|ago|set|sept?|o[ckt]t|out|nov|d[eé][cz]|dic|ene|gen)\\.?",
].join("|");
const DATES = [
  `\\d{1,2}(?:\\.|\\.?[-\\s/]\\s?)${MONTH}(?:[-\\s/.]\\s?\\d{2,4})?`, // 10-Dec, 1. Mär, 12.Okt, 10-Dec-26
  `${MONTH}[-\\s/]\\d{2,4}`, // Dec-10, Dez 10
  `${MONTH}\\s\\d`, // Mar 1
  "\\d{1,2}-[A-Z]{3}-(?:\\d{2}|\\d{4})", // 10-DEC-26
  "\\d{1,2}[./]\\d{1,2}[./](?:\\d{2}|\\d{4})", // 10.12.2026, 12/10/26
  "\\d{1,2}-\\d{1,2}-(?:19|20)\\d{2}", // 01-03-2026
  "(?:19|20)\\d{2}/\\d{1,2}/\\d{1,2}", // 2026/03/01
  "\\d{4}-\\d{2}-\\d{2}(?:[T ].*)?", // 2026-12-10, also of a date cell
  "\\d{1,2}:\\d{2}:\\d{2}", // 12:30:00
];
const DATE = new RegExp(`^(?:${DATES.join("|")})$`, "u");

/** Where an encoding has no letter for one of the text, programs write these. */
const LOST_LETTERS = /\?\?/;
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
  if (isErrorValue(text) || NO_VALUE.test(text)) return "error_value";
  if (text.search(INVISIBLE) >= 0) return "invisible";
  if (LOST_LETTERS.test(text) || isMisread(text)) return "letters";
  if (EXPONENT.test(text)) return "exponent";
  if (WITH_DECIMALS.test(text)) return "decimals";
  if (ROUNDED.test(text)) return "rounded";
  if (BOOLEAN.test(text)) return "boolean";
  if (QUOTES.test(text)) return "quotes";
  return DATE.test(text) ? "date" : null;
}

/** The digits of a barcode in groups, as they are printed below it. Scanners read the digits alone. */
const GROUPS = /^\d+(?:[ .,'\u2019-]\d+)+$/;

/** The same of an identifier of a column: the check digit of a barcode shows more. */
export function damageInColumn(column: string, text: string, isFormula = false): Damage | null {
  if (column !== "barcode") return damageOf(text, isFormula);
  const digits = text.replace(/\D/g, "");
  if (GROUPS.test(text) && GTIN_LENGTHS.includes(digits.length) && hasValidCheckDigit(digits))
    return "groups";
  return isGtinWithoutZeros(text) ? "zeros" : damageOf(text, isFormula);
}

/**
 * What a spreadsheet may have done to an identifier that is probably meant so: it is imported with a warning. `01-03-26` and `12.0`
 * are usual for SKUs, and one in a hundred numbers of 17 digits ends with two zeros.
 */
export function possibleDamageOf(text: string): Damage | null {
  if (/^(?:0?[1-9]|[12]\d|3[01])-(?:0?[1-9]|[12]\d|3[01])-\d{2}$/.test(text)) return "date";
  if (/^\d{1,2}[.,]0$/.test(text)) return "decimals";
  if (/^\d{15}00$/.test(text)) return "rounded";
  const isOfOtherAlphabet = OTHER_ALPHABET.test(text) && !/\p{Script=Latin}/u.test(text);
  const isPlain = isOfOtherAlphabet || plainSpelling(text) === text;
  return isPlain || damageOf(text) !== null ? null : "look_alike";
}

/** The most digits of identifiers that have lost zeros: those of a GTIN. */
const DIGITS_MAX = 14;
const NUMBER = /^[1-9]\d*$/;

/** What a number could have been before a spreadsheet took the zeros from its beginning. */
const withZeros = (text: string): string[] =>
  NUMBER.test(text)
    ? Array.from(
        { length: Math.max(0, DIGITS_MAX - text.length) },
        (_, count) => "0".repeat(count + 1) + text,
      )
    : [];

/** True if a spreadsheet makes the one of the other. */
const hasLostZeros = (text: string, original: string): boolean =>
  NUMBER.test(text) && /^0+/.test(original) && original.replace(/^0+/, "") === text;

const OTHER_ALPHABET = /[\p{Script=Cyrillic}\p{Script=Greek}]/u;
/** Letters of other alphabets, each with the Latin one that looks the same. */
const LOOK_ALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  [..."АВЕКМНОРСТХІЅЈасеорхуіѕјΑΒΕΖΗΙΚΜΝΟΡΤΥΧο"].map((letter, index) => [
    letter,
    [..."ABEKMHOPCTXISJaceopxyisjABEZHIKMNOPTYXo"][index] ?? letter,
  ]),
);

/** A text as a keyboard writes it: without what cannot be seen, with one kind of dash and apostrophe, and in Latin letters. */
const plainSpelling = (text: string): string =>
  text
    .normalize("NFC")
    .replace(/[\u00a0\u2007\u202f]/g, " ")
    .replace(INVISIBLE, "")
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u2018\u2019\u00b4]/g, "'")
    .replace(/[^\0-\x7f]/g, (letter) => LOOK_ALIKES[letter] ?? letter)
    .replace(/^'(?=\d)/, "")
    .trim();

/** What a person may have meant by an identifier that is not stored: it looks the same, or has lost its zeros. */
export const spellingsOf = (text: string): string[] => {
  const plain = plainSpelling(text);
  return plain === text ? withZeros(text) : [plain, ...withZeros(plain)];
};

/** What has become of a stored identifier. Null: the text is not one of its other spellings. */
export function damageOfStored(text: string, stored: string): Damage | null {
  if (hasLostZeros(text, stored)) return "zeros";
  if (!spellingsOf(text).includes(stored)) return null;
  return damageOf(text) ?? (text.trim() === stored ? "invisible" : "look_alike");
}

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
const isGtinWithoutZeros = (barcode: string): boolean =>
  /^[1-9]\d{8,10}$/.test(barcode) && hasValidCheckDigit(barcode);
