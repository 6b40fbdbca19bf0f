import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";

/** Connections with mails to be sent, the one that waits longest first. A scan over all shards. */
export async function listConnectionsWithDueMails(db: Queryable, now: Date): Promise<ConnectionKey[]> {
  const rows = await db.query<ConnectionKeyRow>({
    name: "list-connections-with-due-mails",
    text: `
      select merchant_id, connection_id
      from outgoing_mails
      where sent_at is null and failed_at is null and due_at <= $1
      group by merchant_id, connection_id
      order by min(due_at)`,
    values: [now],
  });
  return rows.map(toConnectionKey);
}

/** A mail that this worker sends. `attemptCount` counts this one. */
export type ClaimedMail = {
  readonly id: string;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  readonly attemptCount: number;
};

/** Claims the mail of a connection that has been due longest. No other worker sends it before `leasedUntil`. */
export async function claimMail(
  db: Queryable,
  connection: ConnectionKey,
  now: Date,
  leasedUntil: Date,
): Promise<ClaimedMail | null> {
  const [mail] = await db.query<ClaimedMail>({
    name: "claim-mail",
    text: `
      update outgoing_mails
      set due_at = $4, attempt_count = attempt_count + 1
      where merchant_id = $1 and connection_id = $2 and id = (
        select m.id
        from outgoing_mails m
        where m.merchant_id = $1 and m.connection_id = $2 and m.sent_at is null and m.failed_at is null and m.due_at <= $3
        order by m.due_at, m.id
        limit 1
        for update skip locked
      )
      returning id, recipient, subject, body, attempt_count as "attemptCount"`,
    values: [connection.merchantId, connection.connectionId, now, leasedUntil],
  });
  return mail ?? null;
}

export async function markMailSent(
  db: Queryable,
  connection: ConnectionKey,
  id: string,
  sentAt: Date,
): Promise<void> {
  await db.query({
    name: "mark-mail-sent",
    text: `
      update outgoing_mails set sent_at = $4, failed_at = null
      where merchant_id = $1 and connection_id = $2 and id = $3 and sent_at is null`,
    values: [connection.merchantId, connection.connectionId, id, sentAt],
  });
}

/** Schedules another attempt of a mail, or gives it up. A worker that has lost the claim changes nothing. */
export async function markMailFailed(
  db: Queryable,
  connection: ConnectionKey,
  { id, attemptCount }: ClaimedMail,
  next: { dueAt: Date } | { failedAt: Date },
): Promise<void> {
  await db.query({
    name: "mark-mail-failed",
    text: `
      update outgoing_mails set due_at = coalesce($5, due_at), failed_at = $6
      where merchant_id = $1 and connection_id = $2 and id = $3 and attempt_count = $4 and sent_at is null and failed_at is null`,
    values: [
      connection.merchantId,
      connection.connectionId,
      id,
      attemptCount,
      "dueAt" in next ? next.dueAt : null,
      "failedAt" in next ? next.failedAt : null,
    ],
  });
}

/** Deletes mails that were sent or given up before a time; returns how many. */
export async function deleteOldMails(
  db: Queryable,
  connection: ConnectionKey,
  endedBefore: Date,
): Promise<number> {
  const rows = await db.query({
    name: "delete-old-mails",
    text: `
      delete from outgoing_mails
      where merchant_id = $1 and connection_id = $2 and (sent_at < $3 or failed_at < $3)
      returning id`,
    values: [connection.merchantId, connection.connectionId, endedBefore],
  });
  return rows.length;
}

/** Connections with mails that ended before a moment. A scan over all shards. */
export async function listConnectionsWithOldMails(
  db: Queryable,
  endedBefore: Date,
): Promise<ConnectionKey[]> {
  const rows = await db.query<ConnectionKeyRow>({
    name: "list-connections-with-old-mails",
    text: `
      select distinct merchant_id, connection_id
      from outgoing_mails
      where sent_at < $1 or failed_at < $1
      order by merchant_id, connection_id`,
    values: [endedBefore],
  });
  return rows.map(toConnectionKey);
}
