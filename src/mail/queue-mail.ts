import type { Queryable } from "../platform/database/database.ts";
import { insertMail, type NewMail } from "./mails-sql.ts";

/**
 * Queues a mail in the transaction that causes it, so that it is sent if and only if that commits. A mail that the
 * merchant already has under this id is not changed.
 */
export const queueMail = (tx: Queryable, mail: NewMail): Promise<void> => insertMail(tx, mail);
