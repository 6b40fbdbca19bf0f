import { queueMail } from "../mail/mails-sql.ts";
import { plainName } from "../mail/one-line.ts";
import type { Queryable } from "../platform/database/database.ts";
import { NO_UUID } from "../platform/ids.ts";
import type { MadeLink } from "./links.ts";
import type { PeopleContext, Person } from "./person.ts";

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

const greeting = (name: string): string => {
  const plain = plainName(name);
  return plain === null ? "Hello," : `Hello ${plain},`;
};

/** The mail that invites a person. The inviter has chosen both names, so the subject has none of them. */
export const invitationMail = (
  { name, email }: Pick<Person, "name" | "email">,
  inviter: string | null,
  { url, expiresAt }: MadeLink,
): PersonMail => {
  const by = inviter === null ? null : plainName(inviter);
  return {
    subject: "You are invited to Partner Orders",
    body: paragraphs(
      greeting(name),
      `${by === null ? "you are invited" : `${by} has invited you`} to the console of Partner Orders, as ${email}.`,
      `Open this link to accept. It works once, until ${timeText(expiresAt)}:`,
      url,
      "If you do not expect this mail, ignore it.",
    ),
  };
};

/** The mail with which a person sets a new password. */
export const resetMail = ({ name }: Pick<Person, "name">, { url, expiresAt }: MadeLink): PersonMail => ({
  subject: "Set a new password for Partner Orders",
  body: paragraphs(
    greeting(name),
    `open this link to set a new password. It works once, until ${timeText(expiresAt)}:`,
    url,
    "If you have not requested it, ignore this mail: your password stays as it is.",
  ),
});

const paragraphs = (...texts: readonly string[]): string => `${texts.join("\n\n")}\n`;

const timeText = (time: Date): string => `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
