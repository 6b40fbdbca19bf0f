import { strongestRole } from "../../audit/grant.ts";
import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { toTypeId } from "../../platform/ids.ts";
import { before } from "../../platform/time.ts";
import { type AuthAnswer, readAnswer } from "../library/answers.ts";
import { countAttempts, WINDOW_MS } from "../limit-attempts.ts";
import { deleteFirstLinks, deleteLinks } from "../links.ts";
import { recordSignIn } from "../people-sql.ts";
import { sessionCookieName, setSignedText, withoutSetCookie } from "../session-cookie.ts";
import { findSession, finishSession } from "../sessions.ts";
import { type Beginning, deleteSession, type PersonSession } from "../sessions-sql.ts";
import { deviceCookie, headersOf, type People, type Visitor } from "./people.ts";

/** How an attempt to sign in ended. */
export type SignIn =
  | {
      readonly outcome: "signed-in";
      readonly cookies: readonly string[];
      readonly person: PersonSession["person"];
    }
  /** The password is right, and a one-time code must follow. */
  | { readonly outcome: "code-required"; readonly cookies: readonly string[] }
  | { readonly outcome: "failed"; readonly cookies: readonly string[] }
  /** It waited for a code, and the codes of the person cannot be decrypted any more. */
  | { readonly outcome: "codes-lost"; readonly cookies: readonly string[] }
  /** It waited for a code, and no code can finish it any more: it begins again with the password. */
  | { readonly outcome: "step-ended"; readonly cookies: readonly string[] }
  | { readonly outcome: "too-many-attempts"; readonly waitMs: number };

/** What is known of a sign-in before it is finished. */
export type BegunSignIn = {
  readonly method: string;
  /** Null: the library has found no person. */
  readonly beginning: Beginning | null;
  /** Uses up a proof that better-auth does not use up. False: it was used before. */
  readonly takeProof?: (tx: Queryable) => Promise<boolean>;
};

/**
 * After better-auth has stored a session: lets it be used, records the sign-in, and makes the browser known for the account. It
 * fails if what ends all sign-ins of the person has happened since this one began.
 */
export async function finishSignIn(
  people: People,
  { cookies }: Pick<AuthAnswer, "cookies">,
  visitor: Visitor,
  { method, beginning, takeProof }: BegunSignIn,
): Promise<SignIn> {
  const token = openedToken(people, cookies);
  // A person who signs in again on the same page has one session there, not two.
  const before = await findSession(people, people.keys, visitor.cookie);
  const opened =
    token === null || beginning === null
      ? null
      : await inTransaction(people, async (tx) => {
          const finished = await finishSession(tx, beginning, token);
          if (finished === null) return null;
          if (takeProof !== undefined && !(await takeProof(tx))) {
            await deleteSession(tx, beginning.id, finished.session.id);
            return null;
          }
          await record(tx, people, finished, before, visitor, method);
          return finished;
        });
  const name = sessionCookieName(people.keys.isSecure);
  if (opened === null) return { outcome: "failed", cookies: withoutSetCookie(cookies, name) };
  const { person } = opened;
  return { outcome: "signed-in", cookies: [...cookies, deviceCookie(person, people.keys)], person };
}

async function record(
  tx: Queryable,
  people: People,
  opened: PersonSession,
  before: PersonSession | null,
  visitor: Visitor,
  method: string,
): Promise<void> {
  const { person, session } = opened;
  // A further link for the first operator can have been made since the one was used that has opened this session.
  await deleteFirstLinks(tx, person.id);
  await recordSignIn(tx, person.id, people.clock.now());
  // An invitation that was not opened is not needed any more. It would be a way past the password and the code.
  await deleteLinks(tx, person.id, ["invitation"]);
  if (before !== null && before.session.id !== session.id)
    await deleteSession(tx, before.person.id, before.session.id);
  await recordAudit(tx, people, byPerson(opened, visitor, "signIn"), {
    merchantId: null,
    subject: "per",
    ids: [person.id],
    details: { method, session: toTypeId("ses", session.id), ipAddress: visitor.ipAddress },
  });
}

/** The token of the session whose cookie better-auth has set. Null: it has set none. */
export const openedToken = ({ keys }: Pick<People, "keys">, cookies: readonly string[]): string | null =>
  setSignedText(cookies, sessionCookieName(keys.isSecure), keys.cookieSecret);

/** The person as the audit log names it. */
export const byPerson = (
  { person }: Pick<PersonSession, "person">,
  { requestId }: Pick<Visitor, "requestId">,
  action: string,
): Initiator => ({
  actor: {
    kind: strongestRole(person.grants) ?? "service",
    name: person.name,
    id: toTypeId("per", person.id),
  },
  requestId,
  action,
});

/** Entries about wrong passwords of a person within WINDOW_MS. */
const FAILURES_RECORDED_MAX = 5;

/** Records that a password of a person was wrong, but not without end. */
export async function recordFailure(
  people: People,
  person: PersonSession["person"],
  visitor: Visitor,
  action: "signInFailed" | "confirmFailed",
): Promise<void> {
  const now = people.clock.now();
  const [counted] = await countAttempts(people.db, [`failures ${person.id}`], now, before(now, WINDOW_MS));
  if (counted === undefined || counted.count > FAILURES_RECORDED_MAX) return;
  await recordAudit(people.db, people, byPerson({ person }, visitor, action), {
    merchantId: null,
    subject: "per",
    ids: [person.id],
    details: { method: "password", ipAddress: visitor.ipAddress },
  });
}

/** Ends the session of the browser, and returns the cookies that remove its own. Without a session it changes nothing. */
export async function signOut(people: People, visitor: Visitor): Promise<readonly string[]> {
  await endSession(people, visitor);
  const answer = await readAnswer(
    await people.auth().api.signOut({ headers: headersOf(visitor), asResponse: true }),
  );
  return answer.cookies;
}

async function endSession(people: People, visitor: Visitor): Promise<void> {
  const opened = await findSession(people, people.keys, visitor.cookie);
  if (opened === null) return;
  const { person, session } = opened;
  await inTransaction(people, async (tx) => {
    if (!(await deleteSession(tx, person.id, session.id))) return; // It ended at the same time.
    await recordAudit(tx, people, byPerson(opened, visitor, "signOut"), {
      merchantId: null,
      subject: "per",
      ids: [person.id],
      details: { session: toTypeId("ses", session.id) },
    });
  });
}
