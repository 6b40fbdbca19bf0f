// What people write on the command line, as the back office takes it. Whether it fits is the back office's matter.

/** A text that no request can be made of. The message follows the option's name. */
export class InvalidValue extends Error {}

const NONE = "none";

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidValue("must be a whole number.");
  return Number(text);
}

export function money(text: string): { amount: string; currency: string } {
  const [, amount, currency] = /^(\S+) +([A-Za-z]{3})$/.exec(text.trim()) ?? [];
  if (amount === undefined || currency === undefined)
    throw new InvalidValue('must be an amount with its currency, such as "12.50 EUR".');
  return { amount, currency: currency.toUpperCase() };
}

/** Steps of a rate table with commas between them: `DE 1000 4.90 EUR`. */
export function rates(text: string): { countryCode: string; maxWeightGrams: number; price: object }[] {
  return list(text).map((step) => {
    const [, countryCode, grams, price] = /^([A-Za-z]{2}) +(\d{1,9}) +(\S.*)$/.exec(step) ?? [];
    if (countryCode === undefined || grams === undefined || price === undefined)
      throw new InvalidValue('must be steps such as "DE 1000 4.90 EUR", with commas between them.');
    return { countryCode, maxWeightGrams: Number(grams), price: money(price) };
  });
}

/** Words with commas between them. */
export const list = (text: string): string[] => text.split(",").map((word) => word.trim());

/** `none` takes a limit away. */
export const orNone =
  <T>(read: (text: string) => T) =>
  (text: string): T | null =>
    text === NONE ? null : read(text);

/** An empty text takes it away. */
export const orEmpty = (text: string): string | null => (text === "" ? null : text);

export function yesOrNo(text: string): boolean {
  if (text !== "yes" && text !== "no") throw new InvalidValue("must be yes or no.");
  return text === "yes";
}
