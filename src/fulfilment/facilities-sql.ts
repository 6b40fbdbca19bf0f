import type { Queryable } from "../platform/database/database.ts";
import { versionOf } from "../platform/wire/content-version.ts";
import type { PagePosition } from "../platform/wire/cursor.ts";

type FacilityRow = {
  id: string;
  name: string;
  country_code: string;
  address: FacilityAddress | null;
  created_at: Date;
  closed_at: Date | null;
};

export async function insertFacility(db: Queryable, facility: Facility): Promise<void> {
  await db.query({
    name: "insert-facility",
    text: "insert into facilities (id, name, country_code, address, created_at) values ($1, $2, $3, $4, $5)",
    values: [
      facility.id,
      facility.name,
      facility.countryCode,
      facility.address && JSON.stringify(facility.address),
      facility.createdAt,
    ],
  });
}

export async function readFacility(db: Queryable, facilityId: string): Promise<Facility | null> {
  const [row] = await db.query<FacilityRow>({
    name: "read-facility",
    text: "select id, name, country_code, address, created_at, closed_at from facilities where id = $1",
    values: [facilityId],
  });
  return row === undefined ? null : toFacility(row);
}

/** Reads a facility and locks it until the transaction ends. Null if there is none. */
export async function lockFacility(tx: Queryable, facilityId: string): Promise<Facility | null> {
  const [row] = await tx.query<FacilityRow>({
    name: "lock-facility",
    text: "select id, name, country_code, address, created_at, closed_at from facilities where id = $1 for no key update",
    values: [facilityId],
  });
  return row === undefined ? null : toFacility(row);
}

/** Which of these facilities exist. */
export async function findFacilityIds(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: "find-facility-ids",
    text: "select id from facilities where id = any($1::uuid[])",
    values: [ids],
  });
  return rows.map(({ id }) => id);
}

/** Which facilities are listed. A null restricts nothing. */
export type FacilityFilter = {
  readonly ids: readonly string[] | null;
  readonly countryCode: string | null;
  readonly closed: boolean | null;
};

/** Oldest first. Returns one row more than the page if there is one. */
export async function listFacilities(
  db: Queryable,
  { ids, countryCode, closed }: FacilityFilter,
  { afterId, limit }: PagePosition,
): Promise<Facility[]> {
  const rows = await db.query<FacilityRow>({
    name: "list-facilities",
    text: `
      select id, name, country_code, address, created_at, closed_at
      from facilities
      where id > $1 and ($3::text is null or country_code = $3)
        and ($4::boolean is null or $4 = (closed_at is not null)) and ($5::uuid[] is null or id = any($5))
      order by id
      limit $2 + 1`,
    values: [afterId, limit, countryCode, closed, ids],
  });
  return rows.map(toFacility);
}

export async function updateFacility(
  db: Queryable,
  { id, name, address }: Pick<Facility, "id" | "name" | "address">,
): Promise<Facility | null> {
  const [row] = await db.query<FacilityRow>({
    name: "update-facility",
    text: `
      update facilities
      set name = $2, address = $3
      where id = $1
      returning id, name, country_code, address, created_at, closed_at`,
    values: [id, name, address && JSON.stringify(address)],
  });
  return row === undefined ? null : toFacility(row);
}

/** Closes a facility at this time, or opens it. Null if it is so already. */
export async function updateFacilityClosed(
  db: Queryable,
  facilityId: string,
  closedAt: Date | null,
): Promise<Facility | null> {
  const [row] = await db.query<FacilityRow>({
    name: "close-facility",
    text: `
      update facilities
      set closed_at = $2
      where id = $1 and (closed_at is null) <> ($2::timestamptz is null)
      returning id, name, country_code, address, created_at, closed_at`,
    values: [facilityId, closedAt],
  });
  return row === undefined ? null : toFacility(row);
}

const toFacility = (row: FacilityRow): Facility => ({
  id: row.id,
  name: row.name,
  countryCode: row.country_code,
  address: row.address,
  createdAt: row.created_at,
  closedAt: row.closed_at,
});

/** A facility's rates by country, currency and weight. */
export async function readRates(db: Queryable, facilityId: string): Promise<Rate[]> {
  const rows = await db.query<{
    country_code: string;
    currency: string;
    max_weight_grams: number;
    price_minor: bigint;
  }>({
    name: "read-rates",
    text: `
      select country_code, currency, max_weight_grams, price_minor
      from facility_rates
      where facility_id = $1
      order by country_code, currency, max_weight_grams`,
    values: [facilityId],
  });
  return rows.map((row) => ({
    countryCode: row.country_code,
    currency: row.currency,
    maxWeightGrams: row.max_weight_grams,
    priceMinor: row.price_minor,
  }));
}

export async function deleteRates(tx: Queryable, facilityId: string): Promise<void> {
  await tx.query({
    name: "delete-rates",
    text: "delete from facility_rates where facility_id = $1",
    values: [facilityId],
  });
}

export async function insertRates(tx: Queryable, facilityId: string, rates: readonly Rate[]): Promise<void> {
  await tx.query({
    name: "insert-rates",
    text: `
      insert into facility_rates (facility_id, country_code, currency, max_weight_grams, price_minor)
      select $1, country_code, currency, max_weight_grams, price_minor
      from unnest($2::text[], $3::text[], $4::integer[], $5::bigint[])
        as rate (country_code, currency, max_weight_grams, price_minor)`,
    values: [
      facilityId,
      rates.map(({ countryCode }) => countryCode),
      rates.map(({ currency }) => currency),
      rates.map(({ maxWeightGrams }) => maxWeightGrams),
      rates.map(({ priceMinor }) => priceMinor),
    ],
  });
}

/** The address of a facility, in its country. */
export type FacilityAddress = {
  readonly company: string | null;
  readonly address1: string;
  readonly address2: string | null;
  readonly city: string;
  readonly zip: string | null;
  readonly stateCode: string | null;
  readonly phone: string | null;
  readonly email: string | null;
};

/** A site that orders ship from. */
export type Facility = {
  readonly id: string;
  readonly name: string;
  /** Two upper-case letters. */
  readonly countryCode: string;
  /** Null if it is not known. */
  readonly address: FacilityAddress | null;
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

/** The version of a facility's rates. Their order does not matter (docs/design/api-conventions.md, "Expected versions"). */
export const ratesVersion = (rates: readonly Rate[]): string => versionOf(rates.map(rateText).sort());

const rateText = ({ countryCode, currency, maxWeightGrams, priceMinor }: Rate): string =>
  [countryCode, currency, maxWeightGrams, priceMinor].join(" ");

/** The rates of a facility have changed, and not all waiting orders have been evaluated since. */
export type RateChange = {
  readonly facilityId: string;
  /** Differs for each change, so that a later change is not taken for one that has been evaluated. */
  readonly id: string;
};

/**
 * Marks that a facility's rates change, and locks the facility, so that concurrent changes of its rates wait. Returns
 * false if there is no such facility.
 */
export async function markRatesChanged(
  tx: Queryable,
  facilityId: string,
  changeId: string,
): Promise<boolean> {
  const rows = await tx.query({
    name: "mark-rates-changed",
    text: "update facilities set supply_change_id = $2 where id = $1 returning id",
    values: [facilityId, changeId],
  });
  return rows.length > 0;
}

export async function listRateChanges(db: Queryable): Promise<RateChange[]> {
  const rows = await db.query<{ id: string; supply_change_id: string }>({
    name: "list-rate-changes",
    text: "select id, supply_change_id from facilities where supply_change_id is not null order by supply_change_id",
    values: [],
  });
  return rows.map((row) => ({ facilityId: row.id, id: row.supply_change_id }));
}

/**
 * Clears a change after all waiting orders have been evaluated for it. A later change of the facility's rates stays.
 */
export async function clearRateChange(db: Queryable, { facilityId, id }: RateChange): Promise<void> {
  await db.query({
    name: "clear-rate-change",
    text: "update facilities set supply_change_id = null where id = $1 and supply_change_id = $2",
    values: [facilityId, id],
  });
}
