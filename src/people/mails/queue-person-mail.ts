import { queueMail } from "../../mail/queue-mail.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { NO_UUID } from "../../platform/ids.ts";
import type { PeopleContext } from "../context.ts";

export type PersonMail = { readonly subject: string; readonly body: string };

/** Queues a mail to a person in the transaction that causes it. It belongs to no merchant. */
export const queuePersonMail = (
  tx: Queryable,
  { clock, newId }: Pick<PeopleContext, "clock" | "newId">,
  recipient: string,
  { subject, body }: PersonMail,
): Promise<void> =>
  queueMail(tx, {
    merchantId: NO_UUID,
    connectionId: NO_UUID,
    id: newId(),
    recipient,
    subject,
    body,
    now: clock.now(),
  });
