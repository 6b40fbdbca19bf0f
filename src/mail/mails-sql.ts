import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../platform/connection-key.ts";
import type { Context } from "../platform/context.ts";
import { merchantsOf, searchReachable } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import { eachUntilDone, runInTurn } from "../platform/run-in-turn.ts";
import { before, LOG_KEPT_MS } from "../platform/time.ts";

type NewMail = ConnectionKey & {
  readonly id: string;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  readonly now: Date;
};

/** Queues a mail that is due at once, unless the merchant already has one with this id. */
async function insertMail(
  tx: Queryable,
  { merchantId, connectionId, id, recipient, subject, body, now }: NewMail,
): Promise<void> {
  await tx.query({
    name: "insert-mail",
    text: `
      insert into outgoing_mails (merchant_id, connection_id, id, recipient, subject, body, due_at, attempt_count)
      values ($1, $2, $3, $4, $5, $6, $7, 0)
      on conflict (merchant_id, id) do nothing`,
    values: [merchantId, connectionId, id, recipient, subject, body, now],
  });
}

/** Connections with due mails; the one that waits longest is first. A scan over all shards. */
export async function listConnectionsWithDueMails(db: Queryable, now: Date): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-due-mails", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-due-mails",
      text: `
        select merchant_id, connection_id
        from outgoing_mails
        where sent_at is null and failed_at is null and due_at <= $1 and ($2::uuid[] is null or merchant_id = any($2))
        group by merchant_id, connection_id
        order by min(due_at)`,
      values: [now, merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

/** A mail that this worker has claimed. `attemptCount` includes this attempt. */
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
        where m.merchant_id = $1 and m.connection_id = $2 and m.sent_at is null and m.failed_at is null
          and m.due_at <= $3
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
      update outgoing_mails
      set sent_at = $4, failed_at = null,
          -- A mail to a person has a link to sign in with.
          body = case when merchant_id = '00000000-0000-0000-0000-000000000000' then '' else body end
      where merchant_id = $1 and connection_id = $2 and id = $3 and sent_at is null`,
    values: [connection.merchantId, connection.connectionId, id, sentAt],
  });
}

/** Reschedules or fails a mail, if this worker still holds the claim. */
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
      where merchant_id = $1 and connection_id = $2 and id = $3 and attempt_count = $4 and sent_at is null
        and failed_at is null`,
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

/** Deletes mails that were sent or failed before a time, the oldest ones, at most `limit`. Returns how many it deleted. */
export async function deleteOldMails(
  db: Queryable,
  connection: ConnectionKey,
  endedBefore: Date,
  limit: number,
): Promise<number> {
  const rows = await db.query({
    name: "delete-old-mails",
    text: `
      delete from outgoing_mails
      where merchant_id = $1 and connection_id = $2 and id in (
        select m.id
        from outgoing_mails m
        where m.merchant_id = $1 and m.connection_id = $2 and (m.sent_at < $3 or m.failed_at < $3)
        order by m.id
        limit $4)
      returning id`,
    values: [connection.merchantId, connection.connectionId, endedBefore, limit],
  });
  return rows.length;
}

/** Connections with mails that were sent or failed before a time. A scan over all shards. */
async function listConnectionsWithOldMails(db: Queryable, endedBefore: Date): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-old-mails", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-old-mails",
      text: `
        select distinct merchant_id, connection_id
        from outgoing_mails
        where (sent_at < $1 or failed_at < $1) and ($2::uuid[] is null or merchant_id = any($2))
        order by merchant_id, connection_id`,
      values: [endedBefore, merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

/** Deletes mails, sent or not, because they are about an order whose personal data is erased. */
export async function deleteMails(
  tx: Queryable,
  mails: readonly { readonly merchantId: string; readonly id: string }[],
): Promise<void> {
  await tx.query({
    name: "delete-mails",
    text: `
      delete from outgoing_mails m
      using unnest($1::uuid[], $2::uuid[]) as erased (merchant_id, id)
      where m.merchant_id = erased.merchant_id and m.id = erased.id and ($3::uuid[] is null or m.merchant_id = any($3))`,
    values: [
      mails.map(({ merchantId }) => merchantId),
      mails.map(({ id }) => id),
      await merchantsOf(tx, mails),
    ],
  });
}

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

/** Mails deleted by one statement, so that it is short. */
const BATCH_SIZE = 1_000;

/**
 * Deletes mails that were sent or failed longer ago than the log is kept (docs/design/database.md, "Retention"). Returns how
 * many it deleted.
 */
export async function purgeMails({ db, clock }: Context, stopping?: AbortSignal): Promise<number> {
  const endedBefore = before(clock.now(), LOG_KEPT_MS);
  const connections = await listConnectionsWithOldMails(db, endedBefore);
  return runInTurn(
    eachUntilDone(connections),
    (connection) => deleteOldMails(db, connection, endedBefore, BATCH_SIZE),
    stopping,
  );
}

/**
 * Queues a mail in the transaction that causes it: the mail is sent if and only if the transaction commits. A mail that
 * the merchant already has with this id does not change.
 */
export const queueMail = (tx: Queryable, mail: NewMail): Promise<void> => insertMail(tx, mail);
