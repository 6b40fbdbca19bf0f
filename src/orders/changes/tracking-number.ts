import { hasValidCheckDigit, readCode } from "../../platform/codes.ts";

/**
 * The tracking number that is printed for people, from what a scanner reads on the label (docs/design/fulfilment.md, "What a label
 * says"). A barcode can have more than the number: a postal code before it, identifiers of GS1, a scanner's own prefix. Only a number
 * with a right check digit is taken out, so that no number of another carrier is shortened. Everything else stays, without spaces around
 * it, and without those between printed groups of digits.
 */
export function trackingNumberOf(scanned: string, carrier: string | null): string {
  const text = readCode(scanned);
  const compact = withoutIdentifiers(text).replace(/[\s-]+/g, "");
  return numberIn(compact, carrier) ?? (IN_GROUPS.test(text) ? text.replaceAll(" ", "") : text);
}

/**
 * All numbers that a code can mean whose carrier is not known, in lower case and without what separates groups of digits: to find
 * what was scanned before, by shipments_tracking_idx.
 */
export const possibleTrackingNumbers = (code: string): string[] => [
  ...new Set(
    [code, trackingNumberOf(code, null), trackingNumberOf(code, "FedEx")]
      .map(comparableNumber)
      .filter((one) => one !== ""),
  ),
];

/** As numbers are compared: in lower case and without what separates groups of digits. */
export const comparableNumber = (trackingNumber: string): string =>
  trackingNumber.toLowerCase().replace(/[\s-]/g, "");

/** Groups of digits and capitals as they are printed, such as `9400 1112 0108 0805 4830 16`: no words. */
const IN_GROUPS = /^(?=(?:\D*\d){8})[A-Z0-9]+(?: [A-Z0-9]+)+$/;
/** GS1 identifiers in brackets, as they are printed beside a barcode: `(420)90210(91)…`. */
const IDENTIFIERS = /^(?:\(\d{2,4}\)[\d ]+)+$/;

const withoutIdentifiers = (text: string): string =>
  IDENTIFIERS.test(text) ? text.replace(/[()]/g, "") : text;

/** Null if the code has the form of no known label, or a wrong check digit. */
function numberIn(code: string, carrier: string | null): string | null {
  const capitals = code.toUpperCase(); // A scanner sends small letters if caps lock is on.
  if (/^1Z[0-9A-Z]{16}$/.test(capitals)) return hasUpsDigit(capitals) ? capitals : null;
  if (/^[A-Z]{2}\d{9}[A-Z]{2}$/.test(capitals)) return hasPostalDigit(capitals) ? capitals : null;
  if (DPD.test(capitals)) return capitals.slice(8, 22);
  if (!/^\d{12,38}$/.test(code)) return null;
  return uspsNumber(code) ?? fedexNumber(code, carrier) ?? (isSscc(code) ? code : null);
}

/** Of DPD: a postal code of 7 signs, the number, the service and the country. Nothing else begins with `%`, so it needs no check digit. */
const DPD = /^%[0-9A-Z]{7}\d{14}\d{3}\d{3}$/;

/** `420`, a postal code of 5 or 9 digits, and the number of 22 or 26 digits, which is printed alone. */
function uspsNumber(code: string): string | null {
  const numbers = code.startsWith("420") ? [code.slice(12), code.slice(8)] : [code];
  return (
    numbers.find((number) => /^9[1-5](?:\d{20}|\d{24})$/.test(number) && hasValidCheckDigit(number)) ?? null
  );
}

/** The long forms of FedEx: 34 digits with the number of 12 or 14 at the end, and 22 digits with one of 15. */
function fedexNumber(code: string, carrier: string | null): string | null {
  if (/^(?:100|96)\d+$/.test(code) && code.length === 34) {
    const number = code.slice(-14).replace(/^00(?=\d{12}$)/, "");
    return hasFedexDigit(number) ? number : null;
  }
  // One in ten numbers has this check digit by chance, so the carrier has to be known too.
  const isFedex = /^fed(?:ex|eralexpress)/.test(carrier?.toLowerCase().replace(/[^a-z]/g, "") ?? "");
  if (!isFedex) return null;
  if (/^96\d{20}$/.test(code)) return hasValidCheckDigit(code.slice(-15)) ? code.slice(-15) : null;
  if (code.length === 12) return hasFedexDigit(code) ? code : null;
  return code.length === 15 && hasValidCheckDigit(code) ? code : null;
}

/** A parcel's number of GS1, which carriers in Europe print with its identifier `00`. */
const isSscc = (code: string): boolean => /^00\d{18}$/.test(code) && hasValidCheckDigit(code);

const digitsOf = (number: string): number[] => [...number].map(Number);

/** FedEx: they count 1, 3, 7 and so on from the right, modulo 11, and 10 counts as 0. */
function hasFedexDigit(number: string): boolean {
  const [check = 0, ...others] = digitsOf(number).reverse();
  const sum = others.reduce((total, digit, index) => total + digit * ([1, 3, 7][index % 3] ?? 0), 0);
  return (sum % 11) % 10 === check;
}

/** Posts (S10 of the UPU): eight digits with weights, modulo 11. */
function hasPostalDigit(number: string): boolean {
  const digits = digitsOf(number.slice(2, 10));
  const sum = digits.reduce(
    (total, digit, index) => total + digit * ([8, 6, 4, 2, 3, 5, 9, 7][index] ?? 0),
    0,
  );
  const check = 11 - (sum % 11);
  return Number(number[10]) === (check === 10 ? 0 : check === 11 ? 5 : check);
}

/** UPS: letters count as digits from A = 2, every second one twice. */
function hasUpsDigit(number: string): boolean {
  const values = [...number.slice(2)].map((sign) =>
    /\d/.test(sign) ? Number(sign) : (sign.charCodeAt(0) - 63) % 10,
  );
  const check = values.pop();
  const sum = values.reduce((total, value, index) => total + value * (index % 2 === 0 ? 1 : 2), 0);
  return (10 - (sum % 10)) % 10 === check;
}
