import { amountError, isAmount, isCurrency, parseMoney } from "../../platform/money.ts";
import type { ValidationError } from "../../platform/wire/problems.ts";

/**
 * The error of an amount that is not in the required currency, has more decimals than it, or is too large. The schema
 * checks the form.
 */
export function amountErrors(body: unknown, pointer: string, currency: string): ValidationError[] {
  const fits = fitsCurrency(valueAt(body, pointer), currency);
  return fits ? [] : [{ pointer, ...amountError(currency) }];
}

/** The same, and the error of an amount of zero. */
export function positiveAmountErrors(body: unknown, pointer: string, currency: string): ValidationError[] {
  const amount = valueAt(body, `${pointer}/amount`);
  const isNothing = typeof amount === "string" && isAmount(amount) && /^[0.]+$/.test(amount);
  return isNothing ? [{ pointer, rule: "positive" }] : amountErrors(body, pointer, currency);
}

function fitsCurrency(sent: unknown, currency: string): boolean {
  const [amount, sentCurrency] = [valueAt(sent, "/amount"), valueAt(sent, "/currency")];
  if (!isCurrency(sentCurrency)) return true;
  if (sentCurrency !== currency) return false;
  return typeof amount !== "string" || !isAmount(amount) || parseMoney({ amount, currency }) !== null;
}

/** The value at a JSON pointer in a body of any form. Undefined if there is none. */
export const valueAt = (body: unknown, pointer: string): unknown =>
  pointer
    .slice(1)
    .split("/")
    // A name that a string or a number does not have is undefined too.
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], body);

/** The minor units of an amount that `amountErrors` has checked. */
export function minorOf(checked: { amount: string; currency: string }): bigint {
  const money = parseMoney(checked);
  if (money === null) throw new Error("An amount was not checked before it was used.");
  return money.minor;
}
