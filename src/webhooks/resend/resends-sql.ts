import { amongMerchants } from "../../distribution/among-merchants.ts";
import { searchReachable } from "../../distribution/reachable-merchants.ts";
import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { PagePosition } from "../../platform/wire/cursor.ts";
import { isProcessable } from "../conditions-sql.ts";
import type { DeliveryStatus } from "../log/delivery.ts";
import type { Resend, Skipped } from "./resend.ts";

type ResendRow = ConnectionKeyRow & {
  id: string;
  in_order: boolean;
  delivery_ids: string[] | null;
  since: Date | null;
  until: Date | null;
  endpoint_id: string | null;
  event_type: string | null;
  delivery_status: DeliveryStatus | null;
  total: number | null;
  position: string;
  sending: string[];
  is_read: boolean;
  succeeded_count: number;
  failed_count: number;
  skipped: Skipped;
  created_at: Date;
  canceled_at: Date | null;
  finished_at: Date | null;
};

const COLUMNS = `merchant_id, connection_id, id, in_order, delivery_ids, since, until, endpoint_id, event_type, delivery_status,
             total, position, sending, is_read, succeeded_count, failed_count, skipped, created_at, canceled_at, finished_at`;

/** Stores a resend that keeps no order. For others see recovery-sql.ts. */
export async function insertResend(tx: Queryable, resend: Resend): Promise<void> {
  await tx.query({
    name: "insert-resend",
    text: `
      insert into webhook_resends (
        merchant_id, connection_id, id, delivery_ids, since, until, endpoint_id, event_type, delivery_status, total,
        position, created_at, in_order, sending, is_read, succeeded_count, failed_count, skipped)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, false, '{}', false, 0, 0, '{}')`,
    values: [
      resend.merchantId,
      resend.connectionId,
      resend.id,
      resend.deliveryIds,
      resend.since,
      resend.until,
      resend.endpointId,
      resend.eventType,
      resend.status,
      resend.total,
      resend.position,
      resend.createdAt,
    ],
  });
}

/** How many resends of a connection are not finished, at most `countMax`. Recoveries do not count. */
export async function countOpenResends(
  tx: Queryable,
  connection: ConnectionKey,
  countMax: number,
): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    name: "count-open-resends",
    text: `
      select count(*)::integer as count
      from (
        select
        from webhook_resends
        where merchant_id = $1 and connection_id = $2 and finished_at is null and not in_order
        limit $3) as counted`,
    values: [connection.merchantId, connection.connectionId, countMax],
  });
  return row?.count ?? 0;
}

export async function readResend(
  db: Queryable,
  connection: ConnectionKey,
  id: string,
): Promise<Resend | null> {
  const [row] = await db.query<ResendRow>({
    name: "read-resend",
    text: `
      select ${COLUMNS}
      from webhook_resends
      where merchant_id = $1 and connection_id = $2 and id = $3 and not in_order`,
    values: [connection.merchantId, connection.connectionId, id],
  });
  return row === undefined ? null : toResend(row);
}

/** Those that keep no order, newest first. Returns one row more than the page if there is one. */
export async function listResends(
  db: Queryable,
  connection: ConnectionKey,
  { afterId, limit }: PagePosition,
): Promise<Resend[]> {
  const rows = await db.query<ResendRow>({
    name: "list-resends",
    text: `
      select ${COLUMNS}
      from webhook_resends
      where merchant_id = $1 and connection_id = $2 and id < $3 and not in_order
      order by id desc
      limit $4 + 1`,
    values: [connection.merchantId, connection.connectionId, afterId, limit],
  });
  return rows.map(toResend);
}

/** Cancels a resend that is not finished. Null if there is none, or if it was canceled before. */
export async function markResendCanceled(
  tx: Queryable,
  connection: ConnectionKey,
  id: string,
  now: Date,
): Promise<Resend | null> {
  const [row] = await tx.query<ResendRow>({
    name: "cancel-resend",
    text: `
      update webhook_resends
      set canceled_at = $4
      where merchant_id = $1 and connection_id = $2 and id = $3 and canceled_at is null and finished_at is null
        and not in_order
      returning ${COLUMNS}`,
    values: [connection.merchantId, connection.connectionId, id, now],
  });
  return row === undefined ? null : toResend(row);
}

/** Connections with resends that can be processed now. A scan over all shards. */
export async function listConnectionsWithResends(db: Queryable, now: Date): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-resends", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-resends",
      text: `
        select distinct merchant_id, connection_id
        from webhook_resends
        where ${isProcessable("$1")} and ${amongMerchants("$2", "merchant_id")}`,
      values: [now, merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

/**
 * Locks the resends of a connection that can be processed now and that no other worker processes: those first for which an
 * endpoint waits that was down, then the oldest.
 */
export async function lockOpenResends(
  tx: Queryable,
  connection: ConnectionKey,
  now: Date,
): Promise<Resend[]> {
  const rows = await tx.query<ResendRow>({
    name: "lock-open-resends",
    text: `
      select ${COLUMNS}
      from webhook_resends
      where merchant_id = $1 and connection_id = $2 and ${isProcessable("$3")}
      order by in_order desc, id
      for update skip locked`,
    values: [connection.merchantId, connection.connectionId, now],
  });
  return rows.map(toResend);
}

/** Stores how far a resend is. */
export async function saveResend(tx: Queryable, resend: Resend): Promise<void> {
  await tx.query({
    name: "save-resend",
    text: `
      update webhook_resends
      set position = $4, sending = $5, is_read = $6, succeeded_count = $7, failed_count = $8, skipped = $9, finished_at = $10
      where merchant_id = $1 and connection_id = $2 and id = $3`,
    values: [
      resend.merchantId,
      resend.connectionId,
      resend.id,
      resend.position,
      resend.sending,
      resend.isRead,
      resend.succeededCount,
      resend.failedCount,
      JSON.stringify(resend.skipped),
      resend.finishedAt,
    ],
  });
}

/** Deletes resends that finished before a time. Returns how many. */
export async function deleteOldResends(
  db: Queryable,
  connection: ConnectionKey,
  logFrom: Date,
): Promise<number> {
  const rows = await db.query({
    name: "delete-old-resends",
    text: "delete from webhook_resends where merchant_id = $1 and connection_id = $2 and finished_at < $3 returning id",
    values: [connection.merchantId, connection.connectionId, logFrom],
  });
  return rows.length;
}

const toResend = (row: ResendRow): Resend => ({
  merchantId: row.merchant_id,
  connectionId: row.connection_id,
  id: row.id,
  isInOrder: row.in_order,
  deliveryIds: row.delivery_ids,
  since: row.since,
  until: row.until,
  endpointId: row.endpoint_id,
  eventType: row.event_type,
  status: row.delivery_status,
  total: row.total,
  position: row.position,
  sending: row.sending,
  isRead: row.is_read,
  succeededCount: row.succeeded_count,
  failedCount: row.failed_count,
  skipped: row.skipped,
  createdAt: row.created_at,
  canceledAt: row.canceled_at,
  finishedAt: row.finished_at,
});
