import { recordChanges } from "../../changes/record-changes.ts";
import type { Actor } from "../../lifecycle/applied-transition.ts";
import type { CancelReason, Order, OrderKey } from "../../lifecycle/order.ts";
import { canceledBetween } from "../../lifecycle/parts.ts";
import { merchantsOf } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** Lines of an order that were canceled by one request. `order_lines.cancellation_id` names it. */
export type LineCancellation = {
  readonly id: string;
  readonly reason: CancelReason;
  readonly note: string | null;
  /** The caller's name for it. An order has one cancellation for each. */
  readonly reference: string;
  /** Null if nothing of the goods was left to refund. */
  readonly refundId: string | null;
  readonly actor: Actor;
  readonly createdAt: Date;
};

/** Adds a cancellation of lines of an order that the transaction has locked, before its lines are stored. */
export async function insertCancellation(
  tx: Queryable,
  order: OrderKey,
  added: LineCancellation,
  requestHash: Buffer,
): Promise<void> {
  await tx.query({
    name: "insert-cancellation",
    text: `
      insert into line_cancellations (
        merchant_id, order_id, id, reason, note, reference, request_hash, refund_id, actor_kind, actor_name, actor_id,
        created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    values: [
      order.merchantId,
      order.id,
      added.id,
      added.reason,
      added.note,
      added.reference,
      requestHash,
      added.refundId,
      added.actor.kind,
      added.actor.name,
      added.actor.id ?? null,
      added.createdAt,
    ],
  });
}

/** Stores which lines were canceled, after new lines were stored. The caller has locked the orders. */
export async function storeCanceledLines(
  tx: Queryable,
  changes: readonly { readonly before: Order; readonly after: Order }[],
): Promise<void> {
  const canceled = changes.flatMap(({ before, after }) =>
    canceledBetween(before, after).map((line) => ({ order: after, line })),
  );
  if (canceled.length === 0) return;
  await tx.query({
    name: "store-canceled-lines",
    text: `
      update order_lines l
      set cancellation_id = canceled.cancellation_id
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[])
        as canceled (merchant_id, order_id, id, cancellation_id)
      where l.merchant_id = canceled.merchant_id and l.order_id = canceled.order_id and l.id = canceled.id
        and l.merchant_id = any($1::uuid[]) and l.order_id = any($2::uuid[]) and l.shipment_id is null`,
    values: [
      canceled.map(({ order }) => order.merchantId),
      canceled.map(({ order }) => order.id),
      canceled.map(({ line }) => line.id),
      canceled.map(({ line }) => line.cancellationId),
    ],
  });
}

/** The hash of the request that made the cancellation with this reference. Null if there is none. */
export async function findCancellationHash(
  tx: Queryable,
  order: OrderKey,
  reference: string,
): Promise<Buffer | null> {
  const [row] = await tx.query<{ request_hash: Buffer }>({
    name: "find-cancellation-hash",
    text: `
      select request_hash
      from line_cancellations
      where merchant_id = $1 and order_id = $2 and reference = $3`,
    values: [order.merchantId, order.id, reference],
  });
  return row?.request_hash ?? null;
}

/** Erases what people wrote about cancellations of lines. */
export async function eraseCancellationNotes(
  tx: Queryable,
  orders: readonly OrderKey[],
  erasedText: string,
  now: Date,
): Promise<void> {
  const erased = await tx.query<{ merchantId: string; orderId: string }>({
    name: "erase-cancellation-notes",
    text: `
      update line_cancellations c
      set note = $3
      from unnest($1::uuid[], $2::uuid[]) as erased (merchant_id, order_id)
      where c.merchant_id = erased.merchant_id and c.order_id = erased.order_id and c.note is not null
        and ($4::uuid[] is null or c.merchant_id = any($4))
      returning c.merchant_id as "merchantId", c.order_id as "orderId"`,
    values: [
      orders.map(({ merchantId }) => merchantId),
      orders.map(({ id }) => id),
      erasedText,
      await merchantsOf(tx, orders),
    ],
  });
  recordChanges(
    tx,
    now,
    erased.map(({ merchantId, orderId }) => ({ merchantId, orderId, kind: "order", objectId: orderId })),
  );
}
