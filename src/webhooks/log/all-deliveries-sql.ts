import { type ConnectionScope, scopeIds } from "../../audit/grant.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { merchantsOf } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { type PagePosition, ROWS_READ_MAX, UUID_MAX, UUID_MIN } from "../../platform/wire/cursor.ts";
import type { OwnerKind, OwnerNames } from "../owner.ts";
import type { Delivery, DeliveryStatus } from "./delivery.ts";
import { type DeliveryRow, toDelivery } from "./delivery-log-sql.ts";

/** What a list over all connections is filtered by. A null restricts nothing. */
export type AllDeliveriesFilter = {
  readonly scope: ConnectionScope;
  readonly merchantId: string | null;
  readonly owner: OwnerKind | null;
  readonly status: DeliveryStatus | null;
  readonly eventType: string | null;
  readonly since: Date | null;
  readonly until: Date | null;
};

/** A delivery with its owner. */
export type OwnedDelivery = Delivery & ConnectionKey & OwnerNames;
type OwnedRow = Omit<DeliveryRow, "next_attempt_at"> & {
  merchant_id: string;
  connection_id: string;
  connection_name: string | null;
  merchant_name: string | null;
  facility_name: string | null;
  stream_id: string;
  read_to: string | null;
};

/** Deliveries that a page reads of all owners together, unless there are more owners than that. */
const READ_TOGETHER_MAX = 20_000;

const shownBy = ({ scope, merchantId }: AllDeliveriesFilter) => [
  scope?.merchantIds ?? null,
  scope?.connections.map(({ connectionId }) => connectionId) ?? null,
  merchantId,
];

/**
 * The newest deliveries of all owners of a scope that fit, one more than the page if there is one. Of each owner it
 * reads an equal share by the primary key, and more than a page. Where a share ends, the page ends for all owners:
 * older deliveries of this one may follow. `readTo` is then the id up to which all were read.
 */
export async function listAllDeliveries(
  db: Queryable,
  filter: AllDeliveriesFilter,
  { afterId, limit }: PagePosition,
  now: Date,
): Promise<{ readonly deliveries: readonly OwnedDelivery[]; readonly readTo: string | null }> {
  const { status, eventType, since, until } = filter;
  const last = until === null ? UUID_MAX : uuidAt(until);
  const share = Math.min(ROWS_READ_MAX, Math.floor(READ_TOGETHER_MAX / (await countOwners(db, filter))));
  const rows = await db.query<OwnedRow>({
    name: "list-all-deliveries",
    text: `
      with read as materialized (
        select o.merchant_id, o.connection_id, c.name as connection_name, m.name as merchant_name,
               f.name as facility_name, found.*
        from webhook_owners o
        left join connections c on c.merchant_id = o.merchant_id and c.id = o.connection_id
        left join merchants m on m.id = o.merchant_id
        left join facilities f on f.id = o.connection_id
        cross join lateral (
          select d.id, d.endpoint_id, d.event_id, d.event_type, d.order_id, d.not_after, d.status, d.stream_id,
                 d.fault ->> 'fault' as fault,
                 ($6::text is null or d.status = $6) and ($7::text is null or d.event_type = $7)
                   and (d.not_after is null or d.not_after > $8) as fits,
                 row_number() over (partition by d.merchant_id order by d.id desc) as position
          from deliveries d
          where d.merchant_id = o.merchant_id and d.connection_id = o.connection_id and d.id < $4 and d.id >= $5
          order by d.id desc
          limit $10) as found
        where ($1::uuid[] is null or o.merchant_id = any($1) or o.connection_id = any($2))
          and ($3::uuid is null or o.merchant_id = $3)
          and ($11::text is null or $11 = case -- As ownerKind decides it.
            when o.merchant_id = '00000000-0000-0000-0000-000000000001' then 'facility'
            when o.merchant_id = o.connection_id then 'merchant'
            else 'connection'
          end)
      ), ended as (
        select max(r.id::text)::uuid as id
        from read r
        where r.position = $10
      ), fitting as (
        select r.*
        from read r
        where r.fits and r.id >= coalesce((select e.id from ended e), $5)
        order by r.id desc
        limit $9 + 1
      )
      select d.*, e.id as read_to
      from ended e
      left join fitting d on true
      order by d.id desc`,
    values: [
      ...shownBy(filter),
      afterId < last ? afterId : last,
      since === null ? UUID_MIN : uuidAt(since),
      status,
      eventType,
      now,
      limit,
      Math.max(limit + 1, share),
      filter.owner,
    ],
  });
  const found = rows.filter(({ id }) => id !== null);
  const nextAttempts = await readNextAttempts(db, found);
  return {
    deliveries: found.map((row) => toOwnedDelivery(row, nextAttempts.get(row.id) ?? null)),
    readTo: rows[0]?.read_to ?? null,
  };
}

/** The deliveries with these ids, of the owners in a scope. By the primary key of each owner. */
export async function findDeliveries(
  db: Queryable,
  scope: ConnectionScope,
  { from, to }: { readonly from: string; readonly to: string },
  limit: number,
): Promise<(ConnectionKey & Pick<Delivery, "id" | "eventType" | "status"> & { ownerName: string })[]> {
  return db.query({
    name: "find-deliveries",
    text: `
      select o.merchant_id as "merchantId", o.connection_id as "connectionId", d.id, d.event_type as "eventType", d.status,
             coalesce(c.name, m.name, f.name, '') as "ownerName"
      from webhook_owners o
      left join connections c on c.merchant_id = o.merchant_id and c.id = o.connection_id
      left join merchants m on m.id = o.merchant_id
      left join facilities f on f.id = o.connection_id
      cross join lateral (
        select d.id, d.event_type, d.status
        from deliveries d
        where d.merchant_id = o.merchant_id and d.connection_id = o.connection_id and d.id >= $3 and d.id <= $4
        limit $5) as d
      where $1::uuid[] is null or o.merchant_id = any($1) or o.connection_id = any($2::uuid[])
      order by d.id
      limit $5`,
    values: [...scopeIds(scope), from, to, limit],
  });
}

/** Citus cannot share a bound within the statement that reads the deliveries of each owner. */
async function countOwners(db: Queryable, filter: AllDeliveriesFilter): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-owners-of-deliveries",
    text: `
      select greatest(1, count(*))::integer as count
      from webhook_owners o
      where ($1::uuid[] is null or o.merchant_id = any($1) or o.connection_id = any($2))
        and ($3::uuid is null or o.merchant_id = $3)`,
    values: shownBy(filter),
  });
  return row?.count ?? 1;
}

/**
 * The earliest time of the next attempt of each pending delivery. It may be due in its stream, in a stream of its own after a
 * manual request, or in both. Each is looked up by its whole key.
 */
async function readNextAttempts(
  db: Queryable,
  rows: readonly OwnedRow[],
): Promise<ReadonlyMap<string, Date>> {
  const pending = rows.filter(({ status }) => status === "pending");
  if (pending.length === 0) return new Map();
  const keys = pending.flatMap((row) => [row, { ...row, stream_id: row.id }]);
  const due = await db.query<{ id: string; due_at: Date }>({
    name: "read-next-attempts-of-all",
    text: `
      select q.delivery_id as id, min(q.due_at) as due_at
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) as key (merchant_id, endpoint_id, stream_id, delivery_id)
      join due_deliveries q on q.merchant_id = key.merchant_id and q.endpoint_id = key.endpoint_id
        and q.stream_id = key.stream_id and q.delivery_id = key.delivery_id
      join webhook_endpoints w on w.merchant_id = q.merchant_id and w.id = q.endpoint_id
      where q.claim_id is null and w.status = 'active'
        and ($5::uuid[] is null or q.merchant_id = any($5)) and ($5::uuid[] is null or w.merchant_id = any($5))
      group by q.delivery_id`,
    values: [
      keys.map((key) => key.merchant_id),
      keys.map((key) => key.endpoint_id),
      keys.map((key) => key.stream_id),
      keys.map((key) => key.id),
      await merchantsOf(
        db,
        keys.map((key) => ({ merchantId: key.merchant_id })),
      ),
    ],
  });
  return new Map(due.map(({ id, due_at }) => [id, due_at]));
}

const toOwnedDelivery = (row: OwnedRow, nextAttemptAt: Date | null): OwnedDelivery => ({
  ...toDelivery({ ...row, next_attempt_at: nextAttemptAt }),
  merchantId: row.merchant_id,
  connectionId: row.connection_id,
  connectionName: row.connection_name,
  merchantName: row.merchant_name,
  facilityName: row.facility_name,
});
