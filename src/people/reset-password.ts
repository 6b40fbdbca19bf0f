import { inTransaction } from "../platform/context.ts";
import { recordByPerson } from "./by-person.ts";
import { hashToken } from "./cookies.ts";
import { bucketsOf, clear, passwordsOfLink, resetMailsOf, take, takeAttempt } from "./limit-attempts.ts";
import { deleteLinks, findPersonOfLink, isLinkToken, makeLink, PERSONAL_LINKS, useLink } from "./links.ts";
import { queuePersonMail, resetMail } from "./mails.ts";
import { hashPassword } from "./passwords.ts";
import { lockPerson, readPersonByEmail } from "./people-sql.ts";
import { normalEmail, type PeopleContext, type Visitor } from "./person.ts";
import { endSessions } from "./sessions.ts";
import { storePassword } from "./sign-in-methods-sql.ts";

const RESET = ["reset"] as const;

/**
 * Sends a link by which a person sets a new password. Returns how long to wait, in milliseconds; 0: accepted. The work for
 * a known address is done after the response, so that neither the response nor its time shows which addresses are known.
 */
export async function requestReset(context: PeopleContext, email: string, visitor: Visitor): Promise<number> {
  const account = normalEmail(email);
  const waitMs = await takeAttempt(context, { purpose: "reset", network: visitor.network, account });
  if (waitMs > 0) return waitMs;
  sendReset(context, account, visitor).catch((err: unknown) =>
    context.log.error({ err }, "mail to reset a password not queued"),
  );
  return 0;
}

async function sendReset(context: PeopleContext, account: string, visitor: Visitor): Promise<void> {
  const found = await readPersonByEmail(context.db, account);
  if (found === null) return;
  await inTransaction(context, async (tx) => {
    const person = await lockPerson(tx, found.id);
    // Its address can have been changed since it was read: the mailbox of the earlier one must get no link.
    if (person?.disabledAt !== null || person.email !== account) return;
    if ((await take(tx, context, resetMailsOf(person.id))) > 0) return;
    const link = await makeLink(tx, context, person.id, "reset");
    await queuePersonMail(tx, context, person.email, resetMail(person, link));
    const details = { ipAddress: visitor.ipAddress };
    await recordByPerson(tx, context, person, visitor, "requestPasswordReset", details);
  });
}

/**
 * Sets a password with a link of a mail. All sessions and links of the person end, and it signs in with the new password. Returns how
 * long to wait, in milliseconds, if the link was sent too often with a password.
 */
export async function resetPassword(
  context: PeopleContext,
  { token, password }: { readonly token: string; readonly password: string },
  visitor: Visitor,
): Promise<"reset" | "failed" | number> {
  const tokenHash = hashToken(token);
  // A password is hashed for the holder of a link alone, because that costs the processor much.
  const personId = isLinkToken(token)
    ? await findPersonOfLink(context.db, tokenHash, RESET, context.clock.now())
    : null;
  if (personId === null) return "failed";
  const waitMs = await take(context.db, context, passwordsOfLink(tokenHash));
  if (waitMs > 0) return waitMs;
  const passwordHash = await hashPassword(password);
  return inTransaction(context, async (tx) => {
    const person = await lockPerson(tx, personId);
    const kind = await useLink(tx, tokenHash, RESET, context.clock.now());
    if (person === null || kind === null) return "failed";
    await storePassword(tx, personId, passwordHash);
    await deleteLinks(tx, personId, PERSONAL_LINKS);
    const sessionsEnded = await endSessions(tx, personId, null);
    // Strangers who have used up the attempts at the account must not keep the person from using its new password.
    const attempt = { purpose: "password", network: visitor.network, account: person.email } as const;
    await clear(tx, ...bucketsOf(attempt).slice(1));
    const details = { sessionsEnded, ipAddress: visitor.ipAddress };
    await recordByPerson(tx, context, person, visitor, "resetPassword", details);
    return "reset";
  });
}
