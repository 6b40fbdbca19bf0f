/**
 * An amount as a person types it, as the API takes it. In many countries the decimal sign is a comma. With three digits
 * after it, it may separate thousands, so the service rejects it. Thousands may be separated as the locale does if that
 * cannot mean anything else.
 */
export function typedAmount(text: string, locale: string, currency: string): string {
  const typed = text.trim();
  const decimals = decimalsOf(currency);
  const isFraction = (digits: string) =>
    digits.length < 3 || (digits.length === decimals && signsOf(locale).decimal === ",");
  return (
    ungrouped(typed, locale, decimals) ??
    typed.replace(/^(\d+),(\d{1,3})$/, (all, whole, digits) =>
      isFraction(digits) ? `${whole}.${digits}` : all,
    )
  );
}

/** As the service counts them. Browsers have other decimals for some currencies. */
export function decimalsOf(currency: string): number {
  if (WITHOUT_DECIMALS.includes(currency)) return 0;
  return WITH_THREE_DECIMALS.includes(currency) ? 3 : 2;
}

const WITHOUT_DECIMALS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF".split(" ");
const WITH_THREE_DECIMALS = "BHD IQD JOD KWD LYD OMR TND".split(" ");

/** `1,234.50` of en-US as `1234.50`. Null if the groups are not those of the locale, or if `1,234` may be a fraction. */
function ungrouped(typed: string, locale: string, decimals: number): string | null {
  const { group, decimal } = signsOf(locale);
  const [whole = "", fraction, ...others] = plain(typed).split(decimal);
  if (others.length > 0 || (fraction !== undefined && !/^\d+$/.test(fraction))) return null;
  const groups = whole.split(group);
  const mayBeFraction = decimals > 0 && groups.length === 2 && fraction === undefined && /[.,]/.test(group);
  if (groups.length < 2 || mayBeFraction || !groups.every((digits) => /^\d+$/.test(digits))) return null;
  const digits = groups.join("");
  if (grouped(digits, locale) !== whole) return null;
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}

/** One kind of space and of apostrophe: keyboards have others than formats. */
const plain = (text: string): string => text.replace(/\s/g, " ").replaceAll("'", "’");

const grouped = (digits: string, locale: string): string =>
  plain(new Intl.NumberFormat(locale, { useGrouping: "always" }).format(BigInt(digits)));

function signsOf(locale: string): { group: string; decimal: string } {
  const parts = new Intl.NumberFormat(locale, { useGrouping: "always" }).formatToParts(1234567.5);
  const signOf = (wanted: string) => plain(parts.find(({ type }) => type === wanted)?.value ?? "");
  return { group: signOf("group") || ",", decimal: signOf("decimal") || "." };
}

/** An amount of the API as a person finds it in a field. There is a comma only if `typedAmount` reads it back. */
export function fieldAmount(amount: string, locale: string, currency: string): string {
  const shown = signsOf(locale).decimal === "," ? amount.replace(".", ",") : amount;
  return typedAmount(shown, locale, currency) === amount ? shown : amount;
}
