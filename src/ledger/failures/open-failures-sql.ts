import type { Queryable } from "../../platform/database/database.ts";
import type { PagePosition } from "../../platform/wire/cursor.ts";
import type { GatewayName } from "../ledger.ts";

/** A payment that was declined and is still owed. An order has at most one. */
export type OpenFailure = {
  /** The id of the order. */
  readonly id: string;
  readonly externalOrderId: string | null;
  readonly merchantId: string;
  readonly merchantName: string;
  readonly connectionId: string;
  readonly connectionName: string;
  readonly status: string;
  readonly holdReasons: readonly string[];
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
      select found.order_id as id, o.external_order_id as "externalOrderId", m.id as "merchantId",
             m.name as "merchantName", c.id as "connectionId", c.name as "connectionName", o.status,
             o.hold_reasons as "holdReasons", found.reason, found.failed_at as "failedAt",
             declined.amount_minor as "amountMinor", o.currency, declined.gateway, declined.attempt as "attemptCount",
             (select min(d.due_at) from due_payments d where d.merchant_id = m.id and d.order_id = found.order_id) as "nextAttemptAt"
      from merchants m
      cross join lateral (
        select f.order_id, f.reason, f.failed_at
        from payment_failures f
        where f.merchant_id = m.id and f.resolved_at is null and f.order_id < $1
        order by f.order_id desc
        limit $2 + 1) as found
      join orders o on o.merchant_id = m.id and o.id = found.order_id
      join connections c on c.merchant_id = m.id and c.id = o.connection_id
      cross join lateral (
        select e.amount_minor, e.attempt, x.gateway
        from ledger_outcomes x
        join ledger_entries e on e.merchant_id = m.id and e.order_id = x.order_id and e.id = x.entry_id
        where x.merchant_id = m.id and x.order_id = found.order_id and x.outcome = 'failed' and e.kind <> 'refund'
        order by e.id desc
        limit 1) as declined
      where $3::uuid[] is null or m.id = any($3)
      order by found.order_id desc
      limit $2 + 1`,
    values: [afterId, limit, merchantIds],
  });
