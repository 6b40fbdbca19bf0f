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
