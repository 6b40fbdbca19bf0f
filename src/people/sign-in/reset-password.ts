import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import { takeAttempt, takeUseOfLink } from "../attempts/limit-sign-ins.ts";
import { storePassword } from "../auth/accounts-sql.ts";
import { hashLinkToken, isLinkToken, PERSONAL_LINKS } from "../links/link.ts";
import { deleteLinks, findPersonOfLink, useLink } from "../links/links-sql.ts";
import { makeLink } from "../links/make-link.ts";
import { resetMail } from "../mails/person-mails.ts";
import { queuePersonMail } from "../mails/queue-person-mail.ts";
import { takeResetMail } from "../mails/take-reset-mail.ts";
import { lockEmail, lockPerson, readPerson, readPersonByEmail, recordVerifiedEmail } from "../people-sql.ts";
import { normalEmail } from "../person.ts";
import { endSignIns } from "../sessions/end-sign-ins.ts";
import { byPerson, type SignIn } from "./finish-sign-in.ts";
import { deviceCookie, knownDevice } from "./known-device.ts";
import { hashPassword } from "./passwords.ts";
import type { People } from "./people.ts";
import type { Visitor } from "./visitor.ts";

const RESET = ["reset"] as const;

/**
 * Sends a link by which a person sets a new password. Returns how long to wait, in milliseconds; 0: accepted. The work for
 * a known address is done after the response, so that neither the response nor its time shows which addresses are known.
 */
export async function requestReset(people: People, email: string, visitor: Visitor): Promise<number> {
  const account = normalEmail(email);
  const device = await knownDevice(people, visitor.cookie, account);
  const { network } = visitor;
  const waitMs = await takeAttempt(people, { purpose: "reset", network, account, device });
  if (waitMs > 0) return waitMs;
  sendReset(people, account, visitor, device !== null).catch((err: unknown) =>
    people.log.error({ err }, "mail to reset a password not queued"),
  );
  return 0;
}

async function sendReset(
  people: People,
  account: string,
  visitor: Visitor,
  isKnownBrowser: boolean,
): Promise<void> {
  const person = await readPersonByEmail(people.db, account);
  if (person === null || person.disabledAt !== null) return;
  await inTransaction(people, async (tx) => {
    // Its address can have been changed since it was read: the mailbox of the earlier one must get no link.
    if (!(await lockEmail(tx, person.id, account))) return;
    if (!(await takeResetMail(tx, people, person.id, isKnownBrowser))) return;
    const link = await makeLink(tx, people, person.id, "reset");
    await queuePersonMail(tx, people, person.email, resetMail(person, link));
    await recordAudit(tx, people, byPerson({ person }, visitor, "requestPasswordReset"), {
      merchantId: null,
      subject: "per",
      ids: [person.id],
      details: { ipAddress: visitor.ipAddress },
    });
  });
}

/** Sets a password with a link of a mail. All sessions and links of the person end, and it signs in with the new password. */
export async function resetPassword(
  people: People,
  { token, password }: { readonly token: string; readonly password: string },
  visitor: Visitor,
): Promise<Exclude<SignIn, { outcome: "signed-in" }> | { outcome: "reset"; cookies: readonly string[] }> {
  const tokenHash = hashLinkToken(token);
  // A password is hashed for the holder of a link alone, because that costs the processor much.
  const personId = isLinkToken(token)
    ? await findPersonOfLink(people.db, tokenHash, RESET, people.clock.now())
    : null;
  if (personId === null) return { outcome: "failed", cookies: [] };
  const waitMs = await takeUseOfLink(people, tokenHash);
  if (waitMs > 0) return { outcome: "too-many-attempts", waitMs };
  const passwordHash = await hashPassword(people, password);
  const present = await inTransaction(people, async (tx) => {
    const now = people.clock.now();
    await lockPerson(tx, personId);
    const used = await useLink(tx, tokenHash, RESET, now);
    const person = used === null ? null : await readPerson(tx, used.personId);
    if (person === null) return null;
    await storePassword(tx, { id: people.newId(), personId: person.id, passwordHash, now });
    await recordVerifiedEmail(tx, person.id, now);
    await deleteLinks(tx, person.id, PERSONAL_LINKS);
    const { sessionsEnded, signInVersion } = await endSignIns(tx, person.id, null);
    await recordAudit(tx, people, byPerson({ person }, visitor, "resetPassword"), {
      merchantId: null,
      subject: "per",
      ids: [person.id],
      details: { sessionsEnded, ipAddress: visitor.ipAddress },
    });
    return { id: person.id, signInVersion };
  });
  return present === null
    ? { outcome: "failed", cookies: [] }
    : { outcome: "reset", cookies: [deviceCookie(present, people.keys)] };
}
