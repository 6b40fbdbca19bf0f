import type { Actor } from "../lifecycle/applied-transition.ts";
import type { Context } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { type FittingRow, toFitting } from "../platform/database/day-partitions.ts";
import { uuidAt } from "../platform/ids.ts";
import { before, STOCK_MOVEMENTS_KEPT_MS } from "../platform/time.ts";
import { type PagePosition, ROWS_READ_MAX } from "../platform/wire/cursor.ts";

type MovementRow = {
  merchant_id: string;
  id: string;
  facility_id: string;
  product_id: string;
  kind: MovementKind;
  difference: number;
  on_hand: number;
  reason: AdjustmentReason | null;
  note: string | null;
  reference: string | null;
  order_id: string | null;
  actor_kind: Actor["kind"];
  actor_name: string | null;
  actor_id: string | null;
  created_at: Date;
};

/** Adds movements of a merchant that were made by hand. The caller has locked the stock of the products and changes it. */
export async function insertMovements(
  tx: Queryable,
  merchantId: string,
  movements: readonly StockMovement[],
): Promise<void> {
  if (movements.length === 0) return;
  await tx.query({
    name: "insert-stock-movements",
    text: `
      insert into stock_movements (merchant_id, id, facility_id, product_id, kind, difference, on_hand, reason, note,
                                   reference, order_id, actor_kind, actor_name, actor_id, created_at)
      select $1, m.id, m.facility_id, m.product_id, m.kind, m.difference, m.on_hand, m.reason, m.note,
             m.reference, m.order_id, m.actor_kind, m.actor_name, m.actor_id, m.created_at
      from json_to_recordset($2) as m (
        id uuid, facility_id uuid, product_id uuid, kind text, difference integer, on_hand integer, reason text,
        note text, reference text, order_id uuid, actor_kind text, actor_name text, actor_id text,
        created_at timestamptz)`,
    values: [merchantId, JSON.stringify(movements.map(toMovementInput))],
  });
}

const toMovementInput = (movement: StockMovement): Omit<MovementRow, "merchant_id"> => ({
  id: movement.id,
  facility_id: movement.facilityId,
  product_id: movement.productId,
  kind: movement.kind,
  difference: movement.difference,
  on_hand: movement.onHand,
  reason: movement.reason,
  note: movement.note,
  reference: movement.reference,
  order_id: movement.orderId,
  actor_kind: movement.actor.kind,
  actor_name: movement.actor.name,
  actor_id: movement.actor.id ?? null,
  created_at: movement.createdAt,
});

/** An adjustment of a product by its reference. */
type ReferenceKey = { readonly productId: string; readonly reference: string };

/** Those of the adjustments of a merchant's stock at a facility that were made already. */
export async function listAdjustments(
  tx: Queryable,
  facilityId: string,
  merchantId: string,
  keys: readonly ReferenceKey[],
): Promise<StockMovement[]> {
  if (keys.length === 0) return [];
  const rows = await tx.query<MovementRow>({
    name: "list-stock-adjustments",
    text: `
      select m.merchant_id, m.id, m.facility_id, m.product_id, m.kind, m.difference, m.on_hand, m.reason,
             m.note, m.reference, m.order_id, m.actor_kind, m.actor_name, m.actor_id, m.created_at
      from unnest($3::uuid[], $4::text[]) as named (product_id, reference)
      join stock_movements m
        on m.merchant_id = $1 and m.facility_id = $2 and m.product_id = named.product_id
           and m.reference = named.reference`,
    values: [
      merchantId,
      facilityId,
      keys.map(({ productId }) => productId),
      keys.map(({ reference }) => reference),
    ],
  });
  return rows.map(toMovement);
}

/** Which movements of a facility are listed. A null restricts nothing. */
export type MovementFilter = {
  readonly merchantId: string | null;
  readonly productId: string | null;
  readonly kind: MovementKind | null;
};

type MovementPage = {
  readonly movements: readonly MovementOfProduct[];
  /** The last row that was read, if reading ended before the page was full. Null if all were read. */
  readonly readTo: string | null;
};

/**
 * A facility's movements, newest first. Returns one row more than the page if there is one. Reads at most ROWS_READ_MAX
 * rows, by stock_movements_facility_idx or stock_movements_product_idx.
 */
export async function listMovements(
  db: Queryable,
  facilityId: string,
  { merchantId, productId, kind }: MovementFilter,
  { afterId, limit }: PagePosition,
): Promise<MovementPage> {
  const rows = await db.query<
    FittingRow<MovementRow & { sku: string; name: string; external_order_id: string | null }>
  >({
    name: productId === null ? "list-stock-movements" : "list-stock-movements-of-product",
    text: `
      with part as materialized (
        select m.merchant_id, m.id, m.facility_id, m.product_id, m.kind, m.difference, m.on_hand, m.reason,
               m.note, m.reference, m.order_id, m.actor_kind, m.actor_name, m.actor_id, m.created_at
        from stock_movements m
        where m.facility_id = $1 and m.id < $2
          and ${productId === null ? "$4::uuid is null" : "m.product_id = $4"}
        order by m.id desc
        limit 5000
      )
      select p.last_id, p.read_count, f.*
      from (
        select (array_agg(part.id order by part.id))[1] as last_id,
               count(*)::integer as read_count
        from part
      ) as p
      left join lateral (
        select part.*, p.sku, p.name, o.external_order_id
        from part
        join products p on p.merchant_id = part.merchant_id and p.id = part.product_id
        left join order_requests o on o.merchant_id = p.merchant_id and o.order_id = part.order_id
        where ($5::uuid is null or part.merchant_id = $5) and ($6::text is null or part.kind = $6)
        order by part.id desc
        limit $3 + 1
      ) as f on true
      order by f.id desc`,
    values: [facilityId, afterId, limit, productId, merchantId, kind],
  });
  const { found, readTo } = toFitting(rows, ROWS_READ_MAX);
  const movements = found.map((row) => ({
    ...toMovement(row),
    sku: row.sku,
    name: row.name,
    externalOrderId: row.external_order_id,
  }));
  return { movements, readTo };
}

/** Deletes at most `limit` movements before an id, of each merchant the oldest first. Returns how many. */
async function deleteOldMovements(db: Queryable, beforeId: string, limit: number): Promise<number> {
  const rows = await db.query({
    name: "delete-old-stock-movements",
    text: `
      delete from stock_movements m
      using (
        select o.merchant_id, o.id
        from merchants w
        cross join lateral (
          select old.merchant_id, old.id
          from stock_movements old
          where old.merchant_id = w.id and old.id < $1
          order by old.id
          limit $2) as o
        limit $2
      ) as listed
      where m.merchant_id = listed.merchant_id and m.id = listed.id
      returning m.id`,
    values: [beforeId, limit],
  });
  return rows.length;
}

const toMovement = (row: MovementRow): StockMovement => ({
  merchantId: row.merchant_id,
  id: row.id,
  facilityId: row.facility_id,
  productId: row.product_id,
  kind: row.kind,
  difference: row.difference,
  onHand: row.on_hand,
  reason: row.reason,
  note: row.note,
  reference: row.reference,
  orderId: row.order_id,
  actor: { kind: row.actor_kind, name: row.actor_name, id: row.actor_id },
  createdAt: row.created_at,
});

/**
 * What shipments of an order have taken from the stock of a facility, by product, without what voided ones gave back. Since the
 * time of an id, by stock_movements_product_idx. The caller has locked the order.
 */
export async function readTakenUnits(
  tx: Queryable,
  { merchantId, orderId, facilityId, sinceId }: TakenBy,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.query<{ productId: string; quantity: number }>({
    name: "read-taken-units",
    text: `
      select m.product_id as "productId", -sum(m.difference)::integer as quantity
      from stock_movements m
      where m.merchant_id = $1 and m.product_id = any($2::uuid[]) and m.facility_id = $3 and m.id >= $4
        and m.order_id = $5 and m.kind in ('shipped', 'voided')
      group by m.product_id`,
    values: [merchantId, productIds, facilityId, sinceId, orderId],
  });
  return new Map(rows.map(({ productId, quantity }) => [productId, quantity]));
}

/** The order whose shipments took units from a facility, since the time of an id. */
type TakenBy = {
  readonly merchantId: string;
  readonly orderId: string;
  readonly facilityId: string;
  readonly sinceId: string;
};

export type OrdersMoved = { readonly shipped: number; readonly returned: number };

/**
 * Orders of which stock left a facility, or came back to it, since the time of an id. Of the newest ROWS_READ_MAX
 * movements, by stock_movements_facility_idx.
 */
export async function countOrdersMoved(
  db: Queryable,
  facilityId: string,
  sinceId: string,
): Promise<OrdersMoved> {
  const [row] = await db.query<OrdersMoved>({
    name: "count-orders-moved",
    text: `
      select count(distinct m.order_id) filter (where m.kind = 'shipped')::integer as shipped,
             count(distinct m.order_id) filter (where m.kind = 'returned')::integer as returned
      from (
        select m.merchant_id, m.order_id, m.kind
        from stock_movements m
        where m.facility_id = $1 and m.id >= $2
        order by m.id desc
        limit 5000) as m`,
    values: [facilityId, sinceId],
  });
  return row ?? { shipped: 0, returned: 0 };
}

/** Movements of each facility that one statement deletes, so that it is short. */
const BATCH_SIZE = 1_000;

/**
 * Deletes movements that are older than two years, batch by batch. Returns how many. See docs/design/fulfilment.md, "Stock".
 */
export async function purgeStockMovements(
  { db, clock }: Pick<Context, "db" | "clock">,
  stopping?: AbortSignal,
): Promise<number> {
  const beforeId = uuidAt(before(clock.now(), STOCK_MOVEMENTS_KEPT_MS));
  let count = 0;
  for (;;) {
    const deleted = await deleteOldMovements(db, beforeId, BATCH_SIZE);
    count += deleted;
    if (deleted === 0 || stopping?.aborted) return count;
  }
}

export const MOVEMENT_KINDS = ["set", "adjusted", "shipped", "returned", "voided"] as const;
type MovementKind = (typeof MOVEMENT_KINDS)[number];

/** Why a quantity is changed by a difference (docs/design/fulfilment.md, "Stock"). */
export const ADJUSTMENT_REASONS = [
  "received",
  "returned",
  "found",
  "damaged",
  "lost",
  "sample",
  "correction",
  "other",
] as const;
type AdjustmentReason = (typeof ADJUSTMENT_REASONS)[number];

/** For counts and adjustments. Far below what can be stored, because a return can exceed it. */
export const ON_HAND_MAX = 1_000_000_000;

/** The range of the column. */
export const ON_HAND_STORED_MAX = 2_147_483_647;

/** A change of the quantity on hand of a product at a facility. */
export type StockMovement = {
  readonly merchantId: string;
  readonly id: string;
  readonly facilityId: string;
  readonly productId: string;
  readonly kind: MovementKind;
  /** In units; negative if they left. */
  readonly difference: number;
  /** On hand after the movement. */
  readonly onHand: number;
  /** Null unless the quantity was adjusted. */
  readonly reason: AdjustmentReason | null;
  readonly note: string | null;
  /** The client's own name of an adjustment. Null if it has none. */
  readonly reference: string | null;
  /** The order that shipped or came back. Null for other kinds. */
  readonly orderId: string | null;
  readonly actor: Actor;
  readonly createdAt: Date;
};

/** A movement with what identifies its product and its order to people. */
export type MovementOfProduct = StockMovement & {
  readonly sku: string;
  readonly name: string;
  /** The partner's own id of the order. Null if there is no order, or if the partner gave none. */
  readonly externalOrderId: string | null;
};
