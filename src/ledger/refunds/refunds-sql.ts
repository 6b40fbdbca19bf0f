import { amongMerchants, merchantsOf } from "../../distribution/among-merchants.ts";
import type { Actor } from "../../lifecycle/applied-transition.ts";
import type { OrderKey } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { Refund, RefundReason } from "./refund.ts";

type RefundKey = Pick<OrderKey, "merchantId" | "id">;

/** The refunds of an order by request, oldest first. */
export async function readRefunds(db: Queryable, { merchantId, id }: RefundKey): Promise<Refund[]> {
  const rows = await db.query<{
    id: string;
    amount_minor: bigint;
    all_left: boolean;
    reason: RefundReason;
    note: string | null;
    reference: string;
    actor_kind: Actor["kind"];
    actor_name: string | null;
    actor_id: string | null;
    created_at: Date;
  }>({
    name: "read-refunds",
    text: `
      select id, amount_minor, all_left, reason, note, reference, actor_kind, actor_name, actor_id, created_at
      from refunds
      where merchant_id = $1 and order_id = $2
      order by id`,
    values: [merchantId, id],
  });
  return rows.map((row) => ({
    id: row.id,
    amountMinor: row.amount_minor,
    allLeft: row.all_left,
    reason: row.reason,
    note: row.note,
    reference: row.reference,
    actor: { kind: row.actor_kind, name: row.actor_name, id: row.actor_id },
    createdAt: row.created_at,
  }));
}

/** Stores a refund. The caller has locked the order, and adds the entries of the refund to its ledger. */
export async function insertRefund(
  tx: Queryable,
  { merchantId, id: orderId }: RefundKey,
  refund: Refund,
): Promise<void> {
  await tx.query({
    name: "insert-refund",
    text: `
      insert into refunds (
        merchant_id, order_id, id, amount_minor, all_left, reason, note, reference, actor_kind, actor_name, actor_id,
        created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    values: [
      merchantId,
      orderId,
      refund.id,
      refund.amountMinor.toString(),
      refund.allLeft,
      refund.reason,
      refund.note,
      refund.reference,
      refund.actor.kind,
      refund.actor.name,
      refund.actor.id ?? null,
      refund.createdAt,
    ],
  });
}

/** Erases what people wrote about refunds of orders. */
export async function eraseRefundNotes(
  tx: Queryable,
  orders: readonly RefundKey[],
  erasedText: string,
): Promise<void> {
  await tx.query({
    name: "erase-refund-notes",
    text: `
      update refunds r
      set note = $3
      from unnest($1::uuid[], $2::uuid[]) as erased (merchant_id, order_id)
      where r.merchant_id = erased.merchant_id and r.order_id = erased.order_id and r.note is not null
        and ${amongMerchants("$4", "r.merchant_id")}`,
    values: [
      orders.map(({ merchantId }) => merchantId),
      orders.map(({ id }) => id),
      erasedText,
      await merchantsOf(tx, orders),
    ],
  });
}
