import { type ConnectionScope, scopeIds } from "../../audit/grant.ts";
import type { OrderStatus } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";

// The figures of the overview. Each statement reads a bounded number of rows of a scope, by indexes that exist
// (docs/design/console.md, "Overview"). A scope has the connections of the merchants $1 (null: all), and those with an id of
// $2.

/** How many orders there are, and when the oldest of them was created. */
export type Waiting = { readonly count: number; readonly oldestAt: Date | null };

/** Real orders on hold, by reason, the oldest 1,000 of each connection. By orders_held_idx. */
export async function countHolds(
  db: Queryable,
  scope: ConnectionScope,
): Promise<(Waiting & { reason: string })[]> {
  return db.query({
    name: "count-holds-of-overview",
    text: `
      select reason, count(*)::integer as count, min(held.created_at) as "oldestAt"
      from (
        select c.merchant_id, c.id
        from connections c
        where $1::uuid[] is null or c.merchant_id = any($1) or c.id = any($2::uuid[])) as c
      cross join lateral (
        select o.hold_reasons, o.created_at
        from orders o
        where o.merchant_id = c.merchant_id and o.connection_id = c.id and o.hold_reasons <> '{}' and not o.test_mode
        order by o.id
        limit 1000) as held
      cross join lateral unnest(held.hold_reasons) as reason
      group by reason
      order by count(*) desc, reason
      limit 50`,
    values: scopeIds(scope),
  });
}

/**
 * How many real orders of a scope are in review, and on hold, each up to a number: of no connection are more read. By
 * orders_status_idx and orders_held_idx.
 */
export async function countUpTo(
  db: Queryable,
  scope: ConnectionScope,
  max: number,
): Promise<{ inReview: number; onHold: number }> {
  const [row] = await db.query<{ in_review: number; on_hold: number }>({
    name: "count-waiting-up-to",
    text: `
      with in_review as (
        select 1 as one
        from connections c
        cross join lateral (
          select 1 as one
          from orders o
          where o.merchant_id = c.merchant_id and o.connection_id = c.id and o.status = 'PROCESSING' and not o.test_mode
          limit $3) as o
        where $1::uuid[] is null or c.merchant_id = any($1) or c.id = any($2::uuid[])
        limit $3
      ), on_hold as (
        select 1 as one
        from connections c
        cross join lateral (
          select 1 as one
          from orders o
          where o.merchant_id = c.merchant_id and o.connection_id = c.id and o.hold_reasons <> '{}' and not o.test_mode
          limit $3) as o
        where $1::uuid[] is null or c.merchant_id = any($1) or c.id = any($2::uuid[])
        limit $3
      )
      select (select count(*)::integer from in_review) as in_review, (select count(*)::integer from on_hold) as on_hold`,
    values: [...scopeIds(scope), max],
  });
  return { inReview: row?.in_review ?? 0, onHold: row?.on_hold ?? 0 };
}

export type WaitingOrders = {
  readonly inReview: Waiting;
  readonly unrouted: Waiting;
  /** Ready to ship, and created before a time. */
  readonly late: Waiting;
  /** Those of them that were late a day ago, too. */
  readonly lateBefore: number;
};

/**
 * Real orders in review, accepted ones that were not routed since `unroutedSince`, and ones that are ready to ship and were
 * created before `lateSince`: the oldest 1,000 of each kind and connection. Partners do not see routing
 * (docs/design/people.md, "Partners' developers"), so the latter two are of merchants only.
 */
export async function countWaiting(
  db: Queryable,
  scope: ConnectionScope,
  since: { readonly unrouted: Date; readonly late: Date; readonly lateBefore: Date },
): Promise<WaitingOrders> {
  const rows = await db.query<{ kind: "review" | "unrouted" | "late"; before: number } & Waiting>({
    name: "count-waiting-of-overview",
    text: `
      select waiting.kind, count(*)::integer as count, min(waiting.created_at) as "oldestAt",
             (count(*) filter (where waiting.id < $5))::integer as before
      from (
        select c.merchant_id, c.id
        from connections c
        where $1::uuid[] is null or c.merchant_id = any($1) or c.id = any($2::uuid[])) as c
      cross join lateral (
        (select 'review' as kind, o.id, o.created_at
         from orders o
         where o.merchant_id = c.merchant_id and o.connection_id = c.id and o.status = 'PROCESSING' and not o.test_mode
         order by o.id
         limit 1000)
        union all
        (select 'unrouted', o.id, o.created_at
         from orders o
         where o.merchant_id = c.merchant_id and o.connection_id = c.id
           and o.status = 'ACCEPTED' and not o.test_mode and o.routed_at is null
           and not o.hold_reasons && '{payment_failed,out_of_stock,address_unserviceable}' and o.updated_at < $3
           and ($1::uuid[] is null or c.merchant_id = any($1))
         order by o.id
         limit 1000)
        union all
        (select 'late', o.id, o.created_at
         from orders o
         where o.merchant_id = c.merchant_id and o.connection_id = c.id and o.id < $4
           and o.has_unshipped and o.routed_at is not null and o.status in ('ACCEPTED', 'IN_PROGRESS')
           and o.hold_reasons = '{}' and not o.test_mode
           and ($1::uuid[] is null or c.merchant_id = any($1))
         order by o.id
         limit 1000)) as waiting
      group by waiting.kind`,
    values: [...scopeIds(scope), since.unrouted, uuidAt(since.late), uuidAt(since.lateBefore)],
  });
  const of = (kind: string) => rows.find((row) => row.kind === kind) ?? { count: 0, oldestAt: null };
  return {
    inReview: of("review"),
    unrouted: of("unrouted"),
    late: of("late"),
    lateBefore: rows.find(({ kind }) => kind === "late")?.before ?? 0,
  };
}

/** Today up to now, and yesterday up to the same time of the day. */
export type TwoDays = {
  readonly yesterday: Date;
  readonly until: Date;
  readonly today: Date;
  readonly now: Date;
};

export type DayFact = {
  readonly kind: "created" | "shipped" | "returned" | "late_shipped";
  readonly isToday: boolean;
  readonly currency: string;
  readonly count: number;
  /** The price of the goods, of the kind `created`. */
  readonly minor: bigint;
};

/** Changed orders that the figures of two days read, of all merchants together, or ORDERS_OF_MERCHANT_MIN of each. */
const CHANGED_READ_MAX = 20_000;
const ORDERS_OF_MERCHANT_MIN = 100;

/**
 * What has happened to real orders on two days: how many were created, shipped and returned. Whatever happened to an order since
 * then has changed it, so only orders that have changed are read, the newest first: by orders_changed_idx. `late_shipped`: shipped
 * since a day ago, though created before `lateBefore`. `isCut`: there were more than are read.
 */
export async function countTwoDays(
  db: Queryable,
  scope: ConnectionScope,
  { yesterday, until, today, now }: TwoDays,
  lateBefore: Date,
): Promise<{ facts: DayFact[]; isCut: boolean }> {
  const merchantIds =
    scope === null
      ? null
      : [...new Set([...scope.merchantIds, ...scope.connections.map(({ merchantId }) => merchantId)])];
  const merchantCount = await countMerchantsOf(db, merchantIds);
  const rowsMax = Math.max(ORDERS_OF_MERCHANT_MIN, Math.floor(CHANGED_READ_MAX / Math.max(1, merchantCount)));
  const rows = await db.query<Omit<DayFact, "minor"> & { minor: string; position: number }>({
    name: "count-two-days-of-overview",
    text: `
      with changed as materialized (
        select o.merchant_id, o.id, o.created_at, o.currency, o.goods_minor, o.position
        from merchants m
        cross join lateral (
          select o.merchant_id, o.connection_id, o.id, o.created_at, o.currency, o.goods_minor,
                 row_number() over (order by o.changed_at desc) as position
          from orders o
          where o.merchant_id = m.id and o.changed_at >= $4 and not o.test_mode
          order by o.changed_at desc
          limit $9) as o
        where ($3::uuid[] is null or m.id = any($3))
          and ($1::uuid[] is null or o.merchant_id = any($1) or o.connection_id = any($2::uuid[]))
      ), facts as (
        select 'created' as kind, c.created_at as at, c.id, c.currency, c.goods_minor as minor
        from changed c
        union all
        select 'shipped', s.created_at, c.id, c.currency, 0
        from changed c
        join shipments s on s.merchant_id = c.merchant_id and s.order_id = c.id
        where s.status <> 'voided'
        union all
        select 'late_shipped', $6, c.id, c.currency, 0
        from changed c
        join shipments s on s.merchant_id = c.merchant_id and s.order_id = c.id
        where s.status <> 'voided' and s.created_at >= $5 and c.created_at < $8
        union all
        select 'returned', r.created_at, c.id, c.currency, 0
        from changed c
        join order_returns r on r.merchant_id = c.merchant_id and r.order_id = c.id
      )
      select f.kind, f.at >= $6 as "isToday", f.currency, count(distinct f.id)::integer as count,
             sum(f.minor)::text as minor, (select max(c.position)::integer from changed c) as position
      from facts f
      where (f.at >= $4 and f.at < $5) or (f.at >= $6 and f.at <= $7)
      group by 1, 2, 3`,
    values: [...scopeIds(scope), merchantIds, yesterday, until, today, now, lateBefore, rowsMax],
  });
  return {
    facts: rows.map(({ minor, position: _, ...fact }) => ({ ...fact, minor: BigInt(minor) })),
    isCut: rows.some(({ position }) => position === rowsMax),
  };
}

/** Whether a scope has any real order. By order_requests_connection_idx. */
export async function hasAnyOrder(db: Queryable, scope: ConnectionScope): Promise<boolean> {
  const rows = await db.query({
    name: "has-any-order",
    text: `
      select 1 as one
      from (
        select c.merchant_id, c.id
        from connections c
        where $1::uuid[] is null or c.merchant_id = any($1) or c.id = any($2::uuid[])) as c
      cross join lateral (
        select
        from order_requests r
        where r.merchant_id = c.merchant_id and r.connection_id = c.id
          and r.order_id > '00000000-0000-0000-0000-000000000000' and not r.test_mode
        limit 1) as o
      limit 1`,
    values: scopeIds(scope),
  });
  return rows.length > 0;
}

/** A statement of its own: Citus limits no part of a join by a value that it has to read first. */
async function countMerchantsOf(db: Queryable, merchantIds: readonly string[] | null): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-merchants-of-overview",
    text: "select count(*)::integer as count from merchants m where $1::uuid[] is null or m.id = any($1)",
    values: [merchantIds],
  });
  return row?.count ?? 0;
}

export type DayCount = { readonly day: string; readonly status: OrderStatus; readonly count: number };

type OrdersRead = {
  readonly fromId: string;
  readonly untilId: string;
  readonly rowsMax: number;
  /** When days begin, in a row: `place` of a count is that of its day among them, from 1. */
  readonly starts: readonly Date[];
};
type PlaceCount = { readonly place: number; readonly status: OrderStatus; readonly count: number };

/**
 * Real orders by the day of their creation and by their present status, of a range of ids. `isCut`: there may be
 * more orders in it than were read. Of whole merchants by the primary key, of single connections by
 * order_requests_connection_idx.
 */
export async function countByDay(
  db: Queryable,
  scope: ConnectionScope,
  range: OrdersRead,
  now: Date,
): Promise<{ counts: PlaceCount[]; rowsRead: number; isCut: boolean }> {
  const counts = hasSingleConnections(scope)
    ? await countOfConnections(db, scope, range, now)
    : await countOfMerchants(db, scope?.merchantIds ?? null, range, now);
  const rowsRead = counts.reduce((sum, { count }) => sum + count, 0);
  return { counts, rowsRead, isCut: rowsRead === range.rowsMax };
}

/** True if a scope has connections beside those of its merchants. */
export const hasSingleConnections = (scope: ConnectionScope): boolean =>
  scope !== null && scope.connections.length > 0;

const countOfMerchants = (
  db: Queryable,
  merchantIds: readonly string[] | null,
  { fromId, untilId, rowsMax, starts }: OrdersRead,
  now: Date,
): Promise<PlaceCount[]> =>
  db.query<PlaceCount>({
    name: "count-orders-by-day",
    text: `
      with read as materialized (
        select o.created_at, o.status
        from merchants m
        cross join lateral (
          select o.created_at,
                 case when o.status = 'NEW' and not o.test_mode and not o.hold_reasons @> '{payment_failed}'
                        and o.acceptance_due_at <= $5 then 'ACCEPTED' else o.status end as status
          from orders o
          where o.merchant_id = m.id and o.id >= $2 and o.id < $3 and not o.test_mode) as o
        where $1::uuid[] is null or m.id = any($1)
        limit $4)
      select width_bucket(read.created_at, $6::timestamptz[]) as place, read.status, count(*)::integer as count
      from read
      group by 1, 2
      order by 1, 2`,
    values: [merchantIds, fromId, untilId, rowsMax, now, starts],
  });

const countOfConnections = (
  db: Queryable,
  scope: ConnectionScope,
  { fromId, untilId, rowsMax, starts }: OrdersRead,
  now: Date,
): Promise<PlaceCount[]> =>
  db.query<PlaceCount>({
    name: "count-orders-of-connections-by-day",
    text: `
      with read as materialized (
        select o.created_at, o.status
        from (
          select c.merchant_id, c.id
          from connections c
          where $1::uuid[] is null or c.merchant_id = any($1) or c.id = any($2::uuid[])) as c
        cross join lateral (
          select o.created_at,
                 case when o.status = 'NEW' and not o.test_mode and not o.hold_reasons @> '{payment_failed}'
                        and o.acceptance_due_at <= $6 then 'ACCEPTED' else o.status end as status
          from order_requests r
          join orders o on o.merchant_id = r.merchant_id and o.id = r.order_id
          where r.merchant_id = c.merchant_id and r.connection_id = c.id and r.order_id >= $3 and r.order_id < $4
            and r.order_id > '00000000-0000-0000-0000-000000000000' and not r.test_mode) as o
        limit $5)
      select width_bucket(read.created_at, $7::timestamptz[]) as place, read.status, count(*)::integer as count
      from read
      group by 1, 2
      order by 1, 2`,
    values: [...scopeIds(scope), fromId, untilId, rowsMax, now, starts],
  });

export type Durations = {
  readonly count: number;
  readonly medianSeconds: number | null;
  readonly p90Seconds: number | null;
};

/**
 * How long the newest shipped orders took from their creation to their acceptance and to their first shipment, by
 * orders_status_idx and their timelines. Reads 2,000 orders of all connections together, or 5 of each.
 * @param fromId only orders with this id or a later one
 */
export async function readDurations(
  db: Queryable,
  scope: ConnectionScope,
  fromId: string,
): Promise<{ acceptance: Durations; shipping: Durations }> {
  const [row] = await db.query<
    Record<"a50" | "a90" | "s50" | "s90", number | null> & { a: number; s: number }
  >({
    name: "read-durations-of-overview",
    text: `
      select count(accepted)::integer as a, count(shipped)::integer as s,
             percentile_cont(0.5) within group (order by accepted) as a50,
             percentile_cont(0.9) within group (order by accepted) as a90,
             percentile_cont(0.5) within group (order by shipped) as s50,
             percentile_cont(0.9) within group (order by shipped) as s90
      from (
        select c.merchant_id, c.id, greatest(5, 2000 / count(*) over ()) as rows_max
        from connections c
        where $1::uuid[] is null or c.merchant_id = any($1) or c.id = any($2::uuid[])) as c
      cross join lateral (
        (select o.merchant_id, o.id, o.created_at
         from orders o
         where o.merchant_id = c.merchant_id and o.connection_id = c.id and o.status = 'COMPLETED' and not o.test_mode
           and o.id >= $3
         order by o.status desc, o.id desc
         limit c.rows_max)
        union all
        (select o.merchant_id, o.id, o.created_at
         from orders o
         where o.merchant_id = c.merchant_id and o.connection_id = c.id and o.status = 'IN_PROGRESS' and not o.test_mode
           and o.id >= $3
         order by o.status desc, o.id desc
         limit c.rows_max)) as o
      cross join lateral (
        select extract(epoch from min(t.created_at) filter (where t.operation in ('accept', 'approve')) - o.created_at)::float8
                 as accepted,
               extract(epoch from min(t.created_at) filter (where t.operation = 'ship') - o.created_at)::float8 as shipped
        from timeline_entries t
        where t.merchant_id = o.merchant_id and t.order_id = o.id) as times`,
    values: [...scopeIds(scope), fromId],
  });
  const rounded = (seconds: number | null | undefined) => (seconds == null ? null : Math.round(seconds));
  return {
    acceptance: { count: row?.a ?? 0, medianSeconds: rounded(row?.a50), p90Seconds: rounded(row?.a90) },
    shipping: { count: row?.s ?? 0, medianSeconds: rounded(row?.s50), p90Seconds: rounded(row?.s90) },
  };
}

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
        select o.merchant_id,
               case when o.status = 'NEW' and not o.test_mode and not o.hold_reasons @> '{payment_failed}'
                      and o.acceptance_due_at <= $4 then 'ACCEPTED' else o.status end as status
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
