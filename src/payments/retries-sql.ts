import type { OrderKey } from "../lifecycle/order.ts";
import type { Context } from "../platform/context.ts";
import { searchReachable } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import { UUID_MIN } from "../platform/wire/cursor.ts";

/** How far the retry of a merchant's declined charges is (docs/design/money.md, "Retries of declined charges"). */
type Progress = {
  readonly part: "scheduled" | "declined";
  /** The order up to which the part has been processed. */
  readonly position: string;
};

/** A merchant that can pay more than before, and whose declined charges are to be attempted again. */
export type PaymentRetry = Progress & {
  readonly merchantId: string;
  /** Differs for each change, so that a later change is not taken for this one. */
  readonly id: string;
  /** Orders before the position that were locked, or could not be stored. */
  readonly failedOrderIds: readonly string[];
};

/**
 * Requests that a merchant's declined charges are attempted again, in the transaction that lets it pay more. A retry that is
 * under way begins again, because what it has made due may have been declined before the change. Call it last: a worker
 * locks an order first, and then this row.
 */
export async function requestPaymentRetry(
  tx: Queryable,
  { clock, newId }: Pick<Context, "clock" | "newId">,
  merchantId: string,
): Promise<void> {
  await tx.query({
    name: "request-payment-retry",
    text: `
      insert into payment_retries (merchant_id, id, part, position, failed_order_ids, created_at)
      values ($1, $2, 'scheduled', $3, '{}', $4)
      on conflict (merchant_id) do update
      set id = excluded.id, part = excluded.part, position = excluded.position,
          failed_order_ids = excluded.failed_order_ids, created_at = excluded.created_at`,
    values: [merchantId, newId(), UUID_MIN, clock.now()],
  });
}

/** Retries that are not finished. A scan over all shards, of a small table. */
export async function listPaymentRetries(db: Queryable): Promise<PaymentRetry[]> {
  const rows = await searchReachable(db, "list-payment-retries", (merchants) =>
    db.query<{
      merchant_id: string;
      id: string;
      part: Progress["part"];
      position: string;
      failed_order_ids: string[];
    }>({
      name: "list-payment-retries",
      text: `
        select merchant_id, id, part, position, failed_order_ids
        from payment_retries
        where ($1::uuid[] is null or merchant_id = any($1))
        order by created_at, merchant_id`,
      values: [merchants],
    }),
  );
  return rows.map((row) => ({
    merchantId: row.merchant_id,
    id: row.id,
    part: row.part,
    position: row.position,
    failedOrderIds: row.failed_order_ids,
  }));
}

/**
 * Stores how far a retry is. Returns false, and stores nothing, if it is no longer where it was read: another worker is ahead,
 * or a later change has begun it again.
 * @param failedOrderId an order that was not processed
 */
export async function advanceRetry(
  tx: Queryable,
  { merchantId, id, part, position }: PaymentRetry,
  to: Progress,
  failedOrderId: string | null = null,
): Promise<boolean> {
  const rows = await tx.query({
    name: "advance-payment-retry",
    text: `
      update payment_retries
      set part = $5, position = $6, failed_order_ids = array_cat(failed_order_ids, $7::uuid[])
      where merchant_id = $1 and id = $2 and part = $3 and position = $4
      returning id`,
    values: [
      merchantId,
      id,
      part,
      position,
      to.part,
      to.position,
      failedOrderId === null ? [] : [failedOrderId],
    ],
  });
  return rows.length > 0;
}

/** Removes an order that had failed. Returns false if another worker has processed it, or a later change begun the retry again. */
export async function removeFailedOrder(
  tx: Queryable,
  { merchantId, id }: PaymentRetry,
  orderId: string,
): Promise<boolean> {
  const rows = await tx.query({
    name: "remove-failed-order-of-payment-retry",
    text: `
      update payment_retries
      set failed_order_ids = array_remove(failed_order_ids, $3)
      where merchant_id = $1 and id = $2 and $3 = any(failed_order_ids)
      returning id`,
    values: [merchantId, id, orderId],
  });
  return rows.length > 0;
}

/** Ends a retry that has no failed orders. A later change stays. */
export async function finishRetry(db: Queryable, { merchantId, id }: PaymentRetry): Promise<void> {
  await db.query({
    name: "finish-payment-retry",
    text: "delete from payment_retries where merchant_id = $1 and id = $2 and failed_order_ids = '{}'",
    values: [merchantId, id],
  });
}

/** When the oldest retry of declined charges that is not finished was requested; null without one. */
export async function readOldestPaymentRetry(db: Queryable): Promise<Date | null> {
  const [row] = await db.query<{ created_at: Date }>({
    name: "read-oldest-payment-retry",
    text: "select created_at from payment_retries order by created_at limit 1",
    values: [],
  });
  return row?.created_at ?? null;
}

/**
 * A merchant's orders after a position of which a charge or refund was ever declined, in the order of their ids: those of at most
 * `limit` declines. Uses ledger_entries_failed_idx.
 */
export async function listDeclinedOrders(
  db: Queryable,
  merchantId: string,
  position: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.query<{ order_id: string }>({
    name: "list-declined-orders",
    text: `
      select distinct page.order_id
      from (
        select order_id
        from ledger_entries
        where merchant_id = $1 and outcome = 'failed' and order_id > $2
        order by order_id
        limit $3) as page
      order by page.order_id`,
    values: [merchantId, position, limit],
  });
  return rows.map(({ order_id }) => order_id);
}

/**
 * Those of the orders with a declined charge that is still owed and has no scheduled attempt, in the order of their ids. Such an
 * order need not be on hold: it may have been completed since.
 */
export async function listGivenUpOrders(
  db: Queryable,
  merchantId: string,
  orderIds: readonly string[],
): Promise<OrderKey[]> {
  if (orderIds.length === 0) return [];
  const rows = await db.query<{ connection_id: string; id: string }>({
    name: "list-given-up-orders",
    text: `
      select distinct o.connection_id, o.id
      from ledger_entries e
      join orders o on o.merchant_id = $1 and o.id = e.order_id
      where e.merchant_id = $1 and e.order_id = any($2::uuid[]) and e.outcome = 'failed' and e.kind <> 'refund'
        and o.canceled_at is null
        and not exists (
          select from ledger_entries later
          where later.merchant_id = $1 and later.order_id = e.order_id
            and later.kind = e.kind and later.attempt > e.attempt)
        and not exists (
          select from due_payments d
          where d.merchant_id = $1 and d.order_id = e.order_id and d.kind = e.kind and d.attempt > e.attempt)
      order by o.id`,
    values: [merchantId, orderIds],
  });
  return rows.map((row) => ({ merchantId, connectionId: row.connection_id, id: row.id }));
}
