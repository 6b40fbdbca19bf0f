import { isCurrency } from "../../../platform/currencies.ts";
import { isAmount, parseMoney } from "../../../platform/money.ts";
import type { ValidationError } from "../../../platform/wire/problems.ts";

/**
 * The error of an amount that must be in one currency, with no more decimals than it has. The schema checks its form.
 */
export function amountErrors(body: unknown, pointer: string, currency: string): ValidationError[] {
  const fits = fitsCurrency(valueAt(body, pointer), currency);
  return fits ? [] : [{ pointer, detail: `must be an amount in ${currency}` }];
}

function fitsCurrency(sent: unknown, currency: string): boolean {
  const [amount, sentCurrency] = [valueAt(sent, "/amount"), valueAt(sent, "/currency")];
  if (!isCurrency(sentCurrency)) return true;
  if (sentCurrency !== currency) return false;
  return typeof amount !== "string" || !isAmount(amount) || parseMoney({ amount, currency }) !== null;
}

/** What a JSON pointer leads to in a body of any form; undefined when it leads nowhere. */
export const valueAt = (body: unknown, pointer: string): unknown =>
  pointer
    .slice(1)
    .split("/")
    // Of text and numbers, too, a name that they do not have is undefined.
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], body);

/** Minor units of an amount that has been checked by `amountErrors`. */
export function minorOf(checked: { amount: string; currency: string }): bigint {
  const money = parseMoney(checked);
  if (money === null) throw new Error("An amount was not checked before it was used.");
  return money.minor;
}
