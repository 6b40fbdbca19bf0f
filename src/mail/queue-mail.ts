import type { Queryable } from "../platform/database/database.ts";
import { insertMail, type NewMail } from "./mails-sql.ts";

/**
 * Queues a mail in the transaction that causes it: the mail is sent if and only if the transaction commits. A mail that
 * the merchant already has with this id does not change.
 */
export const queueMail = (tx: Queryable, mail: NewMail): Promise<void> => insertMail(tx, mail);
