import type { OrderKey } from "../lifecycle/order.ts";
import { type ConnectionKey, connectionColumns } from "../platform/connection-key.ts";
import { merchantsOf, searchReachable } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { PagePosition } from "../platform/wire/cursor.ts";
import type { GatewayName } from "./ledger.ts";

/** How a failed payment ended: it was paid, the operator waived it, or the order was canceled. */
export type Resolution = "paid" | "waived" | "canceled";

/** Records that the payment of orders has failed, unless it had failed already. The caller has locked the orders. */
export async function openFailures(
  tx: Queryable,
  failures: readonly { readonly order: OrderKey; readonly id: string; readonly reason: string }[],
  now: Date,
): Promise<void> {
  if (failures.length === 0) return;
  const orders = failures.map(({ order }) => order);
  await tx.query({
    name: "open-payment-failures",
    text: `
      insert into payment_failures (merchant_id, connection_id, order_id, id, reason, failed_at)
      select merchant_id, connection_id, order_id, id, reason, $6
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[])
        as failed (merchant_id, connection_id, order_id, id, reason)
      on conflict (merchant_id, order_id) where resolved_at is null do nothing`,
    values: [
      ...connectionColumns(orders),
      orders.map(({ id }) => id),
      failures.map(({ id }) => id),
      failures.map(({ reason }) => reason),
      now,
    ],
  });
}

/** Records that the payments of orders are no longer failed. The caller has locked the orders. */
export async function resolveFailures(
  tx: Queryable,
  orders: readonly OrderKey[],
  resolution: Resolution,
  now: Date,
): Promise<void> {
  if (orders.length === 0) return;
  await tx.query({
    name: "resolve-payment-failures",
    text: `
      update payment_failures f
      set resolved_at = $3, resolution = $4
      from unnest($1::uuid[], $2::uuid[]) as resolved (merchant_id, order_id)
      where f.merchant_id = resolved.merchant_id and f.order_id = resolved.order_id and f.resolved_at is null
        and ($5::uuid[] is null or f.merchant_id = any($5))`,
    values: [
      orders.map(({ merchantId }) => merchantId),
      orders.map(({ id }) => id),
      now,
      resolution,
      await merchantsOf(tx, orders),
    ],
  });
}

export type FailureMailKind = "failure" | "resolution";

/** Mail is due for what happened until `until`, if the last mail of the kind was sent by `mailedBefore`. */
export type MailPace = { readonly until: Date; readonly mailedBefore: Date };

/** The subject of each kind of mail: failures `f` until $2. Each condition is that of an index. */
const WAITING: Record<FailureMailKind, string> = {
  failure: "f.failure_mail_id is null and f.failed_at <= $2",
  resolution: `f.resolved_at is not null and f.resolution_mail_id is null
          and f.failure_mail_id is not null and f.resolved_at <= $2`,
};

/** Merchants that get a mail of a kind now. A scan over all shards. */
export async function listMerchantsToMail(
  db: Queryable,
  kind: FailureMailKind,
  { until, mailedBefore }: MailPace,
  limit: number,
): Promise<string[]> {
  const rows = await searchReachable(db, `list-merchants-to-mail-payments-${kind}`, (merchants) =>
    db.query<{ merchant_id: string }>({
      name: `list-merchants-to-mail-payments-${kind}`,
      text: `
        select m.id as merchant_id
        from merchants m
        cross join lateral (
          select f.id
          from payment_failures f
          where f.merchant_id = m.id and ($5::uuid[] is null or f.merchant_id = any($5)) and ${WAITING[kind]}
          limit 1
        ) as waiting
        where not exists (
          select from payment_mail_times t where t.merchant_id = m.id and t.kind = $1 and t.mailed_at > $3
            and ($5::uuid[] is null or t.merchant_id = any($5)))
          and ($5::uuid[] is null or m.id = any($5))
        limit $4`,
      values: [kind, until, mailedBefore, limit, merchants],
    }),
  );
  return rows.map((row) => row.merchant_id);
}

/** Takes the turn to mail a merchant. False if another worker has just mailed it. */
export async function takeMailTurn(
  tx: Queryable,
  merchantId: string,
  kind: FailureMailKind,
  { now, mailedBefore }: { readonly now: Date; readonly mailedBefore: Date },
): Promise<boolean> {
  const rows = await tx.query({
    name: "take-payment-mail-turn",
    text: `
      insert into payment_mail_times as t (merchant_id, kind, mailed_at)
      values ($1, $2, $3)
      on conflict (merchant_id, kind) do update set mailed_at = excluded.mailed_at
      where t.merchant_id = $1 and t.mailed_at <= $4
      returning t.merchant_id`,
    values: [merchantId, kind, now, mailedBefore],
  });
  return rows.length > 0;
}

/** A failure that a mail reports. */
export type MailedFailure = {
  readonly orderId: string;
  readonly externalOrderId: string | null;
  readonly reason: string;
  /** Null: it is not resolved. */
  readonly resolution: Resolution | null;
};

/** The first failures that a mail reports, oldest first, and how many it reports. */
export type MailedFailures = {
  readonly connection: ConnectionKey;
  readonly count: number;
  readonly first: readonly MailedFailure[];
};

type MailedRow = {
  connection_id: string;
  order_id: string;
  external_order_id: string | null;
  reason: string;
  resolution: Resolution | null;
  count: number;
};

/** How many failures a statement marks, and how many of them a mail names. */
type MailSize = { readonly failures: number; readonly named: number };

/** Marks what a mail reports: failures without a mail, the oldest first. Null if there are none. */
export async function markFailuresMailed(
  tx: Queryable,
  merchantId: string,
  mailId: string,
  size: MailSize,
): Promise<MailedFailures | null> {
  const rows = await tx.query<MailedRow>({
    name: "mark-failures-mailed",
    text: `
      with marked as (
        update payment_failures f
        set failure_mail_id = $2
        where f.merchant_id = $1 and f.failure_mail_id is null and f.id in (
          select w.id
          from payment_failures w
          where w.merchant_id = $1 and w.failure_mail_id is null
          order by w.failed_at
          limit $3)
        returning f.connection_id, f.order_id, f.id, f.reason, f.resolution
      )
      select k.connection_id, k.order_id, o.external_order_id, k.reason, k.resolution, count(*) over ()::integer as count
      from marked k
      join order_requests o on o.merchant_id = $1 and o.order_id = k.order_id
      order by k.id
      limit $4`,
    values: [merchantId, mailId, size.failures, size.named],
  });
  return toMailed(merchantId, rows);
}

/** The same for failures that were resolved since their mail. */
export async function markResolutionsMailed(
  tx: Queryable,
  merchantId: string,
  mailId: string,
  size: MailSize,
): Promise<MailedFailures | null> {
  const rows = await tx.query<MailedRow>({
    name: "mark-resolutions-mailed",
    text: `
      with marked as (
        update payment_failures f
        set resolution_mail_id = $2
        where f.merchant_id = $1 and f.resolved_at is not null and f.resolution_mail_id is null
          and f.failure_mail_id is not null and f.id in (
            select w.id
            from payment_failures w
            where w.merchant_id = $1 and w.resolved_at is not null and w.resolution_mail_id is null
              and w.failure_mail_id is not null
            order by w.resolved_at
            limit $3)
        returning f.connection_id, f.order_id, f.id, f.reason, f.resolution
      )
      select k.connection_id, k.order_id, o.external_order_id, k.reason, k.resolution, count(*) over ()::integer as count
      from marked k
      join order_requests o on o.merchant_id = $1 and o.order_id = k.order_id
      order by k.id
      limit $4`,
    values: [merchantId, mailId, size.failures, size.named],
  });
  return toMailed(merchantId, rows);
}

function toMailed(merchantId: string, rows: readonly MailedRow[]): MailedFailures | null {
  const [oldest] = rows;
  if (oldest === undefined) return null;
  return {
    connection: { merchantId, connectionId: oldest.connection_id },
    count: oldest.count,
    first: rows.map((row) => ({
      orderId: row.order_id,
      externalOrderId: row.external_order_id,
      reason: row.reason,
      resolution: row.resolution,
    })),
  };
}

/** A payment that was declined and is still owed. An order has at most one. */
export type OpenFailure = FailedPayment & {
  /** The id of the order. */
  readonly id: string;
  readonly externalOrderId: string | null;
  readonly merchantId: string;
  readonly merchantName: string;
  readonly connectionId: string;
  readonly connectionName: string;
  readonly status: string;
  readonly holdReasons: readonly string[];
};

/** What was declined, and what follows. */
export type FailedPayment = {
  /** The gateway's code of the first decline. */
  readonly reason: string;
  readonly failedAt: Date;
  /** Of the newest declined attempt. */
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly gateway: GatewayName | null;
  readonly attemptCount: number;
  /** When the charge is attempted again. Null: the schedule has ended. */
  readonly nextAttemptAt: Date | null;
};

/**
 * Declined payments that are still owed, by order, the newest order first. Returns one more than the page if there is
 * one. Of each merchant it reads one page, along payment_failures_open_key.
 */
export const listOpenFailures = (
  db: Queryable,
  merchantIds: readonly string[] | null,
  { afterId, limit }: PagePosition,
): Promise<OpenFailure[]> =>
  db.query<OpenFailure>({
    name: "list-open-payment-failures",
    text: `
      select found.order_id as id, r.external_order_id as "externalOrderId", m.id as "merchantId",
             m.name as "merchantName", c.id as "connectionId", c.name as "connectionName", o.status,
             o.hold_reasons as "holdReasons", found.reason, found.failed_at as "failedAt",
             declined.amount_minor as "amountMinor", o.currency, declined.gateway, declined.attempt as "attemptCount",
             (select min(d.due_at)
              from due_payments d
              where d.merchant_id = m.id and d.order_id = found.order_id
                and ($3::uuid[] is null or d.merchant_id = any($3))) as "nextAttemptAt"
      from merchants m
      cross join lateral (
        select f.order_id, f.reason, f.failed_at
        from payment_failures f
        where f.merchant_id = m.id and f.resolved_at is null and f.order_id < $1
          and ($3::uuid[] is null or f.merchant_id = any($3))
        order by f.order_id desc
        limit $2 + 1) as found
      join orders o on o.merchant_id = m.id and o.id = found.order_id
      join order_requests r on r.merchant_id = m.id and r.order_id = found.order_id
      join connections c on c.merchant_id = m.id and c.id = o.connection_id
      cross join lateral (
        select e.amount_minor, e.attempt, e.gateway
        from ledger_entries e
        where e.merchant_id = m.id and e.order_id = found.order_id and e.outcome = 'failed' and e.kind <> 'refund'
          and ($3::uuid[] is null or e.merchant_id = any($3))
        order by e.id desc
        limit 1) as declined
      where ($3::uuid[] is null or m.id = any($3)) and ($3::uuid[] is null or o.merchant_id = any($3))
        and ($3::uuid[] is null or r.merchant_id = any($3)) and ($3::uuid[] is null or c.merchant_id = any($3))
      order by found.order_id desc
      limit $2 + 1`,
    values: [afterId, limit, merchantIds],
  });

/** The declined payment of an order that is still owed. Null if there is none. */
export async function readOpenFailure(
  db: Queryable,
  { merchantId, id }: Pick<OrderKey, "merchantId" | "id">,
): Promise<FailedPayment | null> {
  const [row] = await db.query<FailedPayment>({
    name: "read-open-payment-failure",
    text: `
      select f.reason, f.failed_at as "failedAt", declined.amount_minor as "amountMinor", o.currency, declined.gateway,
             declined.attempt as "attemptCount",
             (select min(d.due_at) from due_payments d where d.merchant_id = $1 and d.order_id = $2) as "nextAttemptAt"
      from payment_failures f
      join orders o on o.merchant_id = $1 and o.id = $2
      cross join lateral (
        select e.amount_minor, e.attempt, e.gateway
        from ledger_entries e
        where e.merchant_id = $1 and e.order_id = $2 and e.outcome = 'failed' and e.kind <> 'refund'
        order by e.id desc
        limit 1) as declined
      where f.merchant_id = $1 and f.order_id = $2 and f.resolved_at is null`,
    values: [merchantId, id],
  });
  return row ?? null;
}

/** Failures of a merchant that are counted. Figures of a merchant that has more say that there are more. */
export const COUNTED_FAILURES_MAX = 10_000;

/** The declined payments of a merchant that are still owed. */
export type FailuresOfMerchant = {
  /** The id of the merchant. */
  readonly id: string;
  readonly name: string;
  readonly currency: string;
  /** The one that declined the newest order. */
  readonly gateway: GatewayName | null;
  /** At most COUNTED_FAILURES_MAX, of which `amountMinor` is the sum. */
  readonly count: number;
  readonly amountMinor: bigint;
  readonly oldestAt: Date;
  readonly nextAttemptAt: Date | null;
};

/** How many orders of these merchants have a declined payment that is still owed, up to a number, and since when the first of them. */
export async function countOpenFailures(
  db: Queryable,
  merchantIds: readonly string[] | null,
  max: number,
): Promise<{ count: number; oldestAt: Date | null }> {
  const [row] = await db.query<{ count: number; oldestAt: Date | null }>({
    name: "count-open-payment-failures",
    text: `
      select count(*)::integer as count, min(counted.failed_at) as "oldestAt"
      from (
        select f.failed_at
        from merchants m
        cross join lateral (
          select f.failed_at
          from payment_failures f
          where f.merchant_id = m.id and f.resolved_at is null and ($1::uuid[] is null or f.merchant_id = any($1))
          order by f.order_id
          limit $2) as f
        where $1::uuid[] is null or m.id = any($1)
        limit $2) as counted`,
    values: [merchantIds, max],
  });
  return row ?? { count: 0, oldestAt: null };
}

/** The declined payments that are still owed, by merchant, the oldest merchant first. Returns one more than the page if there is one. */
export const listFailuresByMerchant = (
  db: Queryable,
  merchantIds: readonly string[] | null,
  { afterId, limit }: Pick<PagePosition, "afterId" | "limit">,
): Promise<FailuresOfMerchant[]> =>
  db.query<FailuresOfMerchant>({
    name: "list-payment-failures-by-merchant",
    text: `
      select m.id, m.name, m.currency, owed.gateway, owed.count, owed."amountMinor", owed."oldestAt", owed."nextAttemptAt"
      from merchants m
      cross join lateral (
        select (array_agg(declined.gateway order by open.order_id desc))[1] as gateway, count(*)::integer as count, sum(declined.amount_minor)::bigint as "amountMinor",
               min(open.failed_at) as "oldestAt", min(due.due_at) as "nextAttemptAt"
        from (select f.order_id, f.failed_at
              from payment_failures f
              where f.merchant_id = m.id and f.resolved_at is null and ($3::uuid[] is null or f.merchant_id = any($3))
              order by f.order_id
              limit $4) as open
        cross join lateral (
          select e.amount_minor, e.gateway
          from ledger_entries e
          where e.merchant_id = m.id and e.order_id = open.order_id and e.outcome = 'failed' and e.kind <> 'refund'
            and ($3::uuid[] is null or e.merchant_id = any($3))
          order by e.id desc
          limit 1) as declined
        left join lateral (
          select min(d.due_at) as due_at
          from due_payments d
          where d.merchant_id = m.id and d.order_id = open.order_id
            and ($3::uuid[] is null or d.merchant_id = any($3))) as due on true) as owed
      where owed.count > 0 and m.id > $1 and ($3::uuid[] is null or m.id = any($3))
      order by m.id
      limit $2 + 1`,
    values: [afterId, limit, merchantIds, COUNTED_FAILURES_MAX],
  });
