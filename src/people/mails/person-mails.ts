import { oneLine, subjectWith } from "../../mail/one-line.ts";
import type { MadeLink } from "../links/make-link.ts";
import type { Person } from "../person.ts";
import type { PersonMail } from "./queue-person-mail.ts";

/** The mail that invites a person. */
export const invitationMail = (
  { name, email }: Pick<Person, "name" | "email">,
  inviter: string | null,
  { url, expiresAt }: MadeLink,
): PersonMail => ({
  subject:
    inviter === null
      ? "You are invited to Partner Orders"
      : subjectWith("You are invited to Partner Orders by ", inviter),
  body: paragraphs(
    `Hello ${oneLine(name)},`,
    `${inviter === null ? "you are invited" : `${oneLine(inviter)} has invited you`} to the console of Partner Orders, as ${email}.`,
    `Open this link to accept. It works once, until ${timeText(expiresAt)}:`,
    url,
    "If you do not expect this mail, ignore it.",
  ),
});

/** The mail with which a person sets a new password. */
export const resetMail = ({ name }: Pick<Person, "name">, { url, expiresAt }: MadeLink): PersonMail => ({
  subject: "Set a new password for Partner Orders",
  body: paragraphs(
    `Hello ${oneLine(name)},`,
    `open this link to set a new password. It works once, until ${timeText(expiresAt)}:`,
    url,
    "If you have not requested it, ignore this mail: your password stays as it is.",
  ),
});

const paragraphs = (...texts: readonly string[]): string => `${texts.join("\n\n")}\n`;

const timeText = (time: Date): string => `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
