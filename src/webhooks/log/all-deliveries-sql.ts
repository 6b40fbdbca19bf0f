import type { ConnectionScope } from "../../access/scope.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { type PagePosition, ROWS_READ_MAX, UUID_MAX, UUID_MIN } from "../../platform/wire/cursor.ts";
import type { Delivery, DeliveryStatus } from "./delivery.ts";
import { COLUMNS, type DeliveryRow, NEXT_ATTEMPT_AT_OF_ALL, toDelivery } from "./delivery-log-sql.ts";

/** What a list over all connections is filtered by. A null restricts nothing. */
export type AllDeliveriesFilter = {
  readonly scope: ConnectionScope;
  readonly merchantId: string | null;
  readonly status: DeliveryStatus | null;
  readonly eventType: string | null;
  readonly since: Date | null;
  readonly until: Date | null;
};

/** A delivery with its connection. */
export type OwnedDelivery = Delivery & ConnectionKey & { readonly connectionName: string };
type OwnedRow = DeliveryRow & {
  merchant_id: string;
  connection_id: string;
  connection_name: string;
  read_to: string | null;
};

/** Deliveries that a page reads of all connections together, unless there are more connections than that. */
const READ_TOGETHER_MAX = 20_000;

/**
 * The newest deliveries of all connections of a scope that fit, one more than the page if there is one. Of each connection it
 * reads an equal share by the primary key, and more than a page. Where a share ends, the page ends for all connections:
 * older deliveries of this one may follow. `readTo` is then the id up to which all were read.
 */
export async function listAllDeliveries(
  db: Queryable,
  { scope, merchantId, status, eventType, since, until }: AllDeliveriesFilter,
  { afterId, limit }: PagePosition,
  now: Date,
): Promise<{ readonly deliveries: readonly OwnedDelivery[]; readonly readTo: string | null }> {
  const last = until === null ? UUID_MAX : uuidAt(until);
  const rows = await db.query<OwnedRow>({
    name: "list-all-deliveries",
    text: `
      with shown as materialized (
        select c.merchant_id, c.id, c.name, count(*) over () as number
        from connections c
        where ($1::uuid[] is null or c.merchant_id = any($1) or c.id = any($2))
          and ($3::uuid is null or c.merchant_id = $3)
      ), read as materialized (
        select s.merchant_id, s.id as connection_id, s.name as connection_name, found.*
        from shown s
        cross join lateral (
          select ${COLUMNS}, d.stream_id,
                 ($6::text is null or d.status = $6) and ($7::text is null or d.event_type = $7)
                   and (d.not_after is null or d.not_after > $8) as fits,
                 row_number() over (order by d.id desc) as position
          from deliveries d
          where d.merchant_id = s.merchant_id and d.connection_id = s.id and d.id < $4 and d.id >= $5
          order by d.id desc
          limit greatest($9 + 1, least(${ROWS_READ_MAX}, ${READ_TOGETHER_MAX} / s.number))) as found
      ), ended as (
        select max(r.id::text)::uuid as id
        from read r
        join shown s on s.merchant_id = r.merchant_id and s.id = r.connection_id
        where r.position = greatest($9 + 1, least(${ROWS_READ_MAX}, ${READ_TOGETHER_MAX} / s.number))
      ), fitting as (
        select r.*
        from read r
        where r.fits and r.id >= coalesce((select e.id from ended e), $5)
        order by r.id desc
        limit $9 + 1
      )
      select d.*, e.id as read_to,${NEXT_ATTEMPT_AT_OF_ALL}
      from ended e
      left join fitting d on true
      order by d.id desc`,
    values: [
      scope?.merchantIds ?? null,
      scope?.connections.map(({ connectionId }) => connectionId) ?? null,
      merchantId,
      afterId < last ? afterId : last,
      since === null ? UUID_MIN : uuidAt(since),
      status,
      eventType,
      now,
      limit,
    ],
  });
  return {
    deliveries: rows.flatMap((row) => (row.id === null ? [] : [toOwnedDelivery(row)])),
    readTo: rows[0]?.read_to ?? null,
  };
}

const toOwnedDelivery = (row: OwnedRow): OwnedDelivery => ({
  ...toDelivery(row),
  merchantId: row.merchant_id,
  connectionId: row.connection_id,
  connectionName: row.connection_name,
});
