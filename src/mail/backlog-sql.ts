import type { Queryable } from "../platform/database/database.ts";

// The backlog of mails, for metrics and `doctor`. Scans over all shards.

/** Mails that have neither been sent nor failed. */
export async function countQueuedMails(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-queued-mails",
    text: "select count(*)::integer as count from outgoing_mails where sent_at is null and failed_at is null",
    values: [],
  });
  return row?.count ?? 0;
}

/** When the oldest due mail became due. Null if there is none. */
export async function readOldestDueMail(db: Queryable, now: Date): Promise<Date | null> {
  const [row] = await db.query<{ since: Date | null }>({
    name: "read-oldest-due-mail",
    text: `
      select min(due_at) as since
      from outgoing_mails
      where sent_at is null and failed_at is null and due_at <= $1`,
    values: [now],
  });
  return row?.since ?? null;
}
