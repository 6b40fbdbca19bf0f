import type { Queryable } from "../platform/database/database.ts";

/** Connections with mails to be sent, the one that waits longest first. A scan over all shards. */
export async function listConnectionsWithDueMails(db: Queryable, now: Date): Promise<string[]> {
  const rows = await db.query<{ connection_id: string }>({
    name: "list-connections-with-due-mails",
    text: `
      select connection_id
      from outgoing_mails
      where sent_at is null and failed_at is null and due_at <= $1
      group by connection_id
      order by min(due_at)`,
    values: [now],
  });
  return rows.map((row) => row.connection_id);
}

/** A mail that this worker sends. `attemptCount` counts this one. */
export type ClaimedMail = {
  readonly id: string;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  readonly attemptCount: number;
};

/** Claims the mail of a connection that is due the longest. Nobody else sends it before `leasedUntil`. */
export async function claimMail(
  db: Queryable,
  connectionId: string,
  now: Date,
  leasedUntil: Date,
): Promise<ClaimedMail | null> {
  const [mail] = await db.query<ClaimedMail>({
    name: "claim-mail",
    text: `
      update outgoing_mails
      set due_at = $3, attempt_count = attempt_count + 1
      where connection_id = $1 and id = (
        select m.id
        from outgoing_mails m
        where m.connection_id = $1 and m.sent_at is null and m.failed_at is null and m.due_at <= $2
        order by m.due_at, m.id
        limit 1
        for update skip locked
      )
      returning id, recipient, subject, body, attempt_count as "attemptCount"`,
    values: [connectionId, now, leasedUntil],
  });
  return mail ?? null;
}

export async function markMailSent(
  db: Queryable,
  connectionId: string,
  id: string,
  sentAt: Date,
): Promise<void> {
  await db.query({
    name: "mark-mail-sent",
    text: `
      update outgoing_mails set sent_at = $3, failed_at = null
      where connection_id = $1 and id = $2 and sent_at is null`,
    values: [connectionId, id, sentAt],
  });
}

/** Lets a mail be tried again, or gives it up. Who has lost the claim to another worker changes nothing. */
export async function markMailFailed(
  db: Queryable,
  connectionId: string,
  { id, attemptCount }: ClaimedMail,
  next: { dueAt: Date } | { failedAt: Date },
): Promise<void> {
  await db.query({
    name: "mark-mail-failed",
    text: `
      update outgoing_mails set due_at = coalesce($4, due_at), failed_at = $5
      where connection_id = $1 and id = $2 and attempt_count = $3 and sent_at is null and failed_at is null`,
    values: [
      connectionId,
      id,
      attemptCount,
      "dueAt" in next ? next.dueAt : null,
      "failedAt" in next ? next.failedAt : null,
    ],
  });
}

/** Deletes mails that were sent or given up before a moment; answers how many. */
export async function deleteOldMails(
  db: Queryable,
  connectionId: string,
  endedBefore: Date,
): Promise<number> {
  const rows = await db.query({
    name: "delete-old-mails",
    text: `
      delete from outgoing_mails
      where connection_id = $1 and (sent_at < $2 or failed_at < $2)
      returning id`,
    values: [connectionId, endedBefore],
  });
  return rows.length;
}

/** Connections with mails that ended before a moment. A scan over all shards. */
export async function listConnectionsWithOldMails(db: Queryable, endedBefore: Date): Promise<string[]> {
  const rows = await db.query<{ connection_id: string }>({
    name: "list-connections-with-old-mails",
    text: `
      select distinct connection_id
      from outgoing_mails
      where sent_at < $1 or failed_at < $1
      order by connection_id`,
    values: [endedBefore],
  });
  return rows.map((row) => row.connection_id);
}
