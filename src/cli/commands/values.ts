import { parseTime } from "../../platform/time.ts";
import { isDay, yearError } from "../../platform/wire/validation.ts";

// Reads what people write on the command line. The back office checks the values.

/** A text without a meaning. The message follows the name of the option. */
export class InvalidValue extends Error {}

const NONE = "none";

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidValue("must be a whole number.");
  return Number(text);
}

/** A whole number with or without a sign. */
export function difference(text: string): number {
  if (!/^[+-]?\d{1,15}$/.test(text)) throw new InvalidValue("must be a whole number, such as 5 or -2.");
  return Number(text);
}

export function money(text: string): { amount: string; currency: string } {
  const [, amount, currency] = /^(\S+) +([A-Za-z]{3})$/.exec(text.trim()) ?? [];
  if (amount === undefined || currency === undefined)
    throw new InvalidValue('must be an amount with its currency, such as "12.50 EUR".');
  return { amount, currency: currency.toUpperCase() };
}

/** Shipping rates separated by commas: `DE 1000 4.90 EUR`. */
export function rates(text: string): { countryCode: string; maxWeightGrams: number; price: object }[] {
  return list(text).map((rate) => {
    const [, countryCode, grams, price] = /^([A-Za-z]{2}) +(\d{1,9}) +(\S.*)$/.exec(rate) ?? [];
    if (countryCode === undefined || grams === undefined || price === undefined)
      throw new InvalidValue('must be rates such as "DE 1000 4.90 EUR", separated by commas.');
    return { countryCode, maxWeightGrams: Number(grams), price: money(price) };
  });
}

/** Quantities of lines separated by commas: `line_... 3`. */
export function lineQuantities(text: string): { lineId: string; quantity: number }[] {
  return list(text).map((item) => {
    const [, lineId, quantity] = /^(\S+) +(\d{1,9})$/.exec(item) ?? [];
    if (lineId === undefined || quantity === undefined)
      throw new InvalidValue('must be quantities such as "line_... 3", separated by commas.');
    return { lineId, quantity: Number(quantity) };
  });
}

/** Products with their quantities separated by commas: `019f... 2`. */
export function orderedProducts(text: string): { productId: string; quantity: number }[] {
  return list(text).map((item) => {
    const [, productId, quantity] = /^(\S+) +(\d{1,9})$/.exec(item) ?? [];
    if (productId === undefined || quantity === undefined)
      throw new InvalidValue('must be products such as "019f... 2", separated by commas.');
    return { productId, quantity: Number(quantity) };
  });
}

const GRANT_FIELDS: Readonly<Record<string, string>> = {
  merchant: "merchantIds",
  warehouse: "facilityIds",
  partner: "connectionIds",
};

/** Roles separated by semicolons, each with the ids that it is for: `operator; merchant mer_...,mer_...`. */
export function grants(text: string): Record<string, unknown>[] {
  return text.split(";").map((grant) => {
    const [, role, ids] = /^([a-z]+)(?: +(\S.*))?$/.exec(grant.trim()) ?? [];
    const field = role === undefined ? undefined : GRANT_FIELDS[role];
    if (role === undefined || (ids !== undefined && field === undefined))
      throw new InvalidValue(
        'must be roles such as "operator" or "merchant mer_...", separated by semicolons.',
      );
    return field === undefined || ids === undefined ? { role } : { role, [field]: list(ids) };
  });
}

/** Texts by name separated by commas: `color=red`. */
export function textsByName(text: string): Record<string, string> {
  return Object.fromEntries(
    list(text).map((pair) => {
      const [, name, value] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
      if (name === undefined || value === undefined)
        throw new InvalidValue('must be pairs such as "color=red", separated by commas.');
      return [name, value];
    }),
  );
}

/** Items separated by commas. */
export const list = (text: string): string[] => text.split(",").map((item) => item.trim());

/** `none` removes the value. */
export const orNone =
  <T>(read: (text: string) => T) =>
  (text: string): T | null =>
    text === NONE ? null : read(text);

/** An empty text removes the value. */
export const orEmpty = (text: string): string | null => (text === "" ? null : text);

const TIME = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?))?$/i;

/** A day begins at midnight UTC. A time without a zone would depend on the machine. */
export function time(text: string): string {
  const [, day = ""] = TIME.exec(text) ?? [];
  const moment = parseTime(day === text ? `${day}T00:00:00Z` : text);
  if (Number.isNaN(moment.getTime()) || !isDay(day))
    throw new InvalidValue("must be a day, or a time with its zone: 2026-01-31, 2026-01-31T12:00:00Z.");
  const error = yearError(moment);
  if (error !== null) throw new InvalidValue(`${error}.`);
  return moment.toISOString();
}

export function yesOrNo(text: string): boolean {
  if (text !== "yes" && text !== "no") throw new InvalidValue("must be yes or no.");
  return text === "yes";
}
