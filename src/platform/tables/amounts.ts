import { fractionDigits } from "../money.ts";

/** An amount of a cell in the form of the API, and what stood before its decimals. */
export type CellAmount = { readonly text: string; readonly decimals: "point" | "comma" | null };

const GROUPED_BY_POINT = /^\d{1,3}(?:\.\d{3})+,\d+$|^\d{1,3}(?:\.\d{3}){2,}$/;
/** India separates the thousands, and above them each two digits. */
const GROUPED_BY_COMMA = /^\d{1,3}(?:,\d{3})+\.\d+$|^\d{1,3}(?:,\d{3}){2,}$|^\d{1,2}(?:,\d\d)+,\d{3}\.\d+$/;
/** A space of any kind, or the apostrophe of Switzerland, also as it is typed. They are never decimal signs. */
const GROUPED_OTHERWISE = /^\d{1,3}(?:[\s'\u2019\u00b4`]\d{3})+(?=$|[.,]\d+$)/;
/** No decimals, in price lists: `12,-`, `12.--`. */
const DASHES = /(?<=\d)[.,][-\u2013\u2014]{1,2}$/;

/**
 * The amount that a person has written into a cell (docs/design/fulfilment.md, "Amounts in files"): with the sign or code of the
 * currency, with separated thousands, or with a decimal comma. Null if it has no meaning, or two: one separator before three digits
 * can be either of both, but a point is that of the API, and the comma of a file with a decimal comma.
 */
export function amountOfCell(cell: string, currency: string, hasDecimalComma: boolean): CellAmount | null {
  const number = withoutGroups(
    withoutCurrency(cell.trim(), currency).replace(DASHES, (dashes) => `${dashes.charAt(0)}0`),
  );
  if (/^\d+(?:\.\d+)?$/.test(number)) return pointed(number);
  if (GROUPED_BY_COMMA.test(number)) return pointed(number.replaceAll(",", ""));
  if (GROUPED_BY_POINT.test(number)) return withComma(number.replaceAll(".", ""));
  const [, decimals] = /^\d+,(\d+)$/.exec(number) ?? [];
  if (decimals === undefined) return null;
  const isThousand = decimals.length === 3 && !(hasDecimalComma && fractionDigits(currency) === 3);
  return isThousand ? null : withComma(number);
}

/**
 * The whole number that a person or a program has written into a cell: with separated thousands, or with one or two decimals that
 * are zero. Null if it is none, or has two meanings, as `1.250` has.
 */
export function wholeNumberOfCell(cell: string): number | null {
  const [, sign = "", digits = ""] = /^([+\-\u2212]?)(\d.*)$/.exec(cell.trim()) ?? [];
  const amount = amountOfCell(digits, "", false)?.text ?? "";
  const [, whole] = /^(\d{1,15})(?:\.0{1,2})?$/.exec(amount) ?? [];
  return whole === undefined ? null : Number(whole) * (sign === "" || sign === "+" ? 1 : -1);
}

/** `1.250` and `1,250`: a thousand or decimals. */
export const hasTwoMeanings = (cell: string): boolean => /^[1-9]\d{0,2}[.,]\d{3}$/.test(cell.trim());

const withoutGroups = (number: string): string =>
  number.replace(GROUPED_OTHERWISE, (groups) => groups.replace(/\D/g, ""));

const pointed = (text: string): CellAmount => ({ text, decimals: text.includes(".") ? "point" : null });

const withComma = (text: string): CellAmount => ({
  text: text.replace(",", "."),
  decimals: text.includes(",") ? "comma" : null,
});

/** Without the currency at one end. Another one stays, so that the amount is refused. */
export function withoutCurrency(text: string, currency: string): string {
  if (currency === "") return text;
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
