import { recordChanges } from "../changes/record-changes.ts";
import type { OrderKey } from "../lifecycle/order.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { merchantsOf } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { NewId } from "../platform/ids.ts";
import { ROWS_READ_MAX } from "../platform/wire/cursor.ts";
import type { EntryKind, EntryStatus, GatewayName, LedgerEntry, NewEntry } from "./ledger.ts";

/** The ledger of an order, oldest entry first. */
export async function readLedger(
  db: Queryable,
  connection: ConnectionKey,
  orderId: string,
): Promise<readonly LedgerEntry[]> {
  return (await readLedgers(db, connection, [orderId]))(orderId);
}

/** The ledgers of a connection's orders, oldest entry first. */
export async function readLedgers(
  db: Queryable,
  connection: ConnectionKey,
  orderIds: readonly string[],
): Promise<LedgerOf> {
  const rows = await db.query<LedgerRow>({
    name: "read-ledgers",
    text: `
      select e.order_id, e.id, e.kind, e.attempt, e.refund_of, e.refund_id, e.amount_minor, o.currency, e.outcome as status,
             e.gateway, e.reason, e.request_id, e.created_at
      from ledger_entries e
      join orders o on o.merchant_id = $1 and o.id = e.order_id
      where e.merchant_id = $1 and e.order_id = any($2::uuid[])
      union all
      select d.order_id, d.entry_id, d.kind, d.attempt, d.refund_of, d.refund_id, d.amount_minor, o.currency, 'pending', null, null,
             d.request_id, d.created_at
      from due_payments d
      join orders o on o.merchant_id = $1 and o.id = d.order_id
      where d.merchant_id = $1 and d.order_id = any($2::uuid[])
      order by id`,
    values: [connection.merchantId, orderIds],
  });
  return toLedgers(rows);
}

/** The ledgers of orders of many merchants, each oldest entry first. */
export async function readLedgersByKey(db: Queryable, orders: readonly OrderKey[]): Promise<LedgerOf> {
  const rows = await db.query<LedgerRow>({
    name: "read-ledgers-by-key",
    text: `
      select l.*
      from (
        select e.merchant_id, e.order_id, e.id, e.kind, e.attempt, e.refund_of, e.refund_id, e.amount_minor, o.currency,
               e.outcome as status, e.gateway, e.reason, e.request_id, e.created_at
        from unnest($1::uuid[], $2::uuid[]) as listed (merchant_id, order_id)
        join ledger_entries e on e.merchant_id = listed.merchant_id and e.order_id = listed.order_id
        join orders o on o.merchant_id = e.merchant_id and o.id = e.order_id
        where ($3::uuid[] is null or e.merchant_id = any($3)) and ($3::uuid[] is null or o.merchant_id = any($3))
        union all
        select d.merchant_id, d.order_id, d.entry_id, d.kind, d.attempt, d.refund_of, d.refund_id, d.amount_minor, o.currency,
               'pending', null, null, d.request_id, d.created_at
        from unnest($1::uuid[], $2::uuid[]) as listed (merchant_id, order_id)
        join due_payments d on d.merchant_id = listed.merchant_id and d.order_id = listed.order_id
        join orders o on o.merchant_id = d.merchant_id and o.id = d.order_id
        where ($3::uuid[] is null or d.merchant_id = any($3)) and ($3::uuid[] is null or o.merchant_id = any($3))) as l
      order by l.id`,
    values: [
      orders.map(({ merchantId }) => merchantId),
      orders.map(({ id }) => id),
      await merchantsOf(db, orders),
    ],
  });
  return toLedgers(rows);
}

type LedgerRow = {
  order_id: string;
  id: string;
  kind: EntryKind;
  attempt: number;
  refund_of: string | null;
  refund_id: string | null;
  amount_minor: bigint;
  currency: string;
  status: EntryStatus;
  gateway: GatewayName | null;
  reason: string | null;
  request_id: string | null;
  created_at: Date;
};

type LedgerOf = (orderId: string) => readonly LedgerEntry[];

function toLedgers(rows: readonly LedgerRow[]): LedgerOf {
  const entries = Map.groupBy(rows, (row) => row.order_id);
  return (orderId) => (entries.get(orderId) ?? []).map(toEntry);
}

const toEntry = (row: LedgerRow): LedgerEntry => ({
  id: row.id,
  kind: row.kind,
  attempt: row.attempt,
  refundOf: row.refund_of,
  refundId: row.refund_id,
  amountMinor: row.amount_minor,
  currency: row.currency,
  status: row.status,
  gateway: row.gateway,
  failureReason: row.reason,
  requestId: row.request_id,
  createdAt: row.created_at,
});

/**
 * Charges the goods of real orders that were approved, and makes the charges due. Goods that cost nothing are
 * left out. The caller has locked the orders.
 */
export async function insertGoodsCharges(
  tx: Queryable,
  orders: readonly (OrderKey & { readonly requestId: string | null })[],
  now: Date,
): Promise<void> {
  const rows = await tx.query<{ merchant_id: string; order_id: string }>({
    name: "insert-goods-charges",
    text: `
      insert into due_payments (
        merchant_id, connection_id, order_id, entry_id, kind, attempt, amount_minor, request_id, created_at, due_at, attempt_count,
        recheck_requested)
      select o.merchant_id, o.connection_id, o.id, o.id, 'goods', 1, o.goods_minor, approved.request_id, $3, $3, 0, false
      from unnest($1::uuid[], $2::uuid[], $4::text[]) as approved (merchant_id, order_id, request_id)
      join orders o on o.merchant_id = approved.merchant_id and o.id = approved.order_id
      where not o.test_mode and o.goods_minor > 0 and ($5::uuid[] is null or o.merchant_id = any($5))
      returning merchant_id, order_id`,
    values: [
      orders.map(({ merchantId }) => merchantId),
      orders.map(({ id }) => id),
      now,
      orders.map(({ requestId }) => requestId),
      await merchantsOf(tx, orders),
    ],
  });
  // The first charge has the id of its order.
  recordCharges(
    tx,
    now,
    rows.map((row) => ({ merchantId: row.merchant_id, orderId: row.order_id, id: row.order_id })),
  );
}

type ChangedCharge = {
  readonly merchantId: string;
  readonly orderId: string;
  readonly id: string;
  readonly events?: readonly string[];
};

/** Each new entry, and each outcome of one, is a change of its order too. */
export const recordCharges = (tx: Queryable, now: Date, charges: readonly ChangedCharge[]): void =>
  recordChanges(
    tx,
    now,
    charges.map(({ id: objectId, ...of }) => ({ ...of, kind: "charge", objectId })),
  );

/** An entry for the ledger of an order that the caller has locked. */
export type EntryOfOrder = NewEntry & {
  readonly order: OrderKey;
  readonly id: string;
  /** As in `x-request-id`. Null if no request caused the entry. */
  readonly requestId: string | null;
};

/** Adds entries to ledgers, and makes them due at a gateway. */
export async function insertEntries(
  tx: Queryable,
  entries: readonly EntryOfOrder[],
  now: Date,
): Promise<void> {
  if (entries.length === 0) return;
  await tx.query({
    name: "insert-due-payments",
    text: `
      insert into due_payments (
        merchant_id, connection_id, order_id, entry_id, kind, attempt, refund_of, amount_minor, due_at, gateway, refund_id,
        request_id, created_at, attempt_count, recheck_requested)
      select merchant_id, connection_id, order_id, id, kind, attempt, refund_of, amount_minor, due_at, gateway, refund_id,
             request_id, $12, 0, false
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::integer[], $7::uuid[], $8::bigint[],
                  $9::timestamptz[], $10::text[], $11::uuid[], $13::text[])
        as input (merchant_id, connection_id, order_id, id, kind, attempt, refund_of, amount_minor, due_at, gateway, refund_id,
                  request_id)`,
    values: [
      entries.map(({ order }) => order.merchantId),
      entries.map(({ order }) => order.connectionId),
      entries.map(({ order }) => order.id),
      entries.map(({ id }) => id),
      entries.map(({ kind }) => kind),
      entries.map(({ attempt }) => attempt),
      entries.map(({ refundOf }) => refundOf),
      entries.map(({ amountMinor }) => amountMinor.toString()),
      entries.map(({ dueAt }) => dueAt),
      entries.map(({ gateway }) => gateway),
      entries.map(({ refundId }) => refundId),
      now,
      entries.map(({ requestId }) => requestId),
    ],
  });
  recordCharges(
    tx,
    now,
    entries.map(({ order, id }) => ({ merchantId: order.merchantId, orderId: order.id, id })),
  );
}

/**
 * Adds first charges for shipping, over all connections. Returns how many it added. A charge that is not in its order's
 * currency is left out, and one for shipping that was charged before. The caller has locked the orders.
 */
export async function insertShippingCharges(
  tx: Queryable,
  charges: readonly {
    readonly merchantId: string;
    readonly orderId: string;
    readonly amountMinor: bigint;
    readonly currency: string;
  }[],
  { newId, now }: { newId: NewId; now: Date },
): Promise<number> {
  const rows = await tx.query<{ merchant_id: string; order_id: string; entry_id: string }>({
    name: "insert-shipping-charges",
    text: `
      insert into due_payments (
        merchant_id, connection_id, order_id, entry_id, kind, attempt, amount_minor, created_at, due_at, attempt_count,
        recheck_requested)
      select o.merchant_id, o.connection_id, o.id, input.id, 'shipping', 1, input.amount_minor, $6, $6, 0, false
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::text[])
        as input (merchant_id, order_id, id, amount_minor, currency)
      join orders o on o.merchant_id = input.merchant_id and o.id = input.order_id and o.currency = input.currency
      where o.merchant_id = any($1::uuid[]) and not o.test_mode
        and not exists (
          select from ledger_entries e
          where e.merchant_id = o.merchant_id and e.merchant_id = any($1::uuid[]) and e.order_id = o.id and e.kind = 'shipping')
      returning merchant_id, order_id, entry_id`,
    values: [
      charges.map(({ merchantId }) => merchantId),
      charges.map(({ orderId }) => orderId),
      charges.map(() => newId()),
      charges.map(({ amountMinor }) => amountMinor.toString()),
      charges.map(({ currency }) => currency),
      now,
    ],
  });
  recordCharges(
    tx,
    now,
    rows.map((row) => ({ merchantId: row.merchant_id, orderId: row.order_id, id: row.entry_id })),
  );
  return rows.length;
}

/**
 * Adds first charges for shipping that were booked on the merchants' accounts in the same transaction, with their outcome. Returns
 * how many it added: it leaves out the same ones as `insertShippingCharges`. The caller has locked the orders, none of which has a
 * pending charge.
 */
export async function insertBookedShippings(
  tx: Queryable,
  charges: readonly {
    readonly merchantId: string;
    readonly orderId: string;
    readonly id: string;
    readonly amountMinor: bigint;
    readonly currency: string;
    readonly reference: string;
  }[],
  now: Date,
): Promise<number> {
  const rows = await tx.query<{ merchant_id: string; order_id: string; id: string }>({
    name: "insert-booked-shippings",
    text: `
      insert into ledger_entries (
        merchant_id, order_id, id, kind, attempt, amount_minor, outcome, gateway, gateway_reference, created_at, processed_at)
      select o.merchant_id, o.id, input.id, 'shipping', 1, input.amount_minor, 'succeeded', 'account', input.reference, $7, $7
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::text[], $6::text[])
        as input (merchant_id, order_id, id, amount_minor, currency, reference)
      join orders o on o.merchant_id = input.merchant_id and o.id = input.order_id and o.currency = input.currency
      where o.merchant_id = any($1::uuid[]) and not o.test_mode
      returning merchant_id, order_id, id`,
    values: [
      charges.map(({ merchantId }) => merchantId),
      charges.map(({ orderId }) => orderId),
      charges.map(({ id }) => id),
      charges.map(({ amountMinor }) => amountMinor.toString()),
      charges.map(({ currency }) => currency),
      charges.map(({ reference }) => reference),
      now,
    ],
  });
  recordCharges(
    tx,
    now,
    rows.map((row) => ({ merchantId: row.merchant_id, orderId: row.order_id, id: row.id })),
  );
  return rows.length;
}

/**
 * Cancels those of a merchant's entries that were never claimed. Returns their ids. If an entry is being claimed, this
 * waits, and then leaves the entry to its claim. The caller has locked the orders.
 */
export async function cancelUnsentEntries(
  tx: Queryable,
  merchantId: string,
  orderIds: readonly string[],
  entryIds: readonly string[],
  now: Date,
): Promise<ReadonlySet<string>> {
  if (entryIds.length === 0) return new Set();
  const rows = await tx.query<{ order_id: string; entry_id: string }>({
    name: "cancel-unsent-entries",
    text: `
      with unsent as (
        delete from due_payments d
        where d.merchant_id = $1 and d.order_id = any($2::uuid[]) and d.entry_id = any($3::uuid[]) and d.attempt_count = 0
        returning d.merchant_id, d.order_id, d.entry_id, d.kind, d.attempt, d.refund_of, d.refund_id, d.amount_minor,
                  d.request_id, d.created_at
      )
      insert into ledger_entries (
        merchant_id, order_id, id, kind, attempt, refund_of, refund_id, amount_minor, request_id, created_at, outcome, processed_at)
      select merchant_id, order_id, entry_id, kind, attempt, refund_of, refund_id, amount_minor, request_id, created_at, 'canceled',
             $4
      from unsent
      returning order_id, id as entry_id`,
    values: [merchantId, orderIds, entryIds, now],
  });
  recordCharges(
    tx,
    now,
    rows.map((row) => ({ merchantId, orderId: row.order_id, id: row.entry_id })),
  );
  return new Set(rows.map((row) => row.entry_id));
}

/** An entry of a ledger that was found by its id alone. */
export type FoundCharge = LedgerEntry & {
  readonly merchantId: string;
  readonly orderId: string;
  /** The gateway's id of the payment. Null unless it succeeded. */
  readonly gatewayReference: string | null;
  /** When the outcome was recorded. Null while it is pending. */
  readonly processedAt: Date | null;
};

type FoundRow = LedgerRow & {
  merchant_id: string;
  gateway_reference: string | null;
  processed_at: Date | null;
};

/**
 * A charge or a refund, by its id. Null if there is none. The first charge for goods has the id of its order; all others
 * are in ledger_entries_id_idx. A scan over all shards.
 */
export async function findCharge(db: Queryable, id: string): Promise<FoundCharge | null> {
  const [row] = await db.query<FoundRow>({
    name: "find-charge",
    text: `
      with found as materialized ( -- Of all shards. Citus joins only what it has read, and a limit makes it read.
        (select g.merchant_id, g.order_id, g.id, g.kind, g.attempt, g.refund_of, g.refund_id, g.amount_minor, g.outcome as status,
                g.gateway, g.reason, g.request_id, g.created_at, g.gateway_reference, g.processed_at
        from merchants m
        cross join lateral (
          select e.* from ledger_entries e where e.merchant_id = m.id and e.order_id = $1 and e.id = $1 offset 0) as g
        limit 1)
        union all
        (select x.merchant_id, x.order_id, x.id, x.kind, x.attempt, x.refund_of, x.refund_id, x.amount_minor, x.outcome, x.gateway,
                x.reason, x.request_id, x.created_at, x.gateway_reference, x.processed_at
        from merchants m
        join ledger_entries x on x.merchant_id = m.id
        where x.id = $1 and (x.kind <> 'goods' or x.attempt > 1)
        limit 1)
        union all
        (select p.merchant_id, p.order_id, p.entry_id, p.kind, p.attempt, p.refund_of, p.refund_id, p.amount_minor, 'pending', null,
                null, p.request_id, p.created_at, null, null
        from merchants m
        cross join lateral (
          select d.* from due_payments d
          where d.merchant_id = m.id and d.order_id = $1 and d.purpose = 'goods 1' offset 0) as p
        limit 1)
        union all
        (select y.merchant_id, y.order_id, y.entry_id, y.kind, y.attempt, y.refund_of, y.refund_id, y.amount_minor, 'pending', null,
                null, y.request_id, y.created_at, null, null
        from merchants m
        join due_payments y on y.merchant_id = m.id
        where y.entry_id = $1 and (y.kind <> 'goods' or y.attempt > 1)
        limit 1)
      )
      select e.*, o.currency
      from found e
      join orders o on o.merchant_id = e.merchant_id and o.id = e.order_id`,
    values: [id],
  });
  if (row === undefined) return null;
  return {
    ...toEntry(row),
    merchantId: row.merchant_id,
    orderId: row.order_id,
    gatewayReference: row.gateway_reference,
    processedAt: row.processed_at,
  };
}

/** Which charges are listed. A null restricts nothing. */
export type ChargeFilter = {
  readonly kind: EntryKind | null;
  readonly status: EntryStatus | null;
  /** Orders with ids from `sinceId` on, and before `untilId`: ids sort by the time of creation. */
  readonly sinceId: string;
  readonly untilId: string;
};

/** A charge in the list: the newest order first, and of an order the newest charge. */
export type ChargePosition = { readonly orderId: string; readonly id: string };

export type ListedCharge = FoundCharge & { readonly externalOrderId: string | null };

export type ChargePage = {
  readonly charges: readonly ListedCharge[];
  /** Where reading ended, if it ended before the page was full. Null if all were read. */
  readonly readTo: ChargePosition | null;
};

type ListedRow = LedgerRow & {
  merchant_id: string;
  gateway_reference: string | null;
  processed_at: Date | null;
  external_order_id: string | null;
};
type PageRow = Partial<ListedRow> & { read_count: number; last_order_id: string; last_id: string };

/**
 * The charges and refunds of a merchant's orders. Reads at most ROWS_READ_MAX along the primary key. Returns one more
 * than the page if there is one.
 */
export async function listCharges(
  db: Queryable,
  merchantId: string,
  { kind, status, sinceId, untilId }: ChargeFilter,
  after: ChargePosition,
  limit: number,
): Promise<ChargePage> {
  const rows = await db.query<PageRow>({
    name: "list-charges",
    text: `
      with part as materialized (
        (select e.merchant_id, e.order_id, e.id, e.kind, e.attempt, e.refund_of, e.refund_id, e.amount_minor, e.outcome as status,
                e.gateway, e.reason, e.request_id, e.created_at, e.gateway_reference, e.processed_at
        from ledger_entries e
        where e.merchant_id = $1 and (e.order_id, e.id) < ($2::uuid, $3::uuid)
          and e.order_id >= $4 and e.order_id < $5
        order by e.order_id desc, e.id desc
        limit 5000)
        union all
        (select d.merchant_id, d.order_id, d.entry_id, d.kind, d.attempt, d.refund_of, d.refund_id, d.amount_minor, 'pending', null,
                null, d.request_id, d.created_at, null, null
        from due_payments d
        where d.merchant_id = $1 and d.order_id <= $2 and (d.order_id, d.entry_id) < ($2::uuid, $3::uuid)
          and d.order_id >= $4 and d.order_id < $5
        order by d.order_id desc, d.entry_id desc
        limit 5000)
        order by order_id desc, id desc
        limit 5000
      ), ending as (
        select count(*)::integer as read_count, (array_agg(p.order_id order by p.order_id, p.id))[1] as last_order_id,
               (array_agg(p.id order by p.order_id, p.id))[1] as last_id
        from part p
      )
      select n.read_count, n.last_order_id, n.last_id, f.*
      from ending n
      left join lateral (
        select p.*, o.currency, r.external_order_id
        from part p
        join orders o on o.merchant_id = $1 and o.id = p.order_id
        join order_requests r on r.merchant_id = $1 and r.order_id = p.order_id
        where ($6::text is null or p.kind = $6) and ($7::text is null or p.status = $7)
        order by p.order_id desc, p.id desc
        limit $8 + 1
      ) as f on true
      order by f.order_id desc, f.id desc`,
    values: [merchantId, after.orderId, after.id, sinceId, untilId, kind, status, limit],
  });
  const [first] = rows;
  return {
    charges: rows.filter(isCharge).map(toListed),
    readTo: first?.read_count === ROWS_READ_MAX ? { orderId: first.last_order_id, id: first.last_id } : null,
  };
}

/** The join returns one row without an id if none fits. */
const isCharge = (row: PageRow): row is PageRow & ListedRow => typeof row.id === "string";

const toListed = (row: ListedRow): ListedCharge => ({
  ...toEntry(row),
  merchantId: row.merchant_id,
  orderId: row.order_id,
  externalOrderId: row.external_order_id,
  gatewayReference: row.gateway_reference,
  processedAt: row.processed_at,
});
