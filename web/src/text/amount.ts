/**
 * An amount as a person types it, as the API takes it. In many countries the decimal sign is a comma. With three digits
 * after it, it may separate thousands, so the service rejects it.
 */
export const typedAmount = (text: string): string => text.trim().replace(/^(\d+),(\d{1,2})$/, "$1.$2");

const decimalSign = (locale: string): string =>
  new Intl.NumberFormat(locale).formatToParts(0.5).find(({ type }) => type === "decimal")?.value ?? ".";

/** An amount of the API as a person finds it in a field. There is a comma only if `typedAmount` reads it back. */
export const fieldAmount = (amount: string, locale: string): string =>
  decimalSign(locale) === "," ? amount.replace(/^(\d+)\.(\d{1,2})$/, "$1,$2") : amount;
