import { fractionDigits } from "../../platform/currencies.ts";

// https://docs.stripe.com/currencies: regardless of ISO 4217, Stripe counts these currencies in whole units,
const WHOLE = new Set("BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" "));
// these in thousandths, whose last digit must be 0,
const THOUSANDTHS = new Set("BHD JOD KWD OMR TND".split(" "));
// and all others in hundredths. Those of ISK and UGX must be whole units, which they are: these have no decimals.

/** An amount in Stripe's units. Null if Stripe cannot express it. */
export function toStripeAmount(minor: bigint, currency: string): number | null {
  const digits = WHOLE.has(currency) ? 0 : THOUSANDTHS.has(currency) ? 3 : 2;
  const scaled = minor * 10n ** BigInt(digits);
  const unit = 10n ** BigInt(fractionDigits(currency));
  const amount = scaled / unit;
  const multiple = THOUSANDTHS.has(currency) ? 10n : 1n;
  const isExact = scaled % unit === 0n && amount % multiple === 0n && amount <= Number.MAX_SAFE_INTEGER;
  return isExact ? Number(amount) : null;
}
