import type pg from "pg";
import type { Database } from "../../src/platform/database/database.ts";
import { DAY_TABLES } from "../../src/platform/database/day-partitions.ts";
import { uuidAt } from "../../src/platform/ids.ts";
import { DAY_MS, LOG_KEPT_MS } from "../../src/platform/time.ts";
import { FILL_STATEMENTS, PLACE_STATEMENT } from "./fill-statements.ts";

/** An owner of orders: a connection with its only endpoint, and two products with stock at the facility. */
export type Owner = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly endpointId: string;
  readonly productIds: readonly string[];
};

type Fill = {
  readonly owners: readonly Owner[];
  readonly facilityId: string;
  readonly dayCount: number;
  readonly ordersOfDay: number;
};

/**
 * Fills a database with the orders of the days up to now, as creation, jobs and warehouse leave them, and with what the
 * retention times have left of their events and deliveries. The oldest days come first, as in life. Twice as many orders
 * are twice as many days.
 */
export async function fillDays(
  db: Database,
  { owners, facilityId, dayCount, ordersOfDay }: Fill,
  progress: (orders: number) => void,
): Promise<void> {
  await db.withClient(async (client) => {
    // Only this session skips the triggers of foreign keys.
    await client.query("set session_replication_role = replica; set statement_timeout = 0");
    await createOwners(client, owners, facilityId);
    const today = Math.floor(Date.now() / DAY_MS);
    for (let day = today - LOG_KEPT_MS / DAY_MS - 1; day <= today; day += 1)
      await createPartitions(client, day);
    for (let index = 0; index < dayCount; index += 1) {
      const daysAgo = dayCount - index;
      await fillDay(client, index * ordersOfDay, ordersOfDay, daysAgo);
      progress((index + 1) * ordersOfDay);
    }
    await client.query("drop table filled, owners; reset session_replication_role; reset statement_timeout");
  });
}

async function createOwners(
  client: pg.PoolClient,
  owners: readonly Owner[],
  facilityId: string,
): Promise<void> {
  await client.query(
    "create temporary table owners (owner integer, merchant_id uuid, connection_id uuid, endpoint_id uuid, product_1 uuid, product_2 uuid, facility_id uuid)",
  );
  for (const [number, { merchantId, connectionId, endpointId, productIds }] of owners.entries())
    await client.query("insert into owners values ($1, $2, $3, $4, $5, $6, $7)", [
      number,
      merchantId,
      connectionId,
      endpointId,
      productIds[0],
      productIds[1],
      facilityId,
    ]);
}

async function createPartitions(client: pg.PoolClient, day: number): Promise<void> {
  const [from, to] = [new Date(day * DAY_MS), new Date((day + 1) * DAY_MS)];
  const suffix = from.toISOString().slice(0, 10).replaceAll("-", "");
  for (const table of DAY_TABLES)
    await client.query(
      `create table if not exists ${table}_${suffix} partition of ${table} for values from ('${uuidAt(from)}') to ('${uuidAt(to)}')`,
    );
}

/** Orders whose day is longer ago have no events any more, or no deliveries. */
async function fillDay(client: pg.PoolClient, before: number, count: number, daysAgo: number): Promise<void> {
  await client.query("drop table if exists filled");
  await client.query(PLACE_STATEMENT, [before, count, daysAgo]);
  for (const { text, keptMs } of FILL_STATEMENTS)
    if (keptMs === null || (daysAgo + 1) * DAY_MS < keptMs) await client.query(text);
}
