import { queueMail } from "../mail/mails-sql.ts";
import type { Queryable } from "../platform/database/database.ts";
import { NO_UUID } from "../platform/ids.ts";
import type { MadeLink } from "./links.ts";
import type { PeopleContext } from "./person.ts";

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

/**
 * The mail that invites a person. It goes to any address, so it has no text that a tenant chooses, such as the name of the person
 * or of the inviter (docs/design/people.md, "Texts in mails").
 */
export const invitationMail = (email: string, { url, expiresAt }: MadeLink): PersonMail => ({
  subject: "You are invited to Partner Orders",
  body: paragraphs(
    "Hello,",
    `you are invited to the console of Partner Orders, as ${email}.`,
    `Open this link to accept. It works once, until ${timeText(expiresAt)}:`,
    url,
    "If you do not expect this mail, ignore it.",
  ),
});

/** The mail with which a person sets a new password. A person who was invited, and never came, can get one too. */
export const resetMail = ({ url, expiresAt }: MadeLink): PersonMail => ({
  subject: "Set a new password for Partner Orders",
  body: paragraphs(
    "Hello,",
    `open this link to set a new password. It works once, until ${timeText(expiresAt)}:`,
    url,
    "If you have not requested it, ignore this mail: your password stays as it is.",
  ),
});

const paragraphs = (...texts: readonly string[]): string => `${texts.join("\n\n")}\n`;

const timeText = (time: Date): string => `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
