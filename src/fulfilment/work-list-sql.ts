import type { OrderKey } from "../lifecycle/order.ts";
import { readExternalIds } from "../orders/owners-sql.ts";
import { type ConnectionKeyRow, toConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import { type FittingRow, toFitting } from "../platform/database/day-partitions.ts";
import { type PagePosition, ROWS_READ_MAX } from "../platform/wire/cursor.ts";
import type { PickList, PutAside, WorkItem } from "./pick-lists-sql.ts";

type WorkItemRow = ConnectionKeyRow & {
  id: string;
  pick_list_id: string | null;
  taken_by: string | null;
  expires_at: Date | null;
  box: number | null;
  aside_reason: PutAside["reason"] | null;
  aside_by: string | null;
  aside_at: Date | null;
};

/** Which orders are listed. A null restricts nothing. */
export type WorkFilter = {
  readonly facilityIds: readonly string[] | null;
  /** True if a person has taken the order. */
  readonly taken: boolean | null;
};

type WorkPage = {
  readonly items: readonly WorkItem[];
  /** The last order that was read, if reading ended before the page was full. Null if all were read. */
  readonly readTo: string | null;
};

/** Facilities whose orders one statement reads. */
const FACILITIES_OF_STATEMENT = 100;

/**
 * Orders that can be shipped, oldest first over all merchants. Returns one more than the page if there is one. Reads at
 * most ROWS_READ_MAX of a facility, by orders_to_ship_idx. `readWork` leaves out those without an unshipped line.
 */
export async function listWork(
  db: Queryable,
  filter: WorkFilter,
  position: PagePosition,
  now: Date,
): Promise<WorkPage> {
  // Null: the orders that have no facility.
  const sites = filter.facilityIds ?? [null, ...(await listAllFacilityIds(db))];
  const pages: WorkPage[] = [];
  for (let from = 0; from < sites.length; from += FACILITIES_OF_STATEMENT) {
    const some = sites.slice(from, from + FACILITIES_OF_STATEMENT);
    pages.push(await listWorkOf(db, some, filter.taken, position, now));
  }
  return mergePages(pages);
}

function mergePages(pages: readonly WorkPage[]): WorkPage {
  const [readTo = null] = pages.flatMap((page) => page.readTo ?? []).sort();
  const items = pages
    .flatMap((page) => page.items)
    .filter(({ id }) => readTo === null || id <= readTo)
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  return { items, readTo };
}

const listAllFacilityIds = async (db: Queryable): Promise<string[]> => {
  const rows = await db.query<{ id: string }>({
    name: "list-all-facility-ids",
    text: "select id from facilities order by id",
    values: [],
  });
  return rows.map(({ id }) => id);
};

/**
 * A part for each facility instead of a join with their list, because Citus limits no part of a join
 * (docs/design/distribution.md, "Merchant by merchant").
 */
const workAt = (facility: string): string => `(
          select o.merchant_id, o.connection_id, o.id
          from orders o
          where o.has_unshipped and o.routed_at is not null and o.status in ('ACCEPTED', 'IN_PROGRESS')
            and o.hold_reasons = '{}' and not o.test_mode
            and coalesce(o.facility_id, '00000000-0000-0000-0000-000000000000'::uuid)
              = coalesce(${facility}, '00000000-0000-0000-0000-000000000000'::uuid)
            and o.id > $1
          order by o.id
          limit 5000)`;

async function listWorkOf(
  db: Queryable,
  sites: readonly (string | null)[],
  taken: boolean | null,
  { afterId, limit }: PagePosition,
  now: Date,
): Promise<WorkPage> {
  const rows = await db.query<FittingRow<WorkItemRow>>({
    // Not a named statement: each number of facilities has its own text.
    name: "",
    text: `
      with part as materialized (
        select found.*
        from (${sites.map((_site, index) => workAt(`($5::uuid[])[${index + 1}]`)).join("\n        union all ")}) as found
        order by found.id
        limit 5000
      )
      select p.last_id, p.read_count, f.*
      from (
        select (array_agg(part.id order by part.id desc))[1] as last_id,
               count(*)::integer as read_count
        from part
      ) as p
      left join lateral (
        select o.merchant_id, o.connection_id, o.id, c.pick_list_id, c.expires_at, c.box, l.taken_by,
               a.reason as aside_reason, a.actor_name as aside_by, a.put_aside_at as aside_at
        from part o
        left join pick_list_orders c on c.merchant_id = o.merchant_id and c.order_id = o.id and c.expires_at > $4
        left join pick_lists l on l.id = c.pick_list_id
        left join put_aside_orders a on a.merchant_id = o.merchant_id and a.order_id = o.id
        where $3::boolean is null or $3 = (c.order_id is not null)
        order by o.id
        limit $2 + 1
      ) as f on true
      order by f.id`,
    values: [afterId, limit, taken, now, sites],
  });
  const { found, readTo } = toFitting(rows, ROWS_READ_MAX);
  return { items: found.map(toWorkItem), readTo };
}

/** The orders on a pick list that can still be shipped, oldest first. */
export async function listPickListWork(db: Queryable, pickListId: string, now: Date): Promise<WorkItem[]> {
  const rows = await db.query<WorkItemRow>({
    name: "list-pick-list-work",
    text: `
      select o.merchant_id, o.connection_id, o.id, c.pick_list_id, c.expires_at, c.box, l.taken_by,
               a.reason as aside_reason, a.actor_name as aside_by, a.put_aside_at as aside_at
      from pick_list_orders c
      join pick_lists l on l.id = c.pick_list_id
      join orders o on o.merchant_id = c.merchant_id and o.id = c.order_id
      left join put_aside_orders a on a.merchant_id = o.merchant_id and a.order_id = o.id
      where c.pick_list_id = $1 and c.expires_at > $2 and o.has_unshipped and o.routed_at is not null
        and o.status in ('ACCEPTED', 'IN_PROGRESS') and o.hold_reasons = '{}' and not o.test_mode
        and exists (
          select from order_lines l where l.merchant_id = o.merchant_id and l.order_id = o.id and l.shipment_id is null and l.cancellation_id is null)
      order by o.id`,
    values: [pickListId, now],
  });
  return rows.map(toWorkItem);
}

/** A line of an order with what a person needs to know of its product. */
export type WorkLine = {
  readonly orderId: string;
  readonly id: string;
  readonly productId: string;
  readonly quantity: number;
  /** Null: it has not shipped. */
  readonly shipmentId: string | null;
  readonly returnedQuantity: number;
  /** Null: it is not canceled. */
  readonly cancellationId: string | null;
  readonly sku: string;
  readonly name: string;
  readonly barcode: string | null;
  readonly imageUrl: string | null;
  readonly weightGrams: number | null;
};

/** The unshipped lines of orders, with the products as they are now. */
export async function listWorkLines(
  db: Queryable,
  orders: readonly Pick<WorkItem, "merchantId" | "id">[],
): Promise<WorkLine[]> {
  if (orders.length === 0) return [];
  return db.query<WorkLine>({
    name: "list-work-lines",
    text: `
      select l.order_id as "orderId", l.id, l.product_id as "productId", l.quantity,
             l.shipment_id as "shipmentId", l.returned_quantity as "returnedQuantity",
             l.cancellation_id as "cancellationId", p.sku, p.name, p.barcode,
             p.image_url as "imageUrl", p.weight_grams as "weightGrams"
      from unnest($1::uuid[], $2::uuid[]) as listed (merchant_id, order_id)
      join order_lines l on l.merchant_id = listed.merchant_id and l.order_id = listed.order_id
      join products p on p.merchant_id = l.merchant_id and p.id = l.product_id
      where l.shipment_id is null and l.cancellation_id is null
      order by l.order_id, l.id`,
    values: [orders.map(({ merchantId }) => merchantId), orders.map(({ id }) => id)],
  });
}

/** Whose orders these are, for people to read. */
export type WorkNames = { readonly merchantName: string; readonly connectionName: string };

/** The names of the merchants and connections of orders, by the id of the connection. */
export async function listWorkNames(
  db: Queryable,
  orders: readonly Pick<WorkItem, "merchantId" | "connectionId">[],
): Promise<ReadonlyMap<string, WorkNames>> {
  if (orders.length === 0) return new Map();
  const rows = await db.query<{ connection_id: string; merchant_name: string; connection_name: string }>({
    name: "list-work-names",
    text: `
      select c.id as connection_id, m.name as merchant_name, c.name as connection_name
      from (select distinct * from unnest($1::uuid[], $2::uuid[]) as k (merchant_id, connection_id)) as listed
      join connections c on c.merchant_id = listed.merchant_id and c.id = listed.connection_id
      join merchants m on m.id = c.merchant_id`,
    values: [orders.map(({ merchantId }) => merchantId), orders.map(({ connectionId }) => connectionId)],
  });
  return new Map(
    rows.map((row) => [
      row.connection_id,
      { merchantName: row.merchant_name, connectionName: row.connection_name },
    ]),
  );
}

/** All lines of an order, with the products as they are now. */
export const listOrderLines = (
  db: Queryable,
  order: Pick<WorkItem, "merchantId" | "id">,
): Promise<WorkLine[]> =>
  db.query<WorkLine>({
    name: "list-order-lines-with-products",
    text: `
      select l.order_id as "orderId", l.id, l.product_id as "productId", l.quantity,
             l.shipment_id as "shipmentId", l.returned_quantity as "returnedQuantity",
             l.cancellation_id as "cancellationId", p.sku, p.name, p.barcode,
             p.image_url as "imageUrl", p.weight_grams as "weightGrams"
      from order_lines l
      join products p on p.merchant_id = $1 and p.id = l.product_id
      where l.merchant_id = $1 and l.order_id = $2
      order by l.id`,
    values: [order.merchantId, order.id],
  });

/** The pick list that an order is on, and whether it was put aside. */
export async function readWorkMarks(
  db: Queryable,
  order: Pick<WorkItem, "merchantId" | "id">,
  now: Date,
): Promise<Pick<WorkItem, "pickList" | "putAside">> {
  const [row] = await db.query<WorkItemRow>({
    name: "read-work-marks",
    text: `
      select o.merchant_id, o.connection_id, o.id, c.pick_list_id, c.expires_at, c.box, l.taken_by,
             a.reason as aside_reason, a.actor_name as aside_by, a.put_aside_at as aside_at
      from orders o
      left join pick_list_orders c on c.merchant_id = o.merchant_id and c.order_id = o.id and c.expires_at > $3
      left join pick_lists l on l.id = c.pick_list_id
      left join put_aside_orders a on a.merchant_id = o.merchant_id and a.order_id = o.id
      where o.merchant_id = $1 and o.id = $2`,
    values: [order.merchantId, order.id, now],
  });
  return row === undefined ? { pickList: null, putAside: null } : toWorkItem(row);
}

/** Marks an order as put aside. Returns false if it is, for the same reason. */
export async function markPutAside(
  tx: Queryable,
  order: Pick<WorkItem, "merchantId" | "id">,
  { reason, by, at }: PutAside,
): Promise<boolean> {
  const rows = await tx.query({
    name: "mark-put-aside",
    text: `
      insert into put_aside_orders (merchant_id, order_id, reason, actor_name, put_aside_at)
      values ($1, $2, $3, $4, $5)
      on conflict (merchant_id, order_id) do update
      set reason = excluded.reason, actor_name = excluded.actor_name, put_aside_at = excluded.put_aside_at
      where put_aside_orders.reason <> excluded.reason
      returning order_id`,
    values: [order.merchantId, order.id, reason, by, at],
  });
  return rows.length > 0;
}

/** Returns false if it was not put aside. */
export async function unmarkPutAside(
  tx: Queryable,
  order: Pick<WorkItem, "merchantId" | "id">,
): Promise<boolean> {
  const rows = await tx.query({
    name: "unmark-put-aside",
    text: "delete from put_aside_orders a where a.merchant_id = $1 and a.order_id = $2 returning a.order_id",
    values: [order.merchantId, order.id],
  });
  return rows.length > 0;
}

/** How many of a merchant's shipments are looked through for their carriers. */
const SHIPMENTS_LOOKED_THROUGH = 300;

/** The carriers of the shipments of a merchant's latest orders, the most frequent first, at most 12. */
export async function listUsedCarriers(db: Queryable, merchantId: string): Promise<string[]> {
  const rows = await db.query<{ carrier: string }>({
    name: "list-used-carriers",
    text: `
      select used.carrier
      from (
        select s.carrier
        from shipments s
        where s.merchant_id = $1
        order by s.order_id desc
        limit $2) as used
      where used.carrier is not null
      group by used.carrier
      order by count(*) desc, used.carrier
      limit 12`,
    values: [merchantId, SHIPMENTS_LOOKED_THROUGH],
  });
  return rows.map(({ carrier }) => carrier);
}

/**
 * Puts the oldest orders of a facility that can be shipped, and are free, on a pick list. The primary key decides
 * between two that want the same order, and the condition is checked again on the row that is there by then. Returns
 * them. It goes through the orders by their ids, so that two of these cannot deadlock.
 */
export async function claimWork(
  tx: Queryable,
  { id, facilityId, orderLimit, takenAt, expiresAt }: PickList,
): Promise<OrderKey[]> {
  const rows = await tx.query<ConnectionKeyRow & { order_id: string }>({
    name: "claim-work",
    text: `
      insert into pick_list_orders (merchant_id, order_id, connection_id, pick_list_id, expires_at, taken_at, box)
      select free.merchant_id, free.id, free.connection_id, $1, $2, $4, row_number() over (order by free.id)
      from (
        select o.merchant_id, o.connection_id, o.id
        from orders o
        where o.has_unshipped and o.routed_at is not null and o.status in ('ACCEPTED', 'IN_PROGRESS')
          and o.hold_reasons = '{}' and not o.test_mode
          and coalesce(o.facility_id, '00000000-0000-0000-0000-000000000000'::uuid)
            = coalesce($3::uuid, '00000000-0000-0000-0000-000000000000'::uuid)
          and exists (
            select from order_lines l where l.merchant_id = o.merchant_id and l.order_id = o.id and l.shipment_id is null and l.cancellation_id is null)
          and not exists (
            select from pick_list_orders c
            where c.merchant_id = o.merchant_id and c.order_id = o.id and c.expires_at > $4)
          and not exists (
            select from put_aside_orders a where a.merchant_id = o.merchant_id and a.order_id = o.id)
        order by o.id
        limit $5) as free
      order by free.id
      on conflict (merchant_id, order_id) do update
      set pick_list_id = excluded.pick_list_id, expires_at = excluded.expires_at, taken_at = excluded.taken_at,
          box = excluded.box
      where pick_list_orders.expires_at <= excluded.taken_at
      returning merchant_id, connection_id, order_id`,
    values: [id, expiresAt, facilityId, takenAt, orderLimit],
  });
  return rows.map((row) => ({ ...toConnectionKey(row), id: row.order_id }));
}

/** Gives the orders of a pick list back. Returns how many. */
export async function deleteClaims(tx: Queryable, pickListId: string): Promise<number> {
  const rows = await tx.query({
    name: "delete-claims",
    text: `
      delete from pick_list_orders c
      where c.pick_list_id = $1 and c.merchant_id is not null
      returning c.order_id`,
    values: [pickListId],
  });
  return rows.length;
}

const toWorkItem = (row: WorkItemRow): WorkItem => ({
  ...toConnectionKey(row),
  id: row.id,
  pickList:
    row.pick_list_id === null || row.expires_at === null || row.box === null
      ? null
      : { id: row.pick_list_id, takenBy: row.taken_by ?? "", expiresAt: row.expires_at, box: row.box },
  putAside:
    row.aside_reason === null || row.aside_by === null || row.aside_at === null
      ? null
      : { reason: row.aside_reason, by: row.aside_by, at: row.aside_at },
});

// The waiting work of a facility (docs/design/console.md, "Overview"). Each statement reads a bounded number of rows by indexes that
// exist.

/** Orders that can be shipped. */
export type WaitingWork = {
  readonly toPack: number;
  /** Those of them that are on no pick list. */
  readonly free: number;
  /** Null: none can be shipped. */
  readonly oldest: {
    readonly id: string;
    readonly externalOrderId: string | null;
    readonly createdAt: Date;
  } | null;
};

/** The oldest 1,000 orders of a facility that can be shipped (null: of none), by orders_to_ship_idx. */
export async function countWaitingWork(
  db: Queryable,
  facilityId: string | null,
  now: Date,
): Promise<WaitingWork> {
  const [row] = await db.query<{
    to_pack: number;
    free: number;
    merchant_id: string | null;
    id: string | null;
    created_at: Date | null;
  }>({
    name: "count-waiting-work",
    text: `
      select count(*)::integer as to_pack, (count(*) filter (where c.order_id is null))::integer as free,
             (array_agg(o.merchant_id order by o.id))[1] as merchant_id, (array_agg(o.id order by o.id))[1] as id,
             min(o.created_at) as created_at
      from (
        select o.merchant_id, o.id, o.created_at,
               exists (
                 select from order_lines l
                 where l.merchant_id = o.merchant_id and l.order_id = o.id and l.shipment_id is null and l.cancellation_id is null) as is_unshipped
        from orders o
        where o.has_unshipped and o.routed_at is not null and o.status in ('ACCEPTED', 'IN_PROGRESS')
          and o.hold_reasons = '{}' and not o.test_mode
          and coalesce(o.facility_id, '00000000-0000-0000-0000-000000000000'::uuid)
            = coalesce($1::uuid, '00000000-0000-0000-0000-000000000000'::uuid)
        order by o.id
        limit 1000) as o
      left join pick_list_orders c on c.merchant_id = o.merchant_id and c.order_id = o.id and c.expires_at > $2
      where o.is_unshipped`,
    values: [facilityId, now],
  });
  const { to_pack: toPack = 0, free = 0, merchant_id: merchantId, id, created_at: createdAt } = row ?? {};
  if (!merchantId || !id || !createdAt) return { toPack, free, oldest: null };
  // A statement of its own: Citus would read what was ordered with all orders.
  const externalIds = await readExternalIds(db, [{ merchantId, id }]);
  return { toPack, free, oldest: { id, externalOrderId: externalIds.get(id) ?? null, createdAt } };
}

/** How many orders of these facilities (null: of all, and of none) can be shipped, up to a number. By orders_to_ship_idx. */
export async function countToShip(
  db: Queryable,
  facilityIds: readonly string[] | null,
  max: number,
): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-to-ship",
    text: `
      select count(*)::integer as count
      from (
        select 1 as one
        from orders o
        where o.has_unshipped and o.routed_at is not null and o.status in ('ACCEPTED', 'IN_PROGRESS')
          and o.hold_reasons = '{}' and not o.test_mode
          and ($1::uuid[] is null or coalesce(o.facility_id, '00000000-0000-0000-0000-000000000000'::uuid) = any($1))
          and exists (
            select from order_lines l
            where l.merchant_id = o.merchant_id and l.order_id = o.id and l.shipment_id is null and l.cancellation_id is null)
        limit $2) as counted`,
    values: [facilityIds, max],
  });
  return row?.count ?? 0;
}

/** Real orders on hold by their facility, up to 1,000 of each connection. By orders_held_idx. */
export async function countHeldAt(
  db: Queryable,
  facilityIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<{ facility_id: string; count: number }>({
    name: "count-held-at-facilities",
    text: `
      select held.facility_id, count(*)::integer as count
      from connections c
      cross join lateral (
        select o.facility_id
        from orders o
        where o.merchant_id = c.merchant_id and o.connection_id = c.id and o.hold_reasons <> '{}' and not o.test_mode
        limit 1000) as held
      where held.facility_id = any($1::uuid[])
      group by held.facility_id`,
    values: [facilityIds],
  });
  return new Map(rows.map(({ facility_id, count }) => [facility_id, count]));
}
