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
      select e.order_id, e.id, e.kind, e.attempt, e.refund_of, e.refund_id, e.amount_minor, o.currency,
             coalesce(x.outcome, 'pending') as status, x.gateway, x.reason, e.request_id, e.created_at
      from ledger_entries e
      join orders o on o.merchant_id = $1 and o.id = e.order_id
      left join ledger_outcomes x on x.merchant_id = $1 and x.order_id = e.order_id and x.entry_id = e.id
      where e.merchant_id = $1 and e.order_id = any($2::uuid[])
      order by e.id`,
    values: [connection.merchantId, orderIds],
  });
  return toLedgers(rows);
}

/** The ledgers of orders of many merchants, each oldest entry first. */
export async function readLedgersByKey(db: Queryable, orders: readonly OrderKey[]): Promise<LedgerOf> {
  const rows = await db.query<LedgerRow>({
    name: "read-ledgers-by-key",
    text: `
      select e.order_id, e.id, e.kind, e.attempt, e.refund_of, e.refund_id, e.amount_minor, o.currency,
             coalesce(x.outcome, 'pending') as status, x.gateway, x.reason, e.request_id, e.created_at
      from unnest($1::uuid[], $2::uuid[]) as listed (merchant_id, order_id)
      join ledger_entries e on e.merchant_id = listed.merchant_id and e.order_id = listed.order_id
      join orders o on o.merchant_id = e.merchant_id and o.id = e.order_id
      left join ledger_outcomes x on x.merchant_id = e.merchant_id and x.order_id = e.order_id and x.entry_id = e.id
        and ($3::uuid[] is null or x.merchant_id = any($3))
      where ($3::uuid[] is null or e.merchant_id = any($3)) and ($3::uuid[] is null or o.merchant_id = any($3))
      order by e.id`,
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
      with charged as (
        insert into ledger_entries (merchant_id, order_id, id, kind, attempt, amount_minor, request_id, created_at)
        select o.merchant_id, o.id, o.id, 'goods', 1, o.goods_minor, approved.request_id, $3
        from unnest($1::uuid[], $2::uuid[], $4::text[]) as approved (merchant_id, order_id, request_id)
        join orders o on o.merchant_id = approved.merchant_id and o.id = approved.order_id
        where not o.test_mode and o.goods_minor > 0 and ($5::uuid[] is null or o.merchant_id = any($5))
        returning merchant_id, order_id, id
      )
      insert into due_payments (merchant_id, connection_id, order_id, entry_id, due_at, attempt_count, recheck_requested)
      select c.merchant_id, o.connection_id, c.order_id, c.id, $3, 0, false
      from charged c
      join orders o on o.merchant_id = c.merchant_id and o.id = c.order_id
      where ($5::uuid[] is null or o.merchant_id = any($5))
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
    name: "insert-ledger-entries",
    text: `
      with added as (
        insert into ledger_entries (
          merchant_id, order_id, id, kind, attempt, refund_of, refund_id, amount_minor, request_id, created_at)
        select merchant_id, order_id, id, kind, attempt, refund_of, refund_id, amount_minor, request_id, $12
        from unnest($1::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::integer[], $7::uuid[], $8::bigint[], $11::uuid[],
                    $13::text[])
          as input (merchant_id, order_id, id, kind, attempt, refund_of, amount_minor, refund_id, request_id)
      )
      insert into due_payments (merchant_id, connection_id, order_id, entry_id, due_at, attempt_count, recheck_requested, gateway)
      select merchant_id, connection_id, order_id, id, due_at, 0, false, gateway
      -- Not what the first insert returns: Citus would send it to all nodes.
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $9::timestamptz[], $10::text[])
        as input (merchant_id, connection_id, order_id, id, due_at, gateway)`,
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
 * currency is left out. The caller has locked the orders.
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
      with charged as (
        insert into ledger_entries (merchant_id, order_id, id, kind, attempt, amount_minor, created_at)
        select o.merchant_id, o.id, input.id, 'shipping', 1, input.amount_minor, $6
        from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::text[])
          as input (merchant_id, order_id, id, amount_minor, currency)
        join orders o on o.merchant_id = input.merchant_id and o.id = input.order_id and o.currency = input.currency
        where o.merchant_id = any($1::uuid[]) and not o.test_mode
        returning merchant_id, order_id, id
      )
      insert into due_payments (merchant_id, connection_id, order_id, entry_id, due_at, attempt_count, recheck_requested)
      select c.merchant_id, o.connection_id, c.order_id, c.id, $6, 0, false
      from charged c
      join orders o on o.merchant_id = c.merchant_id and o.id = c.order_id
      where o.merchant_id = any($1::uuid[])
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
        returning d.merchant_id, d.order_id, d.entry_id
      )
      insert into ledger_outcomes (merchant_id, order_id, entry_id, outcome, created_at)
      select merchant_id, order_id, entry_id, 'canceled', $4
      from unsent
      returning order_id, entry_id`,
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
        (select g.*
        from merchants m
        cross join lateral (
          select e.* from ledger_entries e where e.merchant_id = m.id and e.order_id = $1 and e.id = $1 offset 0) as g
        limit 1)
        union all
        (select x.*
        from merchants m
        join ledger_entries x on x.merchant_id = m.id
        where x.id = $1 and (x.kind <> 'goods' or x.attempt > 1)
        limit 1)
      )
      select e.merchant_id, e.order_id, e.id, e.kind, e.attempt, e.refund_of, e.refund_id, e.amount_minor, o.currency,
             coalesce(x.outcome, 'pending') as status, x.gateway, x.reason, e.request_id, e.created_at, x.gateway_reference,
             x.created_at as processed_at
      from found e
      join orders o on o.merchant_id = e.merchant_id and o.id = e.order_id
      left join ledger_outcomes x on x.merchant_id = o.merchant_id and x.order_id = o.id and x.entry_id = e.id`,
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
        select g.merchant_id, g.order_id, g.id
        from ledger_entries g
        where g.merchant_id = $1 and (g.order_id, g.id) < ($2::uuid, $3::uuid)
          and g.order_id >= $4 and g.order_id < $5
        order by g.order_id desc, g.id desc
        limit 5000
      ), ending as (
        select count(*)::integer as read_count, (array_agg(p.order_id order by p.order_id, p.id))[1] as last_order_id,
               (array_agg(p.id order by p.order_id, p.id))[1] as last_id
        from part p
      )
      select n.read_count, n.last_order_id, n.last_id, f.*
      from ending n
      left join lateral (
        select e.merchant_id, e.order_id, e.id, e.kind, e.attempt, e.refund_of, e.refund_id, e.amount_minor, o.currency,
               coalesce(x.outcome, 'pending') as status, x.gateway, x.reason, e.request_id, e.created_at, x.gateway_reference,
               x.created_at as processed_at, o.external_order_id
        from part p
        join ledger_entries e on e.merchant_id = $1 and e.order_id = p.order_id and e.id = p.id
        join orders o on o.merchant_id = $1 and o.id = e.order_id
        left join ledger_outcomes x on x.merchant_id = $1 and x.order_id = e.order_id and x.entry_id = e.id
        where ($6::text is null or e.kind = $6) and ($7::text is null or coalesce(x.outcome, 'pending') = $7)
        order by e.order_id desc, e.id desc
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
