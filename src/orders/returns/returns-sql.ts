import { recordChanges } from "../../changes/record-changes.ts";
import type { Actor } from "../../lifecycle/applied-transition.ts";
import type { Order, OrderKey } from "../../lifecycle/order.ts";
import { returnedBetween } from "../../lifecycle/parts.ts";
import { merchantsOf } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** Stores which units of lines came back. The caller has locked the orders and read them under the lock. */
export async function storeReturnedQuantities(
  tx: Queryable,
  changes: readonly { readonly before: Order; readonly after: Order }[],
): Promise<void> {
  const returned = changes.flatMap(({ before, after }) =>
    returnedBetween(before, after).map(({ line }) => ({ order: after, line })),
  );
  if (returned.length === 0) return;
  await tx.query({
    name: "store-returned-quantities",
    text: `
      update order_lines l
      set returned_quantity = returned.quantity
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::integer[])
        as returned (merchant_id, order_id, id, quantity)
      where l.merchant_id = returned.merchant_id and l.order_id = returned.order_id and l.id = returned.id
        and l.merchant_id = any($1::uuid[]) and l.order_id = any($2::uuid[])`,
    values: [
      returned.map(({ order }) => order.merchantId),
      returned.map(({ order }) => order.id),
      returned.map(({ line }) => line.id),
      returned.map(({ line }) => line.returnedQuantity),
    ],
  });
}

/** Adds a return of an order that the transaction has locked. */
export async function insertReturn(
  tx: Queryable,
  order: OrderKey,
  added: OrderReturn,
  requestHash: Buffer | null,
): Promise<void> {
  await tx.query({
    name: "insert-return",
    text: `
      insert into order_returns (
        merchant_id, order_id, id, reason, condition, note, restocked, refund_id, actor_kind, actor_name, actor_id,
        created_at, reference, request_hash)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    values: [
      order.merchantId,
      order.id,
      added.id,
      added.reason,
      added.condition,
      added.note,
      added.restocked,
      added.refundId,
      added.actor.kind,
      added.actor.name,
      added.actor.id ?? null,
      added.createdAt,
      added.reference,
      requestHash,
    ],
  });
  await tx.query({
    name: "insert-return-lines",
    text: `
      insert into order_return_lines (merchant_id, order_id, return_id, line_id, quantity)
      select $1, $2, $3, line_id, quantity
      from unnest($4::uuid[], $5::integer[]) as returned (line_id, quantity)`,
    values: [
      order.merchantId,
      order.id,
      added.id,
      added.lines.map(({ lineId }) => lineId),
      added.lines.map(({ quantity }) => quantity),
    ],
  });
  const { merchantId, id: orderId } = order;
  recordChanges(tx, added.createdAt, [
    { merchantId, orderId, kind: "return", objectId: added.id, events: ["return.recorded"] },
  ]);
}

/** The hash of the request that made the return with this reference. Null if there is none. */
export async function findReturnHash(
  tx: Queryable,
  order: OrderKey,
  reference: string,
): Promise<Buffer | null> {
  const [row] = await tx.query<{ request_hash: Buffer }>({
    name: "find-return-hash",
    text: `
      select request_hash
      from order_returns
      where merchant_id = $1 and order_id = $2 and reference = $3`,
    values: [order.merchantId, order.id, reference],
  });
  return row?.request_hash ?? null;
}

/** How many returns an order has. */
export async function countReturns(tx: Queryable, order: OrderKey): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    name: "count-returns",
    text: "select count(*)::integer as count from order_returns where merchant_id = $1 and order_id = $2",
    values: [order.merchantId, order.id],
  });
  return row?.count ?? 0;
}

/** Erases what people wrote about returns of orders. */
export async function eraseReturnNotes(
  tx: Queryable,
  orders: readonly OrderKey[],
  erasedText: string,
  now: Date,
): Promise<void> {
  const erased = await tx.query<{ merchantId: string; orderId: string; id: string }>({
    name: "erase-return-notes",
    text: `
      update order_returns r
      set note = $3
      from unnest($1::uuid[], $2::uuid[]) as erased (merchant_id, order_id)
      where r.merchant_id = erased.merchant_id and r.order_id = erased.order_id and r.note is not null
        and ($4::uuid[] is null or r.merchant_id = any($4))
      returning r.merchant_id as "merchantId", r.order_id as "orderId", r.id`,
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
    erased.map(({ id: objectId, ...of }) => ({ ...of, kind: "return", objectId })),
  );
}

/** Why goods came back. */
export const RETURN_REASONS = [
  "undeliverable",
  "refused",
  "unwanted",
  "damaged",
  "defective",
  "wrong_item",
  "not_as_described",
  "other",
] as const;
type ReturnReason = (typeof RETURN_REASONS)[number];

/** In which condition goods came back. */
export const RETURN_CONDITIONS = ["unopened", "opened", "damaged", "defective"] as const;
export type ReturnCondition = (typeof RETURN_CONDITIONS)[number];

/** Goods in these conditions are not sold again, so they are not restocked (docs/design/lifecycle.md, "Returns"). */
export const isUnsellable = (condition: ReturnCondition | null): boolean =>
  condition === "damaged" || condition === "defective";

/** Returns of single lines of one order. All of a shipment can always come back. */
export const RETURNS_MAX = 100;

/** The caller's details of a return. */
export type ReturnFacts = {
  readonly reason: ReturnReason | null;
  readonly condition: ReturnCondition | null;
  readonly note: string | null;
};

export type OrderReturn = ReturnFacts & {
  readonly id: string;
  /** The caller's name for the return, else for its refund. An order has one return for each. Null if the caller gave neither. */
  readonly reference: string | null;
  readonly lines: readonly { readonly lineId: string; readonly quantity: number }[];
  readonly restocked: boolean;
  /** Null if the request refunded nothing. */
  readonly refundId: string | null;
  readonly actor: Actor;
  readonly createdAt: Date;
};
