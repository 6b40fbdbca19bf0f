import { isDeepStrictEqual } from "node:util";
import { recordChanges } from "../changes/record-changes.ts";
import type { Actor, RecordContext, TransitionCause } from "../lifecycle/applied-transition.ts";
import type { OrderKey } from "../lifecycle/order.ts";
import { merchantsOf } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import { requireRecentAuthentication, type Unproved } from "../platform/wire/problems.ts";
import {
  type LedgerEntry,
  type NewEntry,
  ofGoods,
  ofShipping,
  refundableGoodsMinor,
  refundableMinor,
  refundsFor,
} from "./ledger.ts";
import { insertEntries, readLedger } from "./ledger-sql.ts";

/** Why an order is refunded. */
export const REFUND_REASONS = [
  "canceled",
  "returned",
  "damaged",
  "lost",
  "late",
  "wrong_item",
  "goodwill",
  "other",
] as const;
type RefundReason = (typeof REFUND_REASONS)[number];

/** Refunds of one order by request. One of all that is left is always possible. */
export const REFUNDS_MAX = 100;

/** Units of a line. */
type LineUnits = { readonly lineId: string; readonly quantity: number };

export type RefundRequest = {
  /** Minor units of the order's currency, more than 0. */
  readonly amountMinor: bigint;
  /** What of the amount returns charges for shipping; the rest returns those for goods. Null: the oldest charge first. */
  readonly shippingMinor: bigint | null;
  /** The units whose price, or a part of it, is returned. Empty if none are named. */
  readonly lines: readonly LineUnits[];
  readonly reason: RefundReason;
  readonly note: string | null;
  /** The caller's name for the refund. An order is refunded once for each reference. */
  readonly reference: string;
};

/** A refund of goods that come back. A null for its amount means their price, as far as it is left. */
export type GoodsRefund = Pick<RefundRequest, "reason" | "note" | "reference"> & {
  readonly amountMinor: bigint | null;
};

/** A refund that was requested. Its entries in the ledger show how it is paid. */
export type Refund = {
  readonly id: string;
  /** Minor units of the order's currency. */
  readonly amountMinor: bigint;
  /** As in the request. */
  readonly lines: readonly LineUnits[];
  readonly reason: RefundReason;
  readonly note: string | null;
  readonly reference: string;
  readonly actor: Actor;
  readonly createdAt: Date;
};

/** True if a request repeats the one that a refund was made by. The note may differ: it may have been erased. */
const isRepeated = (refund: Refund, { amountMinor, reason, lines }: RefundRequest): boolean =>
  refund.reason === reason &&
  refund.amountMinor === amountMinor &&
  isDeepStrictEqual(asNamed(refund.lines), asNamed(lines));

const asNamed = (lines: readonly LineUnits[]): ReadonlyMap<string, number> =>
  new Map(lines.map(({ lineId, quantity }) => [lineId, quantity]));

/** A refund that the order's charges allow, with its entries for the ledger. */
export type PossibleRefund = { readonly refund: Refund; readonly entries: readonly NewEntry[] };

export type RefundDecision =
  | ({ readonly outcome: "possible" } & PossibleRefund)
  /** An earlier request with the same reference made it. */
  | { readonly outcome: "repeated"; readonly refund: Refund }
  /** The reference was used for a different refund of the order. */
  | { readonly outcome: "reference-taken" }
  | { readonly outcome: "nothing-left" }
  | {
      readonly outcome: "more-than-left";
      /** The charges that too much was requested of. */
      readonly of: "all" | "goods" | "shipping";
      readonly leftMinor: bigint;
      readonly currency: string;
    }
  | { readonly outcome: "too-many" };

type RefundKey = Pick<OrderKey, "merchantId" | "id">;

/** The refunds of an order by request, oldest first. */
export async function readRefunds(db: Queryable, { merchantId, id }: RefundKey): Promise<Refund[]> {
  const rows = await db.query<{
    id: string;
    amount_minor: bigint;
    line_ids: string[];
    quantities: number[];
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
      select id, amount_minor, line_ids, quantities, reason, note, reference, actor_kind, actor_name, actor_id, created_at
      from refunds
      where merchant_id = $1 and order_id = $2
      order by id`,
    values: [merchantId, id],
  });
  return rows.map((row) => ({
    id: row.id,
    amountMinor: row.amount_minor,
    lines: row.line_ids.map((lineId, index) => ({ lineId, quantity: row.quantities[index] ?? 0 })),
    reason: row.reason,
    note: row.note,
    reference: row.reference,
    actor: { kind: row.actor_kind, name: row.actor_name, id: row.actor_id },
    createdAt: row.created_at,
  }));
}

/** The caller adds the entries of the refund to the ledger. */
async function insertRefund(
  tx: Queryable,
  { merchantId, id: orderId }: RefundKey,
  refund: Refund,
): Promise<void> {
  await tx.query({
    name: "insert-refund",
    text: `
      insert into refunds (
        merchant_id, order_id, id, amount_minor, line_ids, quantities, reason, note, reference, actor_kind, actor_name,
        actor_id, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    values: [
      merchantId,
      orderId,
      refund.id,
      refund.amountMinor.toString(),
      refund.lines.map(({ lineId }) => lineId),
      refund.lines.map(({ quantity }) => quantity),
      refund.reason,
      refund.note,
      refund.reference,
      refund.actor.kind,
      refund.actor.name,
      refund.actor.id ?? null,
      refund.createdAt,
    ],
  });
  recordChanges(tx, refund.createdAt, [
    { merchantId, orderId, kind: "refund", objectId: refund.id, events: ["refund.created"] },
  ]);
}

/** Erases what people wrote about refunds of orders. */
export async function eraseRefundNotes(
  tx: Queryable,
  orders: readonly RefundKey[],
  erasedText: string,
  now: Date,
): Promise<void> {
  const erased = await tx.query<{ merchantId: string; orderId: string; id: string }>({
    name: "erase-refund-notes",
    text: `
      update refunds r
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
    erased.map(({ id: objectId, ...of }) => ({ ...of, kind: "refund", objectId })),
  );
}

/**
 * Decides about the refund of an order by request (docs/design/money.md, "Refunds"), and stores nothing. Runs in a transaction
 * that has locked the order. A cancel, another refund and the record of a charge take the same lock, so each sees what the
 * others have decided, and no more is refunded than was charged.
 */
export async function decideRefund(
  tx: Queryable,
  order: OrderKey,
  request: RefundRequest,
  { actor }: Pick<TransitionCause, "actor">,
  { newId, now }: RecordContext,
): Promise<RefundDecision> {
  const earlier = await readRefunds(tx, order);
  const sameReference = earlier.find(({ reference }) => reference === request.reference);
  if (sameReference !== undefined)
    return isRepeated(sameReference, request)
      ? { outcome: "repeated", refund: sameReference }
      : { outcome: "reference-taken" };
  const ledger = await readLedger(tx, order, order.id);
  const allLeftMinor = refundableMinor(ledger);
  const [first] = ledger;
  if (first === undefined || allLeftMinor === 0n) return { outcome: "nothing-left" };
  const parts = partsOf(request, ledger);
  for (const { of, entries, amountMinor } of parts) {
    const leftMinor = refundableMinor(entries);
    if (amountMinor > leftMinor)
      return { outcome: "more-than-left", of, leftMinor, currency: first.currency };
  }
  if (request.amountMinor < allLeftMinor && earlier.length >= REFUNDS_MAX) return { outcome: "too-many" };
  const { amountMinor, lines, reason, note, reference } = request;
  const id = newId();
  return {
    outcome: "possible",
    refund: { id, amountMinor, lines, reason, note, reference, actor, createdAt: now },
    entries: parts.flatMap((part) => refundsFor(part.entries, { id, amountMinor: part.amountMinor }, now)),
  };
}

/** The charges that a request refunds, and how much of them. */
const partsOf = ({ amountMinor, shippingMinor }: RefundRequest, ledger: readonly LedgerEntry[]) =>
  shippingMinor === null
    ? [{ of: "all" as const, entries: ledger, amountMinor }]
    : [
        { of: "goods" as const, entries: ofGoods(ledger), amountMinor: amountMinor - shippingMinor },
        { of: "shipping" as const, entries: ofShipping(ledger), amountMinor: shippingMinor },
      ];

/**
 * Adds a refund and its entries to the ledger: the one way to it, so each asks for recent authentication. The caller has locked
 * the order. A worker then sends the entries to the gateways that charged the order.
 */
export async function storeRefund(
  tx: Queryable,
  order: OrderKey,
  { refund, entries }: PossibleRefund,
  { requestId = null }: Pick<TransitionCause, "requestId">,
  { newId, now, notRecent = null }: RecordContext & Unproved,
): Promise<void> {
  requireRecentAuthentication({ notRecent });
  await insertRefund(tx, order, refund);
  await insertEntries(
    tx,
    entries.map((entry) => ({ ...entry, order, id: newId(), requestId })),
    now,
  );
}

/** How much of an order's goods can still be refunded, as `refundableGoodsMinor` says. The caller has locked the order. */
export const readRefundableGoods = async (tx: Queryable, order: OrderKey): Promise<bigint | null> =>
  refundableGoodsMinor(await readLedger(tx, order, order.id));
