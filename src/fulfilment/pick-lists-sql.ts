import type { OrderKey } from "../lifecycle/order.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { PagePosition } from "../platform/wire/cursor.ts";

type PickListRow = {
  id: string;
  facility_id: string | null;
  taken_by: string;
  reference: string | null;
  order_limit: number;
  taken_at: Date;
  expires_at: Date;
  released_at: Date | null;
};

/** Requests of one facility take one after the other. Otherwise all of them would try to claim the same oldest orders. */
export async function waitForTurn(tx: Queryable, facilityId: string | null): Promise<void> {
  await tx.query({
    name: "wait-for-turn-to-pick",
    text: "select pg_advisory_xact_lock(7305221, hashtext(coalesce($1, '')))",
    values: [facilityId],
  });
}

/** Returns false if the person has a pick list with this reference. */
export async function insertPickList(tx: Queryable, list: PickList): Promise<boolean> {
  const rows = await tx.query({
    name: "insert-pick-list",
    text: `
      insert into pick_lists (id, facility_id, taken_by, reference, order_limit, taken_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (reference, taken_by) do nothing
      returning id`,
    values: [
      list.id,
      list.facilityId,
      list.takenBy,
      list.reference,
      list.orderLimit,
      list.takenAt,
      list.expiresAt,
    ],
  });
  return rows.length > 0;
}

export async function deletePickList(tx: Queryable, id: string): Promise<void> {
  await tx.query({ name: "delete-pick-list", text: "delete from pick_lists where id = $1", values: [id] });
}

export async function readPickList(db: Queryable, id: string): Promise<PickList | null> {
  const [row] = await db.query<PickListRow>({
    name: "read-pick-list",
    text: `
      select l.id, l.facility_id, l.taken_by, l.reference, l.order_limit, l.taken_at, l.expires_at, l.released_at
      from pick_lists l
      where l.id = $1`,
    values: [id],
  });
  return row === undefined ? null : toPickList(row);
}

export async function readPickListByReference(
  db: Queryable,
  takenBy: string,
  reference: string,
): Promise<PickList | null> {
  const [row] = await db.query<PickListRow>({
    name: "read-pick-list-by-reference",
    text: `
      select l.id, l.facility_id, l.taken_by, l.reference, l.order_limit, l.taken_at, l.expires_at, l.released_at
      from pick_lists l
      where l.reference = $1 and l.taken_by = $2`,
    values: [reference, takenBy],
  });
  return row === undefined ? null : toPickList(row);
}

/** Pick lists, newest first; of facilities, or those that are open. Returns one more than the page if there is one. */
export async function listPickLists(
  db: Queryable,
  { facilityIds, open }: { readonly facilityIds: readonly string[] | null; readonly open: boolean | null },
  { afterId, limit }: PagePosition,
  now: Date,
): Promise<PickList[]> {
  const rows = await db.query<PickListRow>({
    name: "list-pick-lists",
    text: `
      select l.id, l.facility_id, l.taken_by, l.reference, l.order_limit, l.taken_at, l.expires_at, l.released_at
      from pick_lists l
      where l.id < $1 and ($3::uuid[] is null or l.facility_id = any($3))
        and ($4::boolean is null or $4 = (l.released_at is null and l.expires_at > $5))
      order by l.id desc
      limit $2 + 1`,
    values: [afterId, limit, facilityIds, open, now],
  });
  return rows.map(toPickList);
}

/** Returns false if it has been released before. */
export async function markReleased(tx: Queryable, id: string, now: Date): Promise<boolean> {
  const rows = await tx.query({
    name: "release-pick-list",
    text: "update pick_lists set released_at = $2 where id = $1 and released_at is null returning id",
    values: [id, now],
  });
  return rows.length > 0;
}

/** Deletes claims that have expired, and pick lists and marks of long ago. Returns how many of all. */
export async function deleteExpired(
  db: Queryable,
  { now, keptSince, limit }: { readonly now: Date; readonly keptSince: Date; readonly limit: number },
): Promise<number> {
  const claims = await db.query({
    name: "delete-expired-claims",
    text: `
      delete from pick_list_orders c
      using (
        select e.merchant_id, e.order_id
        from pick_list_orders e
        where e.expires_at <= $1
        order by e.expires_at
        limit $2) as expired
      where c.merchant_id = expired.merchant_id and c.order_id = expired.order_id and c.expires_at <= $1
      returning c.order_id`,
    values: [now, limit],
  });
  const lists = await db.query({
    name: "delete-expired-pick-lists",
    text: `
      delete from pick_lists
      where id in (select l.id from pick_lists l where l.expires_at <= $1 order by l.expires_at limit $2)
      returning id`,
    values: [keptSince, limit],
  });
  const marks = await db.query({
    name: "delete-old-put-aside",
    text: `
      delete from put_aside_orders a
      using (
        select e.merchant_id, e.order_id
        from put_aside_orders e
        where e.put_aside_at <= $1
        order by e.put_aside_at
        limit $2) as old
      where a.merchant_id = old.merchant_id and a.order_id = old.order_id and a.put_aside_at <= $1
      returning a.order_id`,
    values: [keptSince, limit],
  });
  return claims.length + lists.length + marks.length;
}

const toPickList = (row: PickListRow): PickList => ({
  id: row.id,
  facilityId: row.facility_id,
  takenBy: row.taken_by,
  reference: row.reference,
  orderLimit: row.order_limit,
  takenAt: row.taken_at,
  expiresAt: row.expires_at,
  releasedAt: row.released_at,
});

/**
 * Orders that one person has taken from the work list of a facility (docs/design/fulfilment.md, "Work list and pick lists").
 */
export type PickList = {
  readonly id: string;
  /** Null for orders without a facility. */
  readonly facilityId: string | null;
  readonly takenBy: string;
  /** The client's own name of the request. Null if it has none. */
  readonly reference: string | null;
  /** How many orders were requested. */
  readonly orderLimit: number;
  readonly takenAt: Date;
  /** From then on other people can take the orders. */
  readonly expiresAt: Date;
  readonly releasedAt: Date | null;
};

/** An order that can be shipped, and the pick list that it is on. */
export type WorkItem = OrderKey & {
  readonly pickList: (Pick<PickList, "id" | "takenBy" | "expiresAt"> & { readonly box: number }) | null;
  readonly putAside: PutAside | null;
};

export const PUT_ASIDE_REASONS = ["missing", "damaged", "packaging", "question", "other"] as const;

/** A person could not finish packing the order, and it lies beside the table. */
export type PutAside = {
  readonly reason: (typeof PUT_ASIDE_REASONS)[number];
  /** The person's name. */
  readonly by: string;
  readonly at: Date;
};

/** Orders on one pick list: what a person carries. */
export const PICK_LIST_ORDERS_MAX = 100;
