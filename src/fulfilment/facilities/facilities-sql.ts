import type { Queryable } from "../../platform/database/database.ts";
import type { PagePosition } from "../../platform/wire/cursor.ts";
import type { Facility, Rate } from "./facility.ts";

type FacilityRow = {
  id: string;
  name: string;
  country_code: string;
  created_at: Date;
  closed_at: Date | null;
};

export async function insertFacility(db: Queryable, facility: Facility): Promise<void> {
  await db.query({
    name: "insert-facility",
    text: "insert into facilities (id, name, country_code, created_at) values ($1, $2, $3, $4)",
    values: [facility.id, facility.name, facility.countryCode, facility.createdAt],
  });
}

export async function readFacility(db: Queryable, facilityId: string): Promise<Facility | null> {
  const [row] = await db.query<FacilityRow>({
    name: "read-facility",
    text: "select id, name, country_code, created_at, closed_at from facilities where id = $1",
    values: [facilityId],
  });
  return row === undefined ? null : toFacility(row);
}

/** Reads a facility and locks it until the transaction ends. Null if there is none. */
export async function lockFacility(tx: Queryable, facilityId: string): Promise<Facility | null> {
  const [row] = await tx.query<FacilityRow>({
    name: "lock-facility",
    text: "select id, name, country_code, created_at, closed_at from facilities where id = $1 for no key update",
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
      select id, name, country_code, created_at, closed_at
      from facilities
      where id > $1 and ($3::text is null or country_code = $3)
        and ($4::boolean is null or $4 = (closed_at is not null)) and ($5::uuid[] is null or id = any($5))
      order by id
      limit $2 + 1`,
    values: [afterId, limit, countryCode, closed, ids],
  });
  return rows.map(toFacility);
}

export async function updateFacilityName(
  db: Queryable,
  facilityId: string,
  name: string,
): Promise<Facility | null> {
  const [row] = await db.query<FacilityRow>({
    name: "rename-facility",
    text: `
      update facilities
      set name = $2
      where id = $1
      returning id, name, country_code, created_at, closed_at`,
    values: [facilityId, name],
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
      returning id, name, country_code, created_at, closed_at`,
    values: [facilityId, closedAt],
  });
  return row === undefined ? null : toFacility(row);
}

const toFacility = (row: FacilityRow): Facility => ({
  id: row.id,
  name: row.name,
  countryCode: row.country_code,
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
