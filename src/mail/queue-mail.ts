import type { Queryable } from "../platform/database/database.ts";

export type NewMail = {
  readonly connectionId: string;
  readonly id: string;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  readonly now: Date;
};

/**
 * Queues a mail. To be called in the transaction of its cause: it is sent if and only if that commits. A mail that the
 * connection has already under this id stays as it is.
 */
export async function queueMail(
  tx: Queryable,
  { connectionId, id, recipient, subject, body, now }: NewMail,
): Promise<void> {
  await tx.query({
    name: "queue-mail",
    text: `
      insert into outgoing_mails (connection_id, id, recipient, subject, body, due_at, attempt_count)
      values ($1, $2, $3, $4, $5, $6, 0)
      on conflict (connection_id, id) do nothing`,
    values: [connectionId, id, recipient, subject, body, now],
  });
}
