/** An amount in whole minor units, such as cents, of its currency. */
export type Money = { minor: bigint; currency: string };

// With this limit, price × 100 000 units × 100 lines fits into a 64-bit integer.
const AMOUNT_MAX_MINOR = 100_000_000_000n;

const AMOUNT = /^(\d{1,15})(?:\.(\d{1,6}))?$/;

export const isAmount = (text: string): boolean => AMOUNT.test(text);

/** Parses an amount of the API. Null if it has more decimals than its currency, or is too large. */
export function parseMoney(wire: { amount: string; currency: string }): Money | null {
  const match = AMOUNT.exec(wire.amount);
  if (match === null) return null;
  const [, whole, fraction = ""] = match;
  const digits = fractionDigits(wire.currency);
  if (fraction.length > digits) return null;
  const minor = BigInt(`${whole}${fraction.padEnd(digits, "0")}`);
  return minor <= AMOUNT_MAX_MINOR ? { minor, currency: wire.currency } : null;
}

/** The rule that an amount violates which `parseMoney` rejects. */
export const amountError = (currency: string) => ({
  rule: "amount" as const,
  currency,
  decimals: fractionDigits(currency),
  maxAmount: formatMoney({ minor: AMOUNT_MAX_MINOR, currency }).amount,
});

/** At most one amount for each currency, in minor units. */
export type MoneyByCurrency = ReadonlyMap<string, bigint>;

/** Parses a list such as `EUR 100000, JPY 15000000`; null if an entry is invalid or a currency occurs twice. */
export function parseMoneyList(text: string): MoneyByCurrency | null {
  const amounts = new Map<string, bigint>();
  for (const entry of text.split(",")) {
    const [currency = "", amount = "", ...rest] = entry.trim().split(/\s+/);
    const money = isCurrency(currency) && rest.length === 0 ? parseMoney({ amount, currency }) : null;
    if (money === null || amounts.has(currency)) return null;
    amounts.set(currency, money.minor);
  }
  return amounts;
}

/** Money as a decimal string for the API. A negative amount has a minus sign. */
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

/**
 * ISO 4217 currencies by their decimals. Node's own data differs from ISO 4217 (HUF and IDR have no decimals) and from
 * version to version. Amounts are stored in minor units, so other decimals would change each stored amount. So a code
 * is never removed, even if ISO 4217 withdraws it, and never gets other decimals.
 */
const CODES_BY_DIGITS: Readonly<Record<number, string>> = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF",
  2: `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF
    CNY COP CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HRK
    HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU
    MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG
    SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VES WST
    XCD XCG XDR XSU YER ZAR ZMW ZWG ZWL`,
  3: "BHD IQD JOD KWD LYD OMR TND",
};

const digitsByCode: ReadonlyMap<unknown, number> = new Map(
  Object.entries(CODES_BY_DIGITS).flatMap(([digits, codes]) =>
    codes.split(/\s+/).map((code): [string, number] => [code, Number(digits)]),
  ),
);

export const isCurrency = (value: unknown): value is string => digitsByCode.has(value);

/** Decimals of a currency: 2 for EUR, 0 for JPY. */
export function fractionDigits(currency: string): number {
  const digits = digitsByCode.get(currency);
  if (digits === undefined) throw new RangeError(`${currency} is not a known currency.`);
  return digits;
}
