import type { Queryable } from "../../platform/database/database.ts";
import type { RatedFacility } from "./choose-facility.ts";

/** All facilities, with their rates to some countries. A closed one has none, so that no order is routed to it. */
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
              where r.facility_id = f.id and f.closed_at is null and r.country_code = any($1::text[])) as rates
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
 * Prevents changes of rates and new facilities until the transaction ends. Only other routing can run at the same time.
 * It locks the table, because a new facility has no row to lock. A transaction that changes a facility or its rates, or
 * clears supply changes, waits for this lock without holding one that routing needs. So they cannot deadlock.
 *
 * Facilities are on each node of Citus, which passes the lock on to all of them. But all processes change them through the
 * coordinator, where they lock the table, too. So its lock is enough, and orders are put on hold while a node is down
 * (decision 0201).
 */
export async function lockRates(tx: Queryable): Promise<void> {
  if (await tx.isDistributed())
    await tx.query({
      name: "lock-on-the-coordinator-alone",
      text: "select set_config('citus.enable_ddl_propagation', 'off', true)",
      values: [],
    });
  await tx.query({
    name: "lock-rates",
    text: "lock table facilities in share mode",
    values: [],
  });
}
