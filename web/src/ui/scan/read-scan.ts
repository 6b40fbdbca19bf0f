// What a scanner has typed, and what it means. The service reads codes in the same way (src/platform/codes.ts); keyboards exist
// only here. See docs/design/fulfilment.md, "What a scanner sends".

/** What was scanned. A page looks for `code`, and if nothing has it, for the `others` in their order. */
export type Scan = {
  /** Without prefixes of the scanner, and an id of the service as the service writes it. */
  readonly code: string;
  /** What it means if the keyboard of the computer has another layout than the scanner expects, or caps lock is on. */
  readonly others: readonly string[];
  /** It has signs that codes do not have, but a wrong layout makes. A message about an unknown code names this reason. */
  readonly isOtherLayout: boolean;
};

/** @param typed as the field has received it; nothing is left out of it */
export function readScan(typed: string, isCapsLock = false): Scan {
  const code = readCode(typed);
  const isMoved = MOVED_SIGNS.test(code) && !/^\(\d{2,4}\)/.test(code);
  const undone = isMoved ? LAYOUTS.flatMap((layout) => undo(code, layout) ?? []).map(readCode) : [];
  const others = [...undone.filter((one) => USUAL_SIGNS.test(one)), ...(isCapsLock ? [swapCase(code)] : [])];
  const readings = [...new Set([code, ...others].map(canonical))];
  // A reading with the form of a code of this service is right, and one of digits alone. Others are guesses.
  const isSure = (one: string) => isOwnCode(one) || (isMovedDigits(code) && /^\d{4,}$/.test(one));
  const sure = readings.filter(isSure);
  const [first = code, ...rest] = [...sure, ...readings.filter((one) => !isSure(one))];
  return {
    code: first,
    others: rest.slice(0, READINGS_MAX),
    isOtherLayout: isMoved && sure.length === 0 && !NAME.test(code),
  };
}

/** Digits as a keyboard has them that needs Shift for digits, for all but 9 and 0, or for 0 alone. */
const isMovedDigits = (code: string): boolean =>
  !/[0-9A-Za-z]/.test(code) || /^(?:[90ąčęėįšųū]+|[\dö]+)$/.test(code);

/** A name with an accent, which a person has typed: letters, some of them small. */
const NAME = /^(?=.*[a-z].*[a-z])[\p{L}\p{M}][\p{L}\p{M}'’ .-]*$/u;

/** Each reading is a request, if the ones before it are unknown. */
const READINGS_MAX = 3;

/** What a scanner puts before a code to name its kind, such as `]C1`, if it is set so. */
const AIM_PREFIX = /^\][A-Za-z][0-9A-Za-z]/;
/** GS1 ends an element of variable length with it. A scanner also sends it first. */
const GROUP_SEPARATOR = "\u001d";

const readCode = (scanned: string): string =>
  scanned
    .trim()
    .replace(AIM_PREFIX, "")
    .replace(/^[\s\p{Cc}]+|[\s\p{Cc}]+$/gu, "");

const swapCase = (text: string): string =>
  text.replace(/\p{L}/gu, (sign) => (sign === sign.toLowerCase() ? sign.toUpperCase() : sign.toLowerCase()));

// Codes of this service.

/** A TypeID, in any case. */
const TYPE_ID = /^([a-z]{2,8})_([0-7][0-9a-hjkmnp-tv-z]{25})$/i;
/** What is printed as a barcode: a digit for the kind, a number, and the number modulo 97. */
const KINDS: Readonly<Record<string, string>> = { ord: "1", shp: "2", pick: "3" };
const COMMAND = "9";
const NUMBER_LENGTH = 39;
const COMMAND_LENGTH = 13;
const BASE_32 = "0123456789abcdefghjkmnpqrstvwxyz";

/** An id of the service as it writes it, also of printed digits; anything else as it is. */
function canonical(code: string): string {
  if (TYPE_ID.test(code)) return code.toLowerCase();
  const prefix = Object.keys(KINDS).find((one) => KINDS[one] === code.charAt(0));
  if (prefix === undefined || code.length !== 1 + NUMBER_LENGTH + 2 || !isChecked(code)) return code;
  let number = BigInt(code.slice(1, -2));
  let suffix = "";
  for (let count = 0; count < 26; count += 1) {
    suffix = (BASE_32[Number(number % 32n)] ?? "") + suffix; // A remainder is less than 32.
    number /= 32n;
  }
  return number === 0n && TYPE_ID.test(`${prefix}_${suffix}`) ? `${prefix}_${suffix}` : code;
}

/** Ids of the service, such as of an order: never those of a carrier or a product. */
const isServiceId = (code: string): boolean => TYPE_ID.test(code);

const isOwnCode = (code: string): boolean => isServiceId(code) || commandOf(code) !== null;

/**
 * What is drawn as the barcode of an order, a shipment or a pick list: only digits, because keyboard layouts and caps lock move
 * letters and `_`, and Code 128 needs half the width for them. Of other texts the text itself.
 */
export function asPrinted(id: string): string {
  const [, prefix = "", suffix = ""] = TYPE_ID.exec(id) ?? [];
  const kind = KINDS[prefix.toLowerCase()];
  if (kind === undefined) return id;
  const number = [...suffix.toLowerCase()].reduce(
    (sum, sign) => sum * 32n + BigInt(BASE_32.indexOf(sign)),
    0n,
  );
  return withCheck(kind + String(number).padStart(NUMBER_LENGTH, "0"));
}

/** The barcode of a command of the packing table, by its number. */
export const commandCode = (number: number): string =>
  withCheck(COMMAND + String(number).padStart(COMMAND_LENGTH, "0"));

/** The number of a scanned command. Null if the code is none. */
export function commandOf(code: string): number | null {
  const isCommand = code.length === 1 + COMMAND_LENGTH + 2 && code.startsWith(COMMAND) && isChecked(code);
  return isCommand ? Number(code.slice(1, -2)) : null;
}

const withCheck = (digits: string): string => digits + String(BigInt(digits) % 97n).padStart(2, "0");

const isChecked = (code: string): boolean => /^\d+$/.test(code) && withCheck(code.slice(0, -2)) === code;

// Codes of products.

/** What barcodes are compared by: numbers of at most 14 digits without the zeros before them. */
const barcodeKey = (barcode: string): string =>
  /^\d{1,14}$/.test(barcode) ? barcode.replace(/^0+(?=\d)/, "") : barcode;

type Coded = { readonly barcode: string | null; readonly sku: string };

/**
 * Which of some things a scanned code names: those with the barcode, else those with the SKU, else those whose SKU differs in
 * case alone. Several if it does not decide.
 */
export function withCode<Thing extends Coded>(things: readonly Thing[], scan: Scan): readonly Thing[] {
  for (const code of [scan.code, ...scan.others]) {
    const found = withReading(things, code);
    if (found.length > 0) return found;
  }
  return [];
}

function withReading<Thing extends Coded>(things: readonly Thing[], code: string): readonly Thing[] {
  const fits: ((thing: Thing) => boolean)[] = [
    ...barcodeKeysIn(code).map(
      (key) =>
        ({ barcode }: Thing) =>
          barcode !== null && barcodeKey(barcode) === key,
    ),
    ({ sku }) => sku === code,
    ({ sku }) => sku.toLowerCase() === code.toLowerCase(),
  ];
  for (const isFit of fits) {
    const found = things.filter(isFit);
    if (found.length > 0) return found;
  }
  return [];
}

/** The keys of products that a code can mean, the most probable first. */
function barcodeKeysIn(code: string): string[] {
  const numbers = [code, gtinIn(code), expandedUpcE(code)].filter((number) => number !== null);
  return [...new Set([...numbers.map(barcodeKey), code.toUpperCase(), code.toLowerCase()])];
}

/** The GTIN in a GS1 element string, with brackets or without, or in the address of a GS1 Digital Link. */
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

/** The UPC of 12 digits that a UPC-E of 8 digits abbreviates. */
function expandedUpcE(code: string): string | null {
  const [, system, digits = "", last = "", check] = /^([01])(\d{5})(\d)(\d)$/.exec(code) ?? [];
  if (system === undefined) return null;
  const zerosAfter = last <= "2" ? 2 : last === "3" ? 3 : last === "4" ? 4 : 5;
  const inserted = last <= "2" ? `${last}0000` : zerosAfter === 5 ? `0000${last}` : "00000";
  const upc = `${system}${digits.slice(0, zerosAfter)}${inserted}${digits.slice(zerosAfter)}${check}`;
  return hasValidCheckDigit(upc) ? upc : null;
}

/** The last digit of a number of GS1: those before it count 3, 1, 3 and so on from the right. */
function hasValidCheckDigit(number: string): boolean {
  const [check = 0, ...others] = [...number].map(Number).reverse();
  const sum = others.reduce((total, digit, index) => total + digit * (index % 2 === 0 ? 3 : 1), 0);
  return (10 - (sum % 10)) % 10 === check;
}

// Keyboards. A scanner presses the keys of a US keyboard, and the computer types what its own layout has on them.

const US = "`1234567890-=qwertyuiop[]\\asdfghjkl;'zxcvbnm,./~!@#$%^&*()_+QWERTYUIOP{}|ASDFGHJKL:\"ZXCVBNM<>?";
/** What common layouts have on the keys of `US`, in its order. A space: a key without a sign of its own. */
const LAYOUTS: readonly string[] = [
  // German.
  "^1234567890ß´qwertzuiopü+#asdfghjklöäyxcvbnm,.-°!\"§$%&/()=?`QWERTZUIOPÜ*'ASDFGHJKLÖÄYXCVBNM;:_",
  // Swiss.
  "§1234567890'^qwertzuiopü¨$asdfghjklöäyxcvbnm,.-°+\"*ç%&/()=?`QWERTZUIOPè!£ASDFGHJKLéàYXCVBNM;:_",
  // French.
  "²&é\"'(-è_çà)=azertyuiop^$*qsdfghjklmùwxcvbn,;:! 1234567890°+AZERTYUIOP¨£µQSDFGHJKLM%WXCVBN?./§",
  // Belgian.
  "²&é\"'(§è!çà)-azertyuiop^$µqsdfghjklmùwxcvbn,;:=³1234567890°_AZERTYUIOP¨*£QSDFGHJKLM%WXCVBN?./+",
  // Czech.
  ";+ěščřžýáíé=´qwertzuiopú)¨asdfghjklů§yxcvbnm,.-°1234567890%ˇQWERTZUIOP/('ASDFGHJKL\"!YXCVBNM?:_",
  // Hungarian.
  "0123456789öüóqwertzuiopőúűasdfghjkléáyxcvbnm,.-§'\"+!%/=()ÖÜÓQWERTZUIOPŐÚŰASDFGHJKLÉÁYXCVBNM?:_",
  // Spanish.
  "º1234567890'¡qwertyuiop`+çasdfghjklñ´zxcvbnm,.-ª!\"·$%&/()=?¿QWERTYUIOP^*ÇASDFGHJKLÑ¨ZXCVBNM;:_",
  // Italian.
  "\\1234567890'ìqwertyuiopè+ùasdfghjklòàzxcvbnm,.-|!\"£$%&/()=?^QWERTYUIOPé*§ASDFGHJKLç°ZXCVBNM;:_",
  // Turkish.
  "\"1234567890*-qwertyuıopğü,asdfghjklşizxcvbnmöç.é!'^+%&/()=?_QWERTYUIOPĞÜ;ASDFGHJKLŞİZXCVBNMÖÇ:",
  // Slovak.
  ';+ľščťžýáíé=´qwertzuiopúäňasdfghjklô§yxcvbnm,.-°1234567890%ˇQWERTZUIOP/()ASDFGHJKL"!YXCVBNM?:_',
  // Lithuanian.
  "`ąčęėįšųū90-žqwertyuiop[]\\asdfghjkl;'zxcvbnm,./~ĄČĘĖĮŠŲŪ()_ŽQWERTYUIOP{}|ASDFGHJKL:\"ZXCVBNM<>?",
  // Nordic.
  "§1234567890+´qwertyuiopå¨'asdfghjklöäzxcvbnm,.-½!\"#¤%&/()=?`QWERTYUIOPÅ^*ASDFGHJKLÖÄZXCVBNM;:_",
];

/** What codes consist of, if they are not for GS1. */
const USUAL_SIGNS = /^[0-9A-Za-z ._/\p{Cc}-]+$/u;
/** Signs that codes seldom have, and that layouts have in the place of digits, `-`, `_` and `]`. */
const MOVED_SIGNS =
  /[^ -~\p{Cc}]|[?&"'(]|^\+[A-Za-z][0-9A-Za-z]|^\$[A-Za-z]&|[0-9A-Za-z]\+[0-9A-Za-z]|[A-Za-z]\*/u;

/** What the scanner has sent. Null if this layout has no key for a sign. */
function undo(text: string, layout: string): string | null {
  const signs = [...text].map((sign) => {
    const at = sign === " " ? -1 : layout.indexOf(sign);
    return sign === " " || sign === GROUP_SEPARATOR ? sign : (US[at] ?? null);
  });
  return signs.includes(null) ? null : signs.join("");
}

/** Keys that follow each other sooner are those of a scanner. */
const FAST_MS = 60;
const FAST_MIN = 4;
/** A slow scanner, such as one by radio, presses keys as evenly as no person does. */
const SLOW_MS = 100;
const SLOW_MIN = 6;
/** The slowest ones are noticed by the suffix alone: a pause behind a code is no longer than one within it. */
export const SLOWEST_MS = 300;
const SLOWEST_MIN = 9;
const isEven = (gaps: readonly number[]): boolean => Math.max(...gaps) <= 1.2 * Math.min(...gaps) + 12;
/** @param timesMs when the keys of a text were pressed */
export function isBurst(timesMs: readonly number[], { isEnded = false } = {}): boolean {
  const gaps = timesMs.slice(1).map((time, index) => time - (timesMs[index] ?? 0));
  if (timesMs.length >= FAST_MIN && gaps.every((gap) => gap <= FAST_MS)) return true;
  const [min, maxMs] =
    isEnded && timesMs.length >= SLOWEST_MIN ? [SLOWEST_MIN, SLOWEST_MS] : [SLOW_MIN, SLOW_MS];
  return timesMs.length >= min && gaps.every((gap) => gap <= maxMs) && isEven(gaps);
}
