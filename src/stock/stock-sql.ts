import { recordChanges } from "../changes/record-changes.ts";
import type { Actor } from "../lifecycle/applied-transition.ts";
import { barcodeKeysIn } from "../platform/codes.ts";
import { merchantByMerchant, merchantsOf } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import { folded, searchPatterns } from "../platform/fold-text.ts";
import type { PagePosition } from "../platform/wire/cursor.ts";

type StockRow = {
  merchant_id: string;
  facility_id: string;
  product_id: string;
  on_hand: number;
  reserved: number;
  updated_at: Date;
};

/** A change of a stock record, in units. Negative values are taken away. */
export type StockMove = {
  readonly facilityId: string;
  readonly productId: string;
  readonly onHand: number;
  readonly reserved: number;
  /** The order that causes it. */
  readonly orderId: string;
};

/**
 * Locks the stock of products at all facilities until the transaction ends. Products that are made to order have none.
 * Returns the products with stock. All transactions lock stock in the same order, by merchant and product, and after the
 * order's row, so they cannot deadlock. Read stock with a later statement, because the snapshot of this one is from before
 * it waited.
 */
export async function lockStock(tx: Queryable, products: readonly ProductKey[]): Promise<ProductKey[]> {
  if (products.length === 0) return [];
  const rows = await merchantByMerchant(tx, products, (own, merchantId) =>
    tx.query<ProductRow>({
      name: "lock-stock",
      text: `
        select s.merchant_id, s.product_id
        from unnest($1::uuid[], $2::uuid[]) as wanted (merchant_id, product_id)
        join stocked_products s on s.merchant_id = wanted.merchant_id and s.product_id = wanted.product_id
        where ($3::uuid is null or wanted.merchant_id = $3)
        order by s.merchant_id, s.product_id
        for no key update of s`,
      values: [...productColumns(own), merchantId],
    }),
  );
  return rows.map(toProductKey);
}

type ProductRow = { merchant_id: string; product_id: string };
type RecordRow = ProductRow & { facility_id: string };

const changeOf = (row: RecordRow) =>
  stockChange({ merchantId: row.merchant_id, facilityId: row.facility_id, productId: row.product_id });

const toProductKey = (row: ProductRow): ProductKey => ({ merchantId: row.merchant_id, id: row.product_id });

const productColumns = (products: readonly ProductKey[]): [merchantIds: string[], productIds: string[]] => [
  products.map(({ merchantId }) => merchantId),
  products.map(({ id }) => id),
];

/**
 * From now on these products of a merchant are not made to order. Call it before `lockStock`: it adds rows in the order in which
 * all transactions lock them.
 */
export async function beginStocking(
  tx: Queryable,
  merchantId: string,
  productIds: readonly string[],
): Promise<void> {
  if (productIds.length === 0) return;
  await tx.query({
    name: "begin-stocking",
    text: `
      insert into stocked_products (merchant_id, product_id)
      select $1, stocked.id
      from unnest($2::uuid[]) as stocked (id)
      order by stocked.id
      on conflict (merchant_id, product_id) do nothing`,
    values: [merchantId, productIds],
  });
}

export async function readStock(
  db: Queryable,
  facilityId: string,
  { merchantId, id }: ProductKey,
): Promise<StockRecord | null> {
  const [row] = await db.query<StockRow>({
    name: "read-stock",
    text: `
      select merchant_id, facility_id, product_id, on_hand, reserved, updated_at
      from facility_stock
      where merchant_id = $1 and facility_id = $2 and product_id = $3`,
    values: [merchantId, facilityId, id],
  });
  return row === undefined ? null : toStockRecord(row);
}

/** The stock of a merchant's products at a facility, by their ids. */
export async function readStockOf(
  db: Queryable,
  facilityId: string,
  merchantId: string,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, StockRecord>> {
  const rows = await db.query<StockRow>({
    name: "read-stock-of-products",
    text: `
      select merchant_id, facility_id, product_id, on_hand, reserved, updated_at
      from facility_stock
      where merchant_id = $1 and facility_id = $2 and product_id = any($3::uuid[])`,
    values: [merchantId, facilityId, productIds],
  });
  return new Map(rows.map((row) => [row.product_id, toStockRecord(row)]));
}

/** Which stock is listed. A null restricts nothing. */
type StockFilter = {
  readonly merchantId: string | null;
  readonly sku: string | null;
  /** True if some of it is available. */
  readonly available: boolean | null;
  /** Only what has fewer available units. */
  readonly availableBelow: number | null;
  /** A part of the SKU or of the name, or a whole barcode. */
  readonly search: string | null;
  /** Only what last changed at or after this time. */
  readonly updatedSince: Date | null;
};

/** The stock records of a page: those of all or of a merchant, or those of products with the SKU, by the index of each. */
const recordsOf = ({ merchantId, sku }: StockFilter): string => `
          select s.merchant_id, s.facility_id, s.product_id, s.on_hand, s.reserved, s.updated_at
          from facility_stock s
          ${sku === null ? "" : "join products p on p.merchant_id = s.merchant_id and p.id = s.product_id and p.sku = $5"}
          where s.facility_id = $1 and s.product_id > $2 and ${merchantId === null ? "$4::uuid is null" : "s.merchant_id = $4"}
            ${sku === null ? "and $5::text is null" : ""}
          order by s.product_id
          limit 5000`;

/**
 * A facility's stock in the order of product ids, one row more than the page if there is one. Most filters have no index, so a
 * page reads at most ROWS_READ_MAX records (docs/design/isolation-and-limits.md, "Bounded lists").
 */
export async function listStock(
  db: Queryable,
  facilityId: string,
  filter: StockFilter,
  { afterId, limit }: PagePosition,
): Promise<{ readonly stock: readonly StockOfProduct[]; readonly readTo: string | null }> {
  const { merchantId, sku, available, availableBelow, search, updatedSince } = filter;
  const rows = await db.query<
    StockRow & Pick<StockOfProduct, "sku" | "name" | "barcode"> & { fits: boolean; is_last: boolean }
  >({
    name: `list-stock${merchantId === null ? "" : "-of-one"}${sku === null ? "" : "-of-sku"}`,
    text: `
      select s.merchant_id, s.facility_id, s.product_id, s.on_hand, s.reserved, s.updated_at, p.sku, p.name, p.barcode,
             f.fits, s.is_last
      from (
        select s.*, row_number() over (order by s.product_id) = 5000 as is_last
        from (${recordsOf(filter)}) as s) as s
      join products p on p.merchant_id = s.merchant_id and p.id = s.product_id
      cross join lateral (
        select ($6::boolean is null or $6 = (s.on_hand > s.reserved))
               and ($7::integer is null or s.on_hand - s.reserved < $7)
               and ($8::text[] is null or p.barcode_key = any($10::text[])
                    or ${folded("p.sku")} like any($8) or ${folded("p.name")} like any($8))
               and ($9::timestamptz is null or s.updated_at >= $9) as fits) as f
      where (f.fits or s.is_last) and ${merchantId === null ? "true" : "p.merchant_id = $4"}
      order by s.product_id
      limit $3 + 1`,
    values: [
      ...[facilityId, afterId, limit, merchantId, sku, available, availableBelow],
      search === null ? null : searchPatterns(search),
      updatedSince,
      barcodeKeysIn(search ?? ""),
    ],
  });
  const last = rows.at(-1);
  return {
    stock: rows
      .filter(({ fits }) => fits)
      .map((row) => ({ ...toStockRecord(row), sku: row.sku, name: row.name, barcode: row.barcode })),
    readTo: last?.is_last ? last.product_id : null,
  };
}

/** Sets the quantities of a merchant's products at facilities. The caller has locked their stock. */
export async function saveOnHand(
  tx: Queryable,
  merchantId: string,
  stock: readonly StockRecord[],
  now: Date,
): Promise<void> {
  if (stock.length === 0) return;
  await tx.query({
    name: "save-on-hand",
    text: `
      insert into facility_stock (merchant_id, facility_id, product_id, on_hand, reserved, updated_at)
      select $1, saved.facility_id, saved.product_id, saved.on_hand, 0, $5
      from unnest($2::uuid[], $3::uuid[], $4::integer[]) as saved (facility_id, product_id, on_hand)
      on conflict (merchant_id, facility_id, product_id) do update
      set on_hand = excluded.on_hand, updated_at = excluded.updated_at`,
    values: [
      merchantId,
      stock.map(({ facilityId }) => facilityId),
      stock.map(({ productId }) => productId),
      stock.map(({ onHand }) => onHand),
      now,
    ],
  });
  recordChanges(tx, now, stock.map(stockChange));
}

const stockChange = ({
  merchantId,
  facilityId,
  productId: objectId,
}: Pick<StockRecord, "merchantId" | "facilityId" | "productId">) =>
  ({ merchantId, kind: "stock", objectId, facilityId }) as const;

/** The available stock of products. */
export async function readAvailability(
  tx: Queryable,
  products: readonly ProductKey[],
): Promise<Availability> {
  const availability = new Map(products.map(({ id }) => [id, new Map<string, number>()]));
  if (products.length === 0) return availability;
  const rows = await tx.query<{ facility_id: string; product_id: string; available: number }>({
    name: "read-availability",
    text: `
      select s.facility_id, s.product_id, s.on_hand - s.reserved as available
      from unnest($1::uuid[], $2::uuid[]) as wanted (merchant_id, product_id)
      join facility_stock s on s.merchant_id = wanted.merchant_id and s.product_id = wanted.product_id
      where ($3::uuid[] is null or s.merchant_id = any($3))`,
    values: [...productColumns(products), await merchantsOf(tx, products)],
  });
  for (const row of rows) availability.get(row.product_id)?.set(row.facility_id, row.available);
  return availability;
}

/** A change of a merchant's stock record. */
export type MerchantStockMove = StockMove & { readonly merchantId: string };

/**
 * Reserves units, or releases reservations, in existing stock records. What is on hand does not change. Returns the
 * products that were changed. The caller has locked their stock.
 */
export async function moveReserved(
  tx: Queryable,
  moves: readonly Omit<MerchantStockMove, "onHand" | "orderId">[],
  now: Date,
): Promise<ProductKey[]> {
  if (moves.length === 0) return [];
  const rows = await tx.query<RecordRow>({
    name: "move-reserved-stock",
    text: `
      update facility_stock s
      set reserved = s.reserved + move.reserved, updated_at = $5
      from (
        select merchant_id, facility_id, product_id, sum(reserved)::integer as reserved
        from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::integer[])
          as each_move (merchant_id, facility_id, product_id, reserved)
        group by merchant_id, facility_id, product_id) as move
      where s.merchant_id = move.merchant_id and s.facility_id = move.facility_id and s.product_id = move.product_id
        and ($6::uuid[] is null or s.merchant_id = any($6))
      returning s.merchant_id, s.facility_id, s.product_id`,
    values: [
      moves.map(({ merchantId }) => merchantId),
      moves.map(({ facilityId }) => facilityId),
      moves.map(({ productId }) => productId),
      moves.map(({ reserved }) => reserved),
      now,
      await merchantsOf(tx, moves),
    ],
  });
  recordChanges(tx, now, rows.map(changeOf));
  return rows.map(toProductKey);
}

/** A move of goods with its history: the id of its movement, and who has caused it. */
export type RecordedStockMove = MerchantStockMove & { readonly movementId: string; readonly actor: Actor };

/**
 * Changes existing stock records, and adds a movement for each move that changes what is on hand, in one call for all orders
 * (docs/design/distribution.md, "Functions run on one node"). A negative quantity has been shipped, a positive one has been
 * returned. Returns the products that were changed. The caller has locked their stock. The ids of movements are in the order of
 * the moves.
 */
export async function moveGoods(
  tx: Queryable,
  moves: readonly RecordedStockMove[],
  now: Date,
): Promise<ProductKey[]> {
  if (moves.length === 0) return [];
  const rows = await merchantByMerchant(tx, moves, (own, merchantId) =>
    tx.query<RecordRow>({
      name: "move-goods",
      text: "select merchant_id, facility_id, product_id from move_goods($1, $2, $3)",
      values: [merchantId, JSON.stringify(own.map(toMoveInput)), now],
    }),
  );
  recordChanges(tx, now, rows.map(changeOf));
  return rows.map(toProductKey);
}

const toMoveInput = (move: RecordedStockMove) => ({
  merchant_id: move.merchantId,
  facility_id: move.facilityId,
  product_id: move.productId,
  on_hand: move.onHand,
  reserved: move.reserved,
  movement_id: move.movementId,
  order_id: move.orderId,
  actor_kind: move.actor.kind,
  actor_name: move.actor.name,
  actor_id: move.actor.id ?? null,
});

const toStockRecord = (row: StockRow): StockRecord => ({
  merchantId: row.merchant_id,
  facilityId: row.facility_id,
  productId: row.product_id,
  onHand: row.on_hand,
  reserved: row.reserved,
  updatedAt: row.updated_at,
});

/** The stock of a product at a facility. */
export type StockAtFacility = StockRecord & {
  /** The id of the facility. */
  readonly id: string;
  readonly facilityName: string;
  readonly facilityClosedAt: Date | null;
};

/**
 * The stock of a product at all facilities that have a record of it, or at those of these, the oldest facility first.
 * Returns one row more than the page if there is one. A look-up by the primary key for each facility.
 */
export async function listStockOfProduct(
  db: Queryable,
  { merchantId, id }: ProductKey,
  facilityIds: readonly string[] | null,
  { afterId, limit }: PagePosition,
): Promise<StockAtFacility[]> {
  const rows = await db.query<StockRow & { facility_name: string; closed_at: Date | null }>({
    name: "list-stock-of-product",
    text: `
      select s.merchant_id, s.facility_id, s.product_id, s.on_hand, s.reserved, s.updated_at, f.name as facility_name,
             f.closed_at
      from facilities f
      join facility_stock s on s.merchant_id = $1 and s.facility_id = f.id and s.product_id = $2
      where f.id > $3 and ($5::uuid[] is null or f.id = any($5))
      order by f.id
      limit $4 + 1`,
    values: [merchantId, id, afterId, limit, facilityIds],
  });
  return rows.map((row) => ({
    ...toStockRecord(row),
    id: row.facility_id,
    facilityName: row.facility_name,
    facilityClosedAt: row.closed_at,
  }));
}

/** The stock of a product at an open facility, as an order sees it. */
export type StockForOrder = {
  readonly facilityId: string;
  readonly facilityName: string;
  readonly onHand: number;
  readonly reserved: number;
  /** Of `reserved`, the units that are reserved for the order itself. */
  readonly reservedForOrder: number;
};

/** Facilities that are shown for each product of a held order. */
export const SHOWN_FACILITIES_MAX = 20;

/**
 * The stock of products for an order, at open facilities or at those of these, the one with the most available units first.
 * Products that are made to order are left out.
 */
export async function readStockForOrder(
  db: Queryable,
  { merchantId, id: orderId }: { readonly merchantId: string; readonly id: string },
  productIds: readonly string[],
  facilityIds: readonly string[] | null,
): Promise<ReadonlyMap<string, readonly StockForOrder[]>> {
  const rows = await db.query<{ productId: string; facilities: StockForOrder[] | null }>({
    name: "read-stock-for-order",
    text: `
      select k.product_id as "productId", found.facilities
      from stocked_products k
      cross join lateral (
        select json_agg(json_build_object('facilityId', best.id, 'facilityName', best.name, 'onHand', best.on_hand,
                                          'reserved', best.reserved, 'reservedForOrder', best.kept)) as facilities
        from (select f.id, f.name, s.on_hand, s.reserved,
                     (select coalesce(sum(r.quantity), 0)::integer
                      from stock_reservations r
                      where r.merchant_id = $1 and r.order_id = $2 and r.product_id = k.product_id
                        and r.facility_id = f.id) as kept
              from facilities f
              join facility_stock s on s.merchant_id = $1 and s.facility_id = f.id and s.product_id = k.product_id
              where f.closed_at is null and ($4::uuid[] is null or f.id = any($4))
              order by s.on_hand - s.reserved desc, f.id
              limit $5) as best) as found
      where k.merchant_id = $1 and k.product_id = any($3::uuid[])`,
    values: [merchantId, orderId, productIds, facilityIds, SHOWN_FACILITIES_MAX],
  });
  return new Map(rows.map(({ productId, facilities }) => [productId, facilities ?? []]));
}

/** The stock of one of a merchant's products at all facilities together, and at each. */
export type MerchantStock = Pick<
  StockOfProduct,
  "merchantId" | "sku" | "name" | "barcode" | "onHand" | "reserved"
> & {
  /** The id of the product. */
  readonly id: string;
  /** At the facilities that are open. */
  readonly available: number;
  readonly updatedAt: Date;
  readonly facilities: readonly Omit<StockAtFacility, "id" | "merchantId" | "productId">[];
};

/** JSON has times as texts. */
type StoredAtFacility = Omit<MerchantStock["facilities"][number], "updatedAt" | "facilityClosedAt"> & {
  readonly updatedAt: string;
  readonly facilityClosedAt: string | null;
};

type MerchantStockRow = Omit<MerchantStock, "merchantId" | "facilities"> & {
  readonly facilities: readonly StoredAtFacility[];
  readonly fits: boolean;
  readonly isLast: boolean;
};

/** The products of a page: those with stock records, or those with the SKU $4, by the index of each. */
const candidates = (sku: string | null): string =>
  sku === null
    ? `
        select k.product_id, row_number() over (order by k.product_id) = 5000 as "isLast"
        from stocked_products k
        where k.merchant_id = $1 and k.product_id > $2 and $4::text is null
        order by k.product_id`
    : `
        select p.id as product_id, row_number() over (order by p.id) = 5000 as "isLast"
        from products p
        where p.merchant_id = $1 and p.id > $2 and p.sku = $4
        order by p.id`;

/**
 * The stock of a merchant's products in the order of their ids, one row more than the page if there is one. Most filters have
 * no index, so a page reads at most ROWS_READ_MAX products (docs/design/isolation-and-limits.md, "Bounded lists"). A SKU has a
 * statement of its own, because it is found by another index.
 */
export async function listStockOfMerchant(
  db: Queryable,
  merchantId: string,
  { sku, available, availableBelow, search, updatedSince }: Omit<StockFilter, "merchantId">,
  { afterId, limit }: PagePosition,
): Promise<{ readonly stock: readonly MerchantStock[]; readonly readTo: string | null }> {
  const rows = await db.query<MerchantStockRow>({
    name: `list-stock-of-merchant${sku === null ? "" : "-of-sku"}`,
    text: `
      select p.id, p.sku, p.name, p.barcode, t."onHand", t.reserved, t.available, t."updatedAt", t.facilities, f.fits,
             k."isLast"
      from (${candidates(sku)}
        limit 5000) as k
      join products p on p.merchant_id = $1 and p.id = k.product_id
      left join lateral (
        select sum(s.on_hand)::float8 as "onHand", sum(s.reserved)::float8 as reserved,
               coalesce(sum(s.on_hand - s.reserved) filter (where f.closed_at is null), 0)::float8 as available,
               max(s.updated_at) as "updatedAt",
               json_agg(json_build_object('facilityId', f.id, 'facilityName', f.name, 'facilityClosedAt', f.closed_at,
                                          'onHand', s.on_hand, 'reserved', s.reserved, 'updatedAt', s.updated_at)
                        order by f.id) as facilities
        from facility_stock s
        join facilities f on f.id = s.facility_id
        where s.merchant_id = $1 and s.product_id = k.product_id) as t on true
      cross join lateral (
        select t.facilities is not null
               and ($5::boolean is null or $5 = (t.available > 0))
               and ($6::integer is null or t.available < $6)
               and ($7::text[] is null or p.barcode_key = any($9::text[])
                    or ${folded("p.sku")} like any($7) or ${folded("p.name")} like any($7))
               and ($8::timestamptz is null or t."updatedAt" >= $8) as fits) as f
      where f.fits or k."isLast"
      order by k.product_id
      limit $3 + 1`,
    values: [
      ...[merchantId, afterId, limit, sku, available, availableBelow],
      search === null ? null : searchPatterns(search),
      updatedSince,
      barcodeKeysIn(search ?? ""),
    ],
  });
  const last = rows.at(-1);
  return {
    stock: rows.flatMap((row) => (row.fits ? [toMerchantStock(merchantId, row)] : [])),
    readTo: last?.isLast ? last.id : null,
  };
}

const toMerchantStock = (
  merchantId: string,
  { fits: _fits, isLast: _isLast, ...row }: MerchantStockRow,
): MerchantStock => ({
  ...row,
  merchantId,
  facilities: row.facilities.map((at) => ({
    ...at,
    updatedAt: new Date(at.updatedAt),
    facilityClosedAt: at.facilityClosedAt === null ? null : new Date(at.facilityClosedAt),
  })),
});

/** The key of a product in the tables. */
export type ProductKey = { readonly merchantId: string; readonly id: string };

/** The quantity of a product at a facility, in units. */
export type StockRecord = {
  readonly merchantId: string;
  readonly facilityId: string;
  readonly productId: string;
  readonly onHand: number;
  /** Reserved for orders that have not shipped. At most `onHand`. */
  readonly reserved: number;
  readonly updatedAt: Date;
};

/** A stock record with what identifies its product to people. */
export type StockOfProduct = StockRecord & {
  readonly sku: string;
  readonly name: string;
  /** Null if the product has none. */
  readonly barcode: string | null;
};

/** Stock that has changed. Null: that of the product at all facilities. */
export type ChangedStock = {
  readonly merchantId: string;
  readonly productId: string;
  readonly facilityId: string | null;
};

/** Stock with the number below which it is low. Null: it never is. */
export type WatchedStock = StockOfProduct & { readonly lowStockBelow: number | null };

/** The stock as it is now. */
export async function readWatchedStock(
  db: Queryable,
  changed: readonly ChangedStock[],
): Promise<WatchedStock[]> {
  if (changed.length === 0) return [];
  return db.query<WatchedStock>({
    name: "read-watched-stock",
    text: `
      select distinct s.merchant_id as "merchantId", s.facility_id as "facilityId", s.product_id as "productId",
             s.on_hand as "onHand", s.reserved, s.updated_at as "updatedAt", p.sku, p.name, p.barcode,
             p.low_stock_below as "lowStockBelow"
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as changed (merchant_id, product_id, facility_id)
      join facility_stock s on s.merchant_id = changed.merchant_id and s.product_id = changed.product_id
      join products p on p.merchant_id = changed.merchant_id and p.id = changed.product_id
      where (changed.facility_id is null or s.facility_id = changed.facility_id)
        and ($4::uuid[] is null or s.merchant_id = any($4) and p.merchant_id = any($4))`,
    values: [
      changed.map(({ merchantId }) => merchantId),
      changed.map(({ productId }) => productId),
      changed.map(({ facilityId }) => facilityId),
      await merchantsOf(db, changed),
    ],
  });
}

/** Available units, by product and then by facility. A product that is missing is made to order. */
export type Availability = ReadonlyMap<string, ReadonlyMap<string, number>>;
