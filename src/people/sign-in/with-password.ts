import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import { deleteCodeStep, storePassword } from "../accounts-sql.ts";
import { type AuthAnswer, readAnswer } from "../library/answers.ts";
import { attemptSucceeded, takeAttempt, takeUseOfLink } from "../limit-attempts.ts";
import {
  deleteLinks,
  findPersonOfLink,
  hashLinkToken,
  isLinkToken,
  makeLink,
  PERSONAL_LINKS,
  useLink,
} from "../links.ts";
import { queuePersonMail, resetMail, takeResetMail } from "../mails.ts";
import { lockEmail, lockPerson, readPerson, readPersonByEmail, recordVerifiedEmail } from "../people-sql.ts";
import { normalEmail, type Person } from "../person.ts";
import { codeStepCookieName, sessionCookieName, setSignedText, withoutSetCookie } from "../session-cookie.ts";
import { endSignIns, lockSession } from "../sessions.ts";
import { isRecent, lockSignIns, type PersonSession } from "../sessions-sql.ts";
import { byPerson, finishSignIn, recordFailure, type SignIn } from "./finish-sign-in.ts";
import {
  deviceCookie,
  hashPassword,
  headersOf,
  isPassword,
  knownDevice,
  type People,
  type Visitor,
} from "./people.ts";

/**
 * Signs in with mail address and password. A wrong password, an unknown address and a disabled person get the same answer, in
 * about the same time.
 */
export async function signInWithPassword(
  people: People,
  { email, password }: { readonly email: string; readonly password: string },
  visitor: Visitor,
): Promise<SignIn> {
  const account = normalEmail(email);
  const device = await knownDevice(people, visitor.cookie, account);
  const attempt = { purpose: "password", network: visitor.network, account, device } as const;
  const waitMs = await takeAttempt(people, attempt);
  if (waitMs > 0) return { outcome: "too-many-attempts", waitMs };
  const person = await readPersonByEmail(people.db, account);
  const isRight = await isPassword(people, person?.id ?? null, password);
  const answer = isRight && person !== null ? await openSession(people, person, visitor) : null;
  if (person === null || answer === null || answer.error !== null) {
    // After the response: its time does not show whether a person has the address.
    if (person !== null)
      recordFailure(people, person, visitor, "signInFailed").catch((err: unknown) =>
        people.log.warn({ err }, "failed sign-in not recorded"),
      );
    return { outcome: "failed", cookies: [] };
  }
  await attemptSucceeded(people, attempt);
  return answer.body["twoFactorRedirect"] === true
    ? requireCode(people, answer, person)
    : finishSignIn(people, answer, visitor, { method: "password", beginning: person });
}

/** Opens a session, or the step of the code. */
async function openSession(people: People, { id }: Person, visitor: Visitor): Promise<AuthAnswer> {
  return readAnswer(
    await people.auth().api.openPasswordSession({
      body: { personId: id },
      headers: headersOf(visitor),
      asResponse: true,
    }),
  );
}

/**
 * The session that the browser has stays until the code is entered. So its cookie must stay, too. If the sign-ins of the person
 * have ended since this one began, its step ends as well: it was perhaps stored after the others were deleted.
 */
async function requireCode(people: People, { cookies }: AuthAnswer, person: Person): Promise<SignIn> {
  const { isSecure, cookieSecret } = people.keys;
  const step = setSignedText(cookies, codeStepCookieName(isSecure), cookieSecret);
  const isPresent = await inTransaction(people, async (tx) => {
    if (await lockSignIns(tx, person)) return true;
    if (step !== null) await deleteCodeStep(tx, step);
    return false;
  });
  return isPresent
    ? { outcome: "code-required", cookies: withoutSetCookie(cookies, sessionCookieName(isSecure)) }
    : { outcome: "failed", cookies: [] };
}

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

/**
 * Sets or replaces the password of a person who has proved recently who it is. All of its other sessions and its
 * links end: who has stolen one loses it. Returns the cookie that keeps the browser known. Null: the proof is too old, or the
 * session has ended.
 */
export async function setPassword(
  people: People,
  opened: PersonSession,
  password: string,
  visitor: Visitor,
): Promise<string | null> {
  const { person, session } = opened;
  if (!isRecent(session, people.clock.now())) return null;
  const passwordHash = await hashPassword(people, password);
  return inTransaction(people, async (tx) => {
    const now = people.clock.now();
    // It can have been ended while the password was hashed, by a reset of the owner.
    if (!(await lockSession(tx, opened))) return null;
    await storePassword(tx, { id: people.newId(), personId: person.id, passwordHash, now });
    await deleteLinks(tx, person.id, PERSONAL_LINKS);
    const { sessionsEnded, signInVersion } = await endSignIns(tx, person.id, session.id);
    await recordAudit(tx, people, byPerson(opened, visitor, "setPassword"), {
      merchantId: null,
      subject: "per",
      ids: [person.id],
      details: { sessionsEnded },
    });
    return deviceCookie({ id: person.id, signInVersion }, people.keys);
  });
}
