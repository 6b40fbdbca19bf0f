/** A place that orders are sent from. */
export type Facility = {
  readonly id: string;
  readonly name: string;
  /** Two upper-case letters. */
  readonly countryCode: string;
  readonly createdAt: Date;
};

/** What shipping costs from a facility: to a country, up to a weight, in minor units of a currency. */
export type Rate = {
  readonly countryCode: string;
  readonly currency: string;
  readonly maxWeightGrams: number;
  readonly priceMinor: bigint;
};
