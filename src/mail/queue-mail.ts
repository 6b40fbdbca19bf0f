import type { Queryable } from "../platform/database/database.ts";

export type NewMail = {
  readonly merchantId: string;
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
  { merchantId, connectionId, id, recipient, subject, body, now }: NewMail,
): Promise<void> {
  await tx.query({
    name: "queue-mail",
    text: `
      insert into outgoing_mails (merchant_id, connection_id, id, recipient, subject, body, due_at, attempt_count)
      values ($1, $2, $3, $4, $5, $6, $7, 0)
      on conflict (merchant_id, id) do nothing`,
    values: [merchantId, connectionId, id, recipient, subject, body, now],
  });
}
