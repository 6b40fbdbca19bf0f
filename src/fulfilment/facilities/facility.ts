import { versionOf } from "../../platform/wire/content-version.ts";

/** A site that orders ship from. */
export type Facility = {
  readonly id: string;
  readonly name: string;
  /** Two upper-case letters. */
  readonly countryCode: string;
  readonly createdAt: Date;
  /** Since when no order is routed to it. Null while it is open. */
  readonly closedAt: Date | null;
};

/** A rate bracket of a facility: the price of shipping to a country, up to a weight. */
export type Rate = {
  readonly countryCode: string;
  readonly currency: string;
  readonly maxWeightGrams: number;
  /** In minor units of the currency. */
  readonly priceMinor: bigint;
};

/** The version of a facility's rates. Their order does not matter (decision 0208). */
export const ratesVersion = (rates: readonly Rate[]): string => versionOf(rates.map(rateText).sort());

const rateText = ({ countryCode, currency, maxWeightGrams, priceMinor }: Rate): string =>
  [countryCode, currency, maxWeightGrams, priceMinor].join(" ");
