import type { Rate } from "../facilities/facility.ts";

/** The lightest rate bracket that covers a weight, to a country and in a currency. Undefined if there is none. */
export const findRateBracket = (
  rates: readonly Rate[],
  { countryCode, currency }: Pick<Rate, "countryCode" | "currency">,
  weightGrams: number,
): Rate | undefined =>
  rates
    .filter((rate) => rate.countryCode === countryCode && rate.currency === currency)
    .filter((rate) => rate.maxWeightGrams >= weightGrams)
    .sort((one, other) => one.maxWeightGrams - other.maxWeightGrams)[0];
