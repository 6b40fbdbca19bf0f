import type { OrderStatus } from "../../../lifecycle/order.ts";
import type { Queryable } from "../../../platform/database/database.ts";
import { acceptanceDue } from "../../conditions-sql.ts";
import type { DayCount } from "../overview-sql.ts";

// Days are texts such as `2026-11-22`, in UTC.

/** Adds the days from `first` to `last` that are not there yet. They are due at once. */
export async function addCountedDays(db: Queryable, first: string, last: string, now: Date): Promise<void> {
  await db.query({
    name: "add-counted-days",
    text: `
      insert into counted_days (day, due_at)
      select day::date, $3
      from generate_series($1::date, $2::date, interval '1 day') as day
      on conflict (day) do nothing`,
    values: [first, last, now],
  });
}

/**
 * Claims the day that has been due for longest, the newest of several, until `until`. Of two workers, the second finds
 * that it is not due any more. Null if none is due.
 */
export async function claimCountedDay(db: Queryable, now: Date, until: Date): Promise<string | null> {
  const [row] = await db.query<{ day: string }>({
    name: "claim-counted-day",
    text: `
      update counted_days c
      set due_at = $2
      where c.day = (select d.day from counted_days d where d.due_at <= $1 order by d.due_at, d.day desc limit 1)
        and c.due_at <= $1
      returning c.day::text as day`,
    values: [now, until],
  });
  return row?.day ?? null;
}

export async function storeCountedDay(
  db: Queryable,
  day: string,
  { countedAt, dueAt }: { countedAt: Date; dueAt: Date },
): Promise<void> {
  await db.query({
    name: "store-counted-day",
    text: "update counted_days set counted_at = $2, due_at = $3 where day = $1::date",
    values: [day, countedAt, dueAt],
  });
}

export async function deleteCountedDay(db: Queryable, day: string): Promise<void> {
  await db.query({
    name: "delete-counted-day",
    text: "delete from counted_days where day = $1::date",
    values: [day],
  });
}

/** The next merchants by id, after `after`. */
export async function listMerchantsToCount(db: Queryable, after: string, limit: number): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: "list-merchants-to-count",
    text: "select id from merchants where id > $1 order by id limit $2",
    values: [after, limit],
  });
  return rows.map(({ id }) => id);
}

export type StatusCount = {
  readonly merchantId: string;
  readonly status: OrderStatus;
  readonly count: number;
};

export type IdRange = { readonly fromId: string; readonly untilId: string };

/**
 * Real orders of these merchants, of a range of ids, by their present status. If they are `rowsMax`, there may be more.
 * By the primary key.
 */
export async function countByStatus(
  db: Queryable,
  merchantIds: readonly string[],
  { fromId, untilId, rowsMax }: IdRange & { rowsMax: number },
  now: Date,
): Promise<StatusCount[]> {
  return db.query({
    name: "count-orders-by-status",
    text: `
      select o.merchant_id as "merchantId", o.status, count(*)::integer as count
      from merchants m
      cross join lateral (
        select o.merchant_id, case when ${acceptanceDue("$4")} then 'ACCEPTED' else o.status end as status
        from orders o
        where o.merchant_id = m.id and o.id >= $2 and o.id < $3 and not o.test_mode
        limit $5) as o
      where m.id = any($1)
      group by 1, 2`,
    values: [merchantIds, fromId, untilId, now, rowsMax],
  });
}

/** Replaces the figures of a day of these merchants. A later count that was stored before remains. */
export async function storeOrderDays(
  db: Queryable,
  day: string,
  counts: readonly StatusCount[],
  countedAt: Date,
): Promise<void> {
  await db.query({
    name: "store-order-days",
    text: `
      insert into order_days as d (
        merchant_id, day, counted_at, new, processing, accepted, in_progress, completed, canceled, returned)
      select c.merchant_id, $1::date, $2,
             coalesce(sum(c.count) filter (where c.status = 'NEW'), 0),
             coalesce(sum(c.count) filter (where c.status = 'PROCESSING'), 0),
             coalesce(sum(c.count) filter (where c.status = 'ACCEPTED'), 0),
             coalesce(sum(c.count) filter (where c.status = 'IN_PROGRESS'), 0),
             coalesce(sum(c.count) filter (where c.status = 'COMPLETED'), 0),
             coalesce(sum(c.count) filter (where c.status = 'CANCELED'), 0),
             coalesce(sum(c.count) filter (where c.status = 'RETURNED'), 0)
      from unnest($3::uuid[], $4::text[], $5::integer[]) as c(merchant_id, status, count)
      group by c.merchant_id
      on conflict (merchant_id, day) do update
      set counted_at = excluded.counted_at, new = excluded.new, processing = excluded.processing,
          accepted = excluded.accepted, in_progress = excluded.in_progress, completed = excluded.completed,
          canceled = excluded.canceled, returned = excluded.returned
      where d.merchant_id = excluded.merchant_id and d.counted_at <= excluded.counted_at`,
    values: [
      day,
      countedAt,
      counts.map(({ merchantId }) => merchantId),
      counts.map(({ status }) => status),
      counts.map(({ count }) => count),
    ],
  });
}

export async function deleteOrderDays(
  db: Queryable,
  day: string,
  merchantIds: readonly string[],
): Promise<void> {
  await db.query({
    name: "delete-order-days",
    text: "delete from order_days where merchant_id = any($2) and day = $1::date",
    values: [day, merchantIds],
  });
}

export type CountedDay = { readonly day: string; readonly countedAt: Date };

/** The days of a range that were counted for all merchants, newest first. */
export async function listCountedDays(db: Queryable, first: string, last: string): Promise<CountedDay[]> {
  return db.query({
    name: "list-counted-days",
    text: `
      select day::text as day, counted_at as "countedAt"
      from counted_days
      where day between $1::date and $2::date and counted_at is not null
      order by day desc`,
    values: [first, last],
  });
}

/**
 * The figures of the days of a range, of the merchants $1 (null: all). `rowsRead` is `rowsMax` if there may be more of
 * them: then those of the oldest day may be incomplete. By order_days_day_idx or the primary key.
 */
export async function sumOrderDays(
  db: Queryable,
  merchantIds: readonly string[] | null,
  { first, last, rowsMax }: { first: string; last: string; rowsMax: number },
): Promise<{ counts: DayCount[]; rowsRead: number }> {
  const rows = await db.query<DayCount & { rows: number }>({
    name: "sum-order-days",
    text: `
      with read as materialized (
        select d.day, d.new, d.processing, d.accepted, d.in_progress, d.completed, d.canceled, d.returned
        from order_days d
        where ($1::uuid[] is null or d.merchant_id = any($1)) and d.day between $2::date and $3::date
        order by d.day desc
        limit $4),
      days as (
        select r.day, count(*) as rows, sum(r.new) as new, sum(r.processing) as processing, sum(r.accepted) as accepted,
               sum(r.in_progress) as in_progress, sum(r.completed) as completed, sum(r.canceled) as canceled,
               sum(r.returned) as returned
        from read r
        group by r.day)
      select s.day::text as day, c.status, c.count::integer as count,
             (case when c.status = 'NEW' then s.rows else 0 end)::integer as rows
      from days s
      cross join lateral (values
        ('NEW', s.new), ('PROCESSING', s.processing), ('ACCEPTED', s.accepted), ('IN_PROGRESS', s.in_progress),
        ('COMPLETED', s.completed), ('CANCELED', s.canceled), ('RETURNED', s.returned)) as c(status, count)
      order by s.day, c.status`,
    values: [merchantIds, first, last, rowsMax],
  });
  return {
    counts: rows.filter(({ count }) => count > 0).map(({ day, status, count }) => ({ day, status, count })),
    rowsRead: rows.reduce((sum, { rows: number }) => sum + number, 0),
  };
}
