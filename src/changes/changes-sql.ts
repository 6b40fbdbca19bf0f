import { merchantsOf } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import { UUID_MIN } from "../platform/wire/cursor.ts";
import type { ChangeKind, StoredChange } from "./change.ts";

type ChangeInput = {
  merchant_id: string;
  id: string;
  connection_id: string | null;
  order_id: string | null;
  facility_id: string | null;
  left_facility_id: string | null;
  kinds: readonly string[];
  object_ids: readonly string[];
  events: readonly string[];
  is_gone: boolean;
};

const toInput = (change: StoredChange): ChangeInput => ({
  merchant_id: change.merchantId,
  id: change.id,
  connection_id: change.connectionId,
  order_id: change.orderId,
  facility_id: change.facilityId,
  left_facility_id: change.leftFacilityId,
  kinds: change.kinds,
  object_ids: change.objectIds,
  events: change.events,
  is_gone: change.isGone,
});

/** Stores changes of orders, with what the orders are now: their connection and their facility. Those of test orders are left out. */
export async function insertOrderChanges(tx: Queryable, changes: readonly StoredChange[]): Promise<void> {
  if (changes.length === 0) return;
  await tx.query({
    name: "insert-order-changes",
    text: `
      insert into changes (
        merchant_id, id, connection_id, order_id, facility_id, left_facility_id, kinds, object_ids, events)
      select o.merchant_id, c.id, o.connection_id, o.id, o.facility_id,
             case when c.left_facility_id is distinct from o.facility_id then c.left_facility_id end,
             c.kinds, c.object_ids, c.events
      from json_to_recordset($1::json) as c (
        merchant_id uuid, id uuid, order_id uuid, left_facility_id uuid, kinds text[], object_ids uuid[], events text[])
      join orders o on o.merchant_id = c.merchant_id and o.id = c.order_id
      where not o.test_mode and ($2::uuid[] is null or o.merchant_id = any($2))`,
    values: [JSON.stringify(changes.map(toInput)), await merchantsOf(tx, changes)],
  });
}

/** Stores changes of products, stock and endpoints. */
export async function insertChanges(tx: Queryable, changes: readonly StoredChange[]): Promise<void> {
  if (changes.length === 0) return;
  await tx.query({
    name: "insert-changes",
    text: `
      insert into changes (merchant_id, id, connection_id, facility_id, kinds, object_ids, events, is_gone)
      select c.merchant_id, c.id, c.connection_id, c.facility_id, c.kinds, c.object_ids, c.events, c.is_gone
      from json_to_recordset($1::json) as c (
        merchant_id uuid, id uuid, connection_id uuid, facility_id uuid, kinds text[], object_ids uuid[], events text[],
        is_gone boolean)`,
    values: [JSON.stringify(changes.map(toInput))],
  });
}

/** Notes the time at which orders have changed, unless the transaction has done it with the change. It has locked the orders. */
export async function touchOrders(
  tx: Queryable,
  orders: readonly Pick<StoredChange, "merchantId" | "orderId">[],
  now: Date,
): Promise<void> {
  if (orders.length === 0) return;
  await tx.query({
    name: "touch-orders",
    text: `
      update orders o
      set changed_at = greatest(o.changed_at, $3)
      from unnest($1::uuid[], $2::uuid[]) as changed (merchant_id, id)
      where o.merchant_id = changed.merchant_id and o.id = changed.id and ($4::uuid[] is null or o.merchant_id = any($4))`,
    values: [
      orders.map(({ merchantId }) => merchantId),
      orders.map(({ orderId }) => orderId),
      now,
      await merchantsOf(tx, orders),
    ],
  });
}

/** How far the feed of changes is numbered. */
export type FeedState = {
  readonly lastPosition: bigint;
  /** Changes after an earlier position may have been dropped. */
  readonly droppedPosition: bigint;
  /** All changes with a lower id have positions. */
  readonly unnumberedFrom: string;
};

type StateRow = { last_position: bigint; dropped_position: bigint; unnumbered_from: string };

const toState = (row: StateRow | undefined): FeedState => ({
  lastPosition: row?.last_position ?? 0n,
  droppedPosition: row?.dropped_position ?? 0n,
  unnumberedFrom: row?.unnumbered_from ?? UUID_MIN,
});

export async function readFeedState(db: Queryable): Promise<FeedState> {
  const [row] = await db.query<StateRow>({
    name: "read-change-feed",
    text: "select last_position, dropped_position, unnumbered_from from change_feed where id = 1",
    values: [],
  });
  return toState(row);
}

/** Locks the feed until the end of the transaction. */
export async function lockFeed(tx: Queryable): Promise<void> {
  await tx.query({
    name: "lock-change-feed",
    text: `
      insert into change_feed (id, last_position, dropped_position, unnumbered_from)
      values (1, 0, 0, '00000000-0000-0000-0000-000000000000')
      on conflict (id) do update
        set last_position = change_feed.last_position`,
    values: [],
  });
}

/**
 * Takes `count` positions of the locked feed. Returns the last one. They are later than all that were taken before, and than
 * the time in microseconds.
 */
export async function takePositions(tx: Queryable, count: number, now: Date): Promise<bigint> {
  const [row] = await tx.query<{ last_position: bigint }>({
    name: "take-change-positions",
    text: `
      update change_feed
      set last_position = greatest(last_position, $1::bigint) + $2::bigint
      where id = 1
      returning last_position`,
    values: [positionAt(now).toString(), count],
  });
  if (row === undefined) throw new Error("The feed was not locked.");
  return row.last_position;
}

/** The first position that can be given at a time. */
export const positionAt = (moment: Date): bigint => BigInt(moment.getTime()) * 1_000n;

/** Notes that all changes with a lower id have positions. */
export async function saveUnnumberedFrom(db: Queryable, id: string): Promise<void> {
  await db.query({
    name: "save-unnumbered-from",
    text: "update change_feed set unnumbered_from = greatest(unnumbered_from, $1::uuid) where id = 1",
    values: [id],
  });
}

/** The key of a change. */
export type ChangeKey = { readonly merchantId: string; readonly id: string };

/**
 * The merchants whose changes are read, for a distributed database, which then asks only their nodes. Null on a plain PostgreSQL
 * (docs/design/distribution.md, "A node that is down").
 */
const onNodes = async (
  db: Queryable,
  merchantIds: readonly string[] | null,
): Promise<readonly string[] | null> => ((await db.isDistributed()) ? merchantIds : null);

/** The oldest changes without a position in a range of ids, of these merchants or of all: a look-up for each merchant. */
export async function listUnnumbered(
  db: Queryable,
  merchantIds: readonly string[] | null,
  { fromId, untilId }: { readonly fromId: string; readonly untilId: string },
  limit: number,
): Promise<ChangeKey[]> {
  return db.query<ChangeKey>({
    name: "list-unnumbered-changes",
    text: `
      select u.merchant_id as "merchantId", u.id
      from (
        (select found.merchant_id, found.id
        from merchants m
        cross join lateral (
          select c.merchant_id, c.id
          from changes c
          where c.merchant_id = m.id and c.position = 9223372036854775807 and c.id >= $2 and c.id < $3
            and ($5::uuid[] is null or c.merchant_id = any($5))
          order by c.id
          limit $4) as found
        where $1::uuid[] is null or m.id = any($1)
        order by found.id
        limit $4)
        union all -- The endpoints of facilities, which are of no merchant.
        (select c.merchant_id, c.id
        from changes c
        where c.merchant_id = '00000000-0000-0000-0000-000000000001' and c.position = 9223372036854775807
          and c.id >= $2 and c.id < $3 and ($1::uuid[] is null or c.merchant_id = any($1))
        order by c.id
        limit $4)) as u
      order by u.id
      limit $4`,
    values: [merchantIds, fromId, untilId, limit, await onNodes(db, merchantIds)],
  });
}

/**
 * Gives changes their positions: the first one has that after `before`. One that another transaction is numbering on a node of
 * Citus is waited for, and left as it is.
 */
export async function numberChanges(
  tx: Queryable,
  keys: readonly ChangeKey[],
  before: bigint,
): Promise<void> {
  await tx.query({
    name: "number-changes",
    // The first and the last id say which partitions need not be looked at.
    text: `
      update changes c
      set position = $3::bigint + numbered.number
      from unnest($1::uuid[], $2::uuid[]) with ordinality as numbered (merchant_id, id, number)
      where c.merchant_id = numbered.merchant_id and c.id = numbered.id and c.position = 9223372036854775807
        and c.id >= $4 and c.id <= $5 and ($6::uuid[] is null or c.merchant_id = any($6))`,
    values: [
      keys.map(({ merchantId }) => merchantId),
      keys.map(({ id }) => id),
      before.toString(),
      keys[0]?.id,
      keys.at(-1)?.id,
      await merchantsOf(tx, keys),
    ],
  });
}

/** What of the feed is read: each part shows some kinds. */
export type ChangeScope = {
  /** Kinds that are shown of all merchants. */
  readonly kinds: readonly ChangeKind[];
  readonly ofMerchants: { readonly ids: readonly string[]; readonly kinds: readonly ChangeKind[] };
  readonly ofFacilities: { readonly ids: readonly string[]; readonly kinds: readonly ChangeKind[] };
};

/** The merchants whose changes are read. Null: all. */
export const merchantsInScope = (
  { kinds, ofMerchants, ofFacilities }: ChangeScope,
  merchantId: string | null,
): readonly string[] | null => {
  if (merchantId !== null) return [merchantId];
  return kinds.length > 0 || ofFacilities.ids.length > 0 ? null : ofMerchants.ids;
};

/** A change that was read from the feed. */
export type ChangeRow = StoredChange & { readonly position: bigint };

type ReadChanges = {
  readonly rows: readonly ChangeRow[];
  /** The last position that was read, if reading ended before the page was full. */
  readonly readTo: bigint | null;
};

type Row = ChangeInput & { kinds: ChangeKind[]; position: bigint };
type PageRow = { read_to: bigint; read_count: number } & (Row | { id: null });

/** Changes that one statement reads at most, so that a scope with few of them costs no more than another one. */
const ROWS_READ_MAX = 5_000;

/** The changes that are read, by their positions: those of all merchants, or the next ones of each. */
const PARTS = {
  all: `
        select c.*
        from changes c
        where c.position >= $1 and c.position <= $2 and c.position < 9223372036854775807 and $4::uuid[] is null
          and $10::uuid[] is null
        order by c.position
        limit 5000`,
  merchants: `
        select found.*
        from merchants m
        cross join lateral (
          select c.*
          from changes c
          where c.merchant_id = m.id and c.position >= $1 and c.position <= $2 and c.position < 9223372036854775807
            and ($10::uuid[] is null or c.merchant_id = any($10))
          order by c.position
          limit 5000) as found
        where m.id = any($4::uuid[])
        order by found.position
        limit 5000`,
};

/** The numbered changes of a scope from a position on and up to another one: at most `limit`, of at most ROWS_READ_MAX. */
export async function listChanges(
  db: Queryable,
  scope: ChangeScope,
  merchantIds: readonly string[] | null,
  { from, upTo, limit }: { readonly from: bigint; readonly upTo: bigint; readonly limit: number },
): Promise<ReadChanges> {
  const source = merchantIds === null ? "all" : "merchants";
  const rows = await db.query<PageRow>({
    name: `list-changes-of-${source}`,
    text: `
      with part as materialized (${PARTS[source]}
      )
      select p.read_to, p.read_count, f.*
      from (
        select max(part.position) as read_to, count(*)::integer as read_count
        from part) as p
      left join lateral (
        select part.merchant_id, part.id, part.connection_id, part.order_id, part.facility_id, part.left_facility_id,
               part.kinds, part.object_ids, part.events, part.is_gone, part.position
        from part
        where part.kinds && $5::text[]
          or part.merchant_id = any($6::uuid[]) and part.kinds && $7::text[]
          or (part.facility_id = any($8::uuid[]) or part.left_facility_id = any($8::uuid[])) and part.kinds && $9::text[]
        order by part.position
        limit $3) as f on true
      order by f.position`,
    values: [
      from.toString(),
      upTo.toString(),
      limit,
      merchantIds,
      scope.kinds,
      scope.ofMerchants.ids,
      scope.ofMerchants.kinds,
      scope.ofFacilities.ids,
      scope.ofFacilities.kinds,
      await onNodes(db, merchantIds),
    ],
  });
  const [first] = rows;
  return {
    rows: rows.flatMap((row) => (row.id === null ? [] : [toChange(row)])),
    readTo: first?.read_count === ROWS_READ_MAX ? first.read_to : null,
  };
}

const toChange = (row: Row): ChangeRow => ({
  merchantId: row.merchant_id,
  id: row.id,
  connectionId: row.connection_id,
  orderId: row.order_id,
  facilityId: row.facility_id,
  leftFacilityId: row.left_facility_id,
  kinds: row.kinds,
  objectIds: row.object_ids,
  events: row.events,
  isGone: row.is_gone,
  position: row.position,
});

/** The last position of changes in a range of ids. 0 if none has one. */
export async function readLastPosition(db: Queryable, fromId: string, untilId: string): Promise<bigint> {
  const [row] = await db.query<{ position: bigint | null }>({
    name: "read-last-change-position",
    text: `
      select max(c.position) as position
      from changes c
      where c.id >= $1 and c.id < $2 and c.position < 9223372036854775807`,
    values: [fromId, untilId],
  });
  return row?.position ?? 0n;
}

/** Notes that changes up to a position may be dropped. */
export async function saveDroppedPosition(db: Queryable, position: bigint): Promise<void> {
  await db.query({
    name: "save-dropped-position",
    text: `
      insert into change_feed (id, last_position, dropped_position, unnumbered_from)
      values (1, 0, $1, '00000000-0000-0000-0000-000000000000')
      on conflict (id) do update
        set dropped_position = greatest(change_feed.dropped_position, excluded.dropped_position)`,
    values: [position.toString()],
  });
}
