import type { Database } from "../../src/platform/database/database.ts";
import { toTypeId, uuidAt } from "../../src/platform/ids.ts";
import { DAY_MS } from "../../src/platform/time.ts";
import type { Owner } from "./fill-days.ts";
import type { Names } from "./reads.ts";

/** The connections of a database that orders are stored for, and its facility. */
export async function readOwners(db: Database): Promise<{ owners: Owner[]; facilityId: string }> {
  const owners = await db.query<Owner & { facilityId: string }>({
    name: "bench-read-owners",
    text: `
      select w.merchant_id as "merchantId", w.connection_id as "connectionId", w.id as "endpointId",
             array(
               select e.product_id from exposed_products e
               where e.merchant_id = w.merchant_id and e.connection_id = w.connection_id order by e.product_id) as "productIds",
             (select id from facilities) as "facilityId"
      from webhook_endpoints w
      order by w.connection_id`,
    values: [],
  });
  const facilityId = owners[0]?.facilityId;
  if (facilityId === undefined) throw new Error("The database has no endpoint.");
  return { owners, facilityId };
}

/** Names in the requests: things of the first owner. */
export async function readNames(
  db: Database,
  { merchantId, connectionId, endpointId, productIds }: Owner,
  facilityId: string,
): Promise<Names> {
  const monthOld = await firstOrder(db, merchantId, new Date(Date.now() - 20 * DAY_MS));
  const order = await firstOrder(db, merchantId, new Date(Date.now() - 2 * DAY_MS));
  const [parts] = await db.query<{ delivery: string; event: string; shipment: string }>({
    name: "bench-read-parts",
    text: `
      select (select id from shipments where merchant_id = $1 and order_id = $2) as shipment,
             (select id from events where merchant_id = $1 and order_id = $2 and sequence = 1) as event,
             (select id from deliveries where merchant_id = $1 and stream_id = $2 and sequence = 1) as delivery`,
    values: [merchantId, order],
  });
  if (parts === undefined) throw new Error("A row of subqueries is always there.");
  return {
    merchant: toTypeId("mer", merchantId),
    connection: toTypeId("con", connectionId),
    facility: toTypeId("fac", facilityId),
    endpoint: toTypeId("whe", endpointId),
    product: productIds[0] ?? "",
    order: toTypeId("ord", order),
    monthOld: toTypeId("ord", monthOld),
    oldest: toTypeId("ord", await firstOrder(db, merchantId, new Date(0))),
    delivery: toTypeId("dlv", parts.delivery),
    event: toTypeId("evt", parts.event),
    shipment: toTypeId("shp", parts.shipment),
    today: new Date(Date.now() - DAY_MS / 2).toISOString(),
    lastWeek: new Date(Date.now() - 7 * DAY_MS).toISOString(),
  };
}

/** The first completed order of a merchant since a time, or the oldest of all. */
async function firstOrder(db: Database, merchantId: string, since: Date): Promise<string> {
  const [row] = await db.query<{ id: string }>({
    name: "bench-first-order",
    text: `
      select id from orders
      where merchant_id = $1 and status = 'COMPLETED'
      order by id < $2, id
      limit 1`,
    values: [merchantId, uuidAt(since)],
  });
  if (row === undefined) throw new Error("No order is stored since that time.");
  return row.id;
}
