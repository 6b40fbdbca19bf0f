import type { Queryable } from "../../platform/database/database.ts";
import { momentOf, uuidAt } from "../../platform/ids.ts";
import { SECOND_MS } from "../../platform/time.ts";

// Find the order that a part of it belongs to, by the part's id alone: scans over all shards, each by an index.

/** The id of the order of a shipment. Null if there is none. */
export async function findOrderIdOfShipment(db: Queryable, shipmentId: string): Promise<string | null> {
  const [row] = await db.query<{ id: string }>({
    name: "find-order-id-of-shipment",
    text: `
      select s.order_id as id
      from merchants m
      join shipments s on s.merchant_id = m.id
      where s.id = $1`,
    values: [shipmentId],
  });
  return row?.id ?? null;
}

/** The id of the order that an event is about. Null if there is none. */
export async function findOrderIdOfEvent(db: Queryable, eventId: string): Promise<string | null> {
  const [row] = await db.query<{ id: string | null }>({
    name: "find-order-id-of-event",
    text: `
      select found.id
      from merchants m
      cross join lateral (
        select e.order_id as id from events e where e.merchant_id = m.id and e.id = $1 offset 0) as found`,
    values: [eventId],
  });
  return row?.id ?? null;
}

/** Lines are made with their order, so their ids are of nearly the same time. */
const APART_MAX_MS = 2 * SECOND_MS;

/**
 * The id of the order of a line. Null if there is none. No index has the ids of lines, so it looks at the orders that were
 * created at the time of the line. A line that a shipment has split off is made later, and not found.
 */
export async function findOrderIdOfLine(db: Queryable, lineId: string): Promise<string | null> {
  const ms = momentOf(lineId).getTime();
  const [row] = await db.query<{ id: string }>({
    name: "find-order-id-of-line",
    text: `
      select found.id
      from merchants m
      cross join lateral (
        select o.id
        from orders o
        join order_lines l on l.merchant_id = o.merchant_id and l.order_id = o.id
        where o.merchant_id = m.id and o.id >= $2 and o.id < $3 and l.id = $1
        offset 0) as found
      limit 1`,
    values: [lineId, uuidAt(new Date(ms - APART_MAX_MS)), uuidAt(new Date(ms + APART_MAX_MS))],
  });
  return row?.id ?? null;
}
