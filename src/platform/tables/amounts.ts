import { fractionDigits } from "../money.ts";

/** An amount of a cell in the form of the API, and what stood before its decimals. */
export type CellAmount = { readonly text: string; readonly decimals: "point" | "comma" | null };

const GROUPED_BY_POINT = /^\d{1,3}(?:\.\d{3})+,\d+$|^\d{1,3}(?:\.\d{3}){2,}$/;
const GROUPED_BY_COMMA = /^\d{1,3}(?:,\d{3})+\.\d+$|^\d{1,3}(?:,\d{3}){2,}$/;
/** A space of any kind, or the apostrophe of Switzerland. They are never decimal signs. */
const GROUPED_OTHERWISE = /^\d{1,3}(?:[\s'\u2019]\d{3})+(?=$|[.,]\d+$)/;

/**
 * The amount that a person has written into a cell (docs/design/fulfilment.md, "Amounts in files"): with the sign or code of the
 * currency, with separated thousands, or with a decimal comma. Null if it has no meaning, or two: one separator before three digits
 * can be either of both, but a point is that of the API, and the comma of a file with a decimal comma.
 */
export function amountOfCell(cell: string, currency: string, hasDecimalComma: boolean): CellAmount | null {
  const number = withoutCurrency(cell.trim(), currency).replace(GROUPED_OTHERWISE, (groups) =>
    groups.replace(/\D/g, ""),
  );
  if (/^\d+(?:\.\d+)?$/.test(number)) return pointed(number);
  if (GROUPED_BY_COMMA.test(number)) return pointed(number.replaceAll(",", ""));
  if (GROUPED_BY_POINT.test(number)) return withComma(number.replaceAll(".", ""));
  const [, decimals] = /^\d+,(\d+)$/.exec(number) ?? [];
  if (decimals === undefined) return null;
  const isThousand = decimals.length === 3 && !(hasDecimalComma && fractionDigits(currency) === 3);
  return isThousand ? null : withComma(number);
}

const pointed = (text: string): CellAmount => ({ text, decimals: text.includes(".") ? "point" : null });

const withComma = (text: string): CellAmount => ({
  text: text.replace(",", "."),
  decimals: text.includes(",") ? "comma" : null,
});

/** Without the currency at one end. Another one stays, so that the amount is refused. */
function withoutCurrency(text: string, currency: string): string {
  const sign = signOf(currency);
  const names = [currency, ...(sign === currency ? [] : [sign])];
  const name = names.find((each) => isAtEnd(text.toUpperCase(), each.toUpperCase()));
  if (name === undefined) return text;
  const length = name.length;
  return (
    text.toUpperCase().startsWith(name.toUpperCase()) ? text.slice(length) : text.slice(0, -length)
  ).trim();
}

const isAtEnd = (text: string, name: string): boolean => text.startsWith(name) || text.endsWith(name);

const signs = new Map<string, string>();

/** Such as `€`, `zł` or `$`, which several currencies have: the amounts of a merchant are in one. */
function signOf(currency: string): string {
  const known = signs.get(currency);
  if (known !== undefined) return known;
  const format = new Intl.NumberFormat("en", {
    ...{ style: "currency", currency, currencyDisplay: "narrowSymbol" },
  });
  const sign = format.formatToParts(0).find(({ type }) => type === "currency")?.value ?? currency;
  signs.set(currency, sign);
  return sign;
}
