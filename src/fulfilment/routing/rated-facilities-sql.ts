import type { Queryable } from "../../platform/database/database.ts";
import type { RatedFacility } from "./choose-facility.ts";

/** All facilities, each with its rates to some countries. */
export async function readRatedFacilities(
  db: Queryable,
  countryCodes: readonly string[],
): Promise<RatedFacility[]> {
  const rows = await db.query<{
    id: string;
    country_code: string;
    rates: { countryCode: string; currency: string; maxWeightGrams: number; priceMinor: string }[];
  }>({
    name: "read-rated-facilities",
    text: `
      select f.id, f.country_code,
             (select coalesce(json_agg(json_build_object(
                       'countryCode', r.country_code, 'currency', r.currency,
                       'maxWeightGrams', r.max_weight_grams, 'priceMinor', r.price_minor::text)), '[]')
              from facility_rates r
              where r.facility_id = f.id and r.country_code = any($1::text[])) as rates
      from facilities f`,
    values: [countryCodes],
  });
  return rows.map((row) => ({
    id: row.id,
    countryCode: row.country_code,
    rates: row.rates.map((rate) => ({ ...rate, priceMinor: BigInt(rate.priceMinor) })),
  }));
}

/**
 * Keeps rates from being changed, and facilities from being opened, until the transaction ends; routing alone may go on
 * beside it. The table, because a facility that is being opened has no row to lock. Whoever changes a facility or its
 * rates, or forgets news of them, waits for this with no lock that routing wants, so nobody waits in a circle.
 */
export async function lockRates(tx: Queryable): Promise<void> {
  await tx.query({
    name: "lock-rates",
    text: "lock table facilities in share mode",
    values: [],
  });
}
