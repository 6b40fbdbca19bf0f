import { strongestRole } from "../../access/grant.ts";
import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { toTypeId } from "../../platform/ids.ts";
import type { AuthAnswer } from "../auth/answers.ts";
import { deleteFirstLinks, deleteLinks } from "../links/links-sql.ts";
import { recordSignIn } from "../people-sql.ts";
import { findSession } from "../sessions/find-session.ts";
import { finishSession } from "../sessions/finish-session.ts";
import type { PersonSession } from "../sessions/session.ts";
import { sessionCookieName, setSignedText, withoutSetCookie } from "../sessions/session-cookie.ts";
import { deleteSession } from "../sessions/sessions-sql.ts";
import type { Beginning } from "../sessions/sign-ins-sql.ts";
import { deviceCookie } from "./known-device.ts";
import type { People } from "./people.ts";
import type { Visitor } from "./visitor.ts";

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
