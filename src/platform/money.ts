import { fractionDigits } from "./currencies.ts";

/** Whole minor units (cents) of one currency. Inside the service an amount is never a fraction. */
export type Money = { minor: bigint; currency: string };

// Kept below the point where price × 100 000 pieces × 100 lines would leave a 64-bit integer.
const AMOUNT_MAX_MINOR = 100_000_000_000n;

const AMOUNT = /^(\d{1,15})(?:\.(\d{1,6}))?$/;

export const isAmount = (text: string): boolean => AMOUNT.test(text);

/** Parses an amount of the wire; null when it has more decimals than its currency, or is too large. */
export function parseMoney(wire: { amount: string; currency: string }): Money | null {
  const match = AMOUNT.exec(wire.amount);
  if (match === null) return null;
  const [, whole, fraction = ""] = match;
  const digits = fractionDigits(wire.currency);
  if (fraction.length > digits) return null;
  const minor = BigInt(`${whole}${fraction.padEnd(digits, "0")}`);
  return minor <= AMOUNT_MAX_MINOR ? { minor, currency: wire.currency } : null;
}

/** Money as a decimal string for the wire. A negative amount, such as the balance of a merchant that owes, has a minus sign. */
export function formatMoney({ minor, currency }: Money): { amount: string; currency: string } {
  const digits = fractionDigits(currency);
  const sign = minor < 0n ? "-" : "";
  const text = minor
    .toString()
    .replace("-", "")
    .padStart(digits + 1, "0");
  const amount = digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
  return { amount: `${sign}${amount}`, currency };
}
