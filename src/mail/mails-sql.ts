import {
  type ConnectionKey,
  type ConnectionKeyRow,
  connectionColumns,
  toConnectionKey,
} from "../platform/connection-key.ts";
import type { Context } from "../platform/context.ts";
import { merchantByMerchant, merchantsOf, searchReachable } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import { uuidAt } from "../platform/ids.ts";
import { eachUntilDone, runInTurn } from "../platform/run-in-turn.ts";
import { before, LOG_KEPT_MS } from "../platform/time.ts";

type NewMail = ConnectionKey & {
  readonly id: string;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  readonly now: Date;
  /** The endpoint that names the recipient for warnings. */
  readonly alertOf?: string;
};

/**
 * Queues mails in the transaction that causes them, due at once: they are sent if and only if the transaction commits. A mail that
 * the merchant already has with this id does not change.
 */
export async function queueMails(tx: Queryable, mails: readonly NewMail[]): Promise<void> {
  if (mails.length === 0) return;
  await tx.query({
    name: "insert-mails",
    text: `
      insert into outgoing_mails (merchant_id, connection_id, id, recipient, subject, body, due_at, attempt_count, alert_of)
      select merchant_id, connection_id, id, recipient, subject, body, due_at, 0, alert_of
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::uuid[])
        as mail (merchant_id, connection_id, id, recipient, subject, body, due_at, alert_of)
      on conflict (merchant_id, id) do nothing`,
    values: [
      mails.map(({ merchantId }) => merchantId),
      mails.map(({ connectionId }) => connectionId),
      mails.map(({ id }) => id),
      mails.map(({ recipient }) => recipient),
      mails.map(({ subject }) => subject),
      mails.map(({ body }) => body),
      mails.map(({ now }) => now),
      mails.map(({ alertOf }) => alertOf ?? null),
    ],
  });
}

export const queueMail = (tx: Queryable, mail: NewMail): Promise<void> => queueMails(tx, [mail]);

/** How many mails of a connection each of these recipients has got since a time. By the ids, which begin with the time. */
export async function countMailsTo(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  recipients: readonly string[],
  since: Date,
): Promise<(recipient: string) => number> {
  if (recipients.length === 0) return () => 0;
  const rows = await tx.query<{ recipient: string; count: number }>({
    name: "count-mails-to",
    text: `
      select recipient, count(*)::integer as count
      from outgoing_mails
      where merchant_id = $1 and connection_id = $2 and recipient = any($3::text[]) and id >= $4
      group by recipient`,
    values: [merchantId, connectionId, recipients, uuidAt(since)],
  });
  const counts = new Map(rows.map(({ recipient, count }) => [recipient, count]));
  return (recipient) => counts.get(recipient) ?? 0;
}

/** The mails since a time to addresses that endpoints name, and each kind of them that has a bound. */
export async function countAlerts(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  { endpointId, recipient }: { endpointId: string; recipient: string },
  since: Date,
): Promise<{ ofOwner: number; ofEndpoint: number; toRecipient: number }> {
  const [counts] = await tx.query<{ ofOwner: number; ofEndpoint: number; toRecipient: number }>({
    name: "count-alerts",
    text: `
      select count(*) filter (where connection_id = $2)::integer as "ofOwner",
             count(*) filter (where alert_of = $3)::integer as "ofEndpoint",
             count(*) filter (where lower(recipient) = lower($4))::integer as "toRecipient"
      from outgoing_mails
      where merchant_id = $1 and alert_of is not null and id >= $5`,
    values: [merchantId, connectionId, endpointId, recipient, uuidAt(since)],
  });
  return counts ?? { ofOwner: 0, ofEndpoint: 0, toRecipient: 0 };
}

/** Connections with due mails; the one that waits longest is first. A scan over all shards. */
export async function listConnectionsWithDueMails(db: Queryable, now: Date): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-due-mails", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-due-mails",
      text: `
        select merchant_id, connection_id
        from outgoing_mails
        where sent_at is null and failed_at is null and due_at <= $1 and (leased_until is null or leased_until <= $1)
          and ($2::uuid[] is null or merchant_id = any($2))
        group by merchant_id, connection_id
        order by min(due_at)`,
      values: [now, merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

/** A mail that this worker has claimed. `attemptCount` includes this attempt. */
export type ClaimedMail = ConnectionKey & {
  readonly id: string;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  readonly attemptCount: number;
};

type Claim = { readonly now: Date; readonly leasedUntil: Date; readonly share: number };

/** Claims mails of connections, of each its share of those due longest. No other worker sends them before `leasedUntil`. */
export const claimMails = (
  db: Queryable,
  connections: readonly ConnectionKey[],
  { now, leasedUntil, share }: Claim,
): Promise<ClaimedMail[]> =>
  merchantByMerchant(db, connections, (own, merchantId) =>
    db.query<ClaimedMail>({
      name: "claim-mails",
      text: `
        with due as (
          select claimable.merchant_id, claimable.row_position
          from unnest($1::uuid[], $2::uuid[]) as listed (merchant_id, connection_id)
          cross join lateral (
            select d.merchant_id, d.ctid as row_position
            from outgoing_mails d
            where d.merchant_id = listed.merchant_id and d.connection_id = listed.connection_id and d.sent_at is null
              and d.failed_at is null and d.due_at <= $3 and (d.leased_until is null or d.leased_until <= $3)
              and ($6::uuid is null or d.merchant_id = $6)
            order by d.due_at, d.id
            limit $5
            for update skip locked) as claimable
        )
        update outgoing_mails m
        set leased_until = $4, attempt_count = m.attempt_count + 1
        from due
        where m.merchant_id = due.merchant_id and m.ctid = due.row_position -- Locked just before, so it has not moved.
          and ($6::uuid is null or m.merchant_id = $6)
        returning m.merchant_id as "merchantId", m.connection_id as "connectionId", m.id, m.recipient, m.subject, m.body,
                  m.attempt_count as "attemptCount"`,
      values: [...connectionColumns(own), now, leasedUntil, share, merchantId],
    }),
  );

/** What became of a claimed mail. */
export type MailEnd = { readonly mail: ClaimedMail } & (
  | { readonly sentAt: Date }
  | { readonly failedAt: Date }
  | { readonly dueAt: Date }
  /** Its time was too short, so the attempt does not count. */
  | { readonly isUnsent: true }
);

/** Records what became of claimed mails. One that was sent is sent, even if this worker does not hold its claim any more. */
export async function recordMails(db: Queryable, ends: readonly MailEnd[]): Promise<void> {
  await db.query({
    name: "record-mails",
    text: `
      update outgoing_mails m
      set sent_at = ended.sent_at, failed_at = ended.failed_at, due_at = coalesce(ended.due_at, m.due_at), leased_until = null,
          attempt_count = m.attempt_count - ended.unsent,
          -- A mail to a person has a link to sign in with.
          body = case
            when ended.sent_at is not null and m.merchant_id = '00000000-0000-0000-0000-000000000000' then ''
            else m.body end
      from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::integer[])
        as ended (merchant_id, id, attempt_count, sent_at, failed_at, due_at, unsent)
      where m.merchant_id = ended.merchant_id and m.id = ended.id and m.sent_at is null
        and (ended.sent_at is not null or (m.attempt_count = ended.attempt_count and m.failed_at is null))
        and ($8::uuid[] is null or m.merchant_id = any($8))`,
    values: [
      ends.map(({ mail }) => mail.merchantId),
      ends.map(({ mail }) => mail.id),
      ends.map(({ mail }) => mail.attemptCount),
      ends.map((end) => ("sentAt" in end ? end.sentAt : null)),
      ends.map((end) => ("failedAt" in end ? end.failedAt : null)),
      ends.map((end) => ("dueAt" in end ? end.dueAt : null)),
      ends.map((end) => ("isUnsent" in end ? 1 : 0)),
      await merchantsOf(
        db,
        ends.map(({ mail }) => mail),
      ),
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
      where sent_at is null and failed_at is null and due_at <= $1 and (leased_until is null or leased_until <= $1)`,
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
