import { strongestRole } from "../../access/grant.ts";
import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import { toTypeId } from "../../platform/ids.ts";
import type { AuthAnswer } from "../auth/answers.ts";
import { deleteLinks } from "../links/links-sql.ts";
import { recordSignIn } from "../people-sql.ts";
import { findSession } from "../sessions/find-session.ts";
import type { PersonSession } from "../sessions/session.ts";
import { cookieValue, sessionCookieName, signedText } from "../sessions/session-cookie.ts";
import { deleteSession, readSession } from "../sessions/sessions-sql.ts";
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
  | { readonly outcome: "too-many-attempts"; readonly waitMs: number };

/** After better-auth has opened a session: records the sign-in, and makes the browser known for the account. */
export async function finishSignIn(
  people: People,
  { cookies }: AuthAnswer,
  visitor: Visitor,
  method: string,
): Promise<SignIn> {
  const opened = await openedSession(people, cookies);
  if (opened === null) return { outcome: "failed", cookies };
  const { person, session } = opened;
  // A person who signs in again on the same page has one session there, not two.
  const before = await findSession(people, people.keys, visitor.cookie);
  await inTransaction(people, async (tx) => {
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
  });
  return {
    outcome: "signed-in",
    cookies: [...cookies, deviceCookie(person.email, people.keys)],
    person,
  };
}

/** The session whose cookie better-auth has set. */
export async function openedSession(
  people: People,
  cookies: readonly string[],
): Promise<PersonSession | null> {
  const { cookieSecret, isSecure } = people.keys;
  const name = sessionCookieName(isSecure);
  const value = cookies.map((cookie) => cookieValue(cookie, name)).findLast((found) => found !== null) ?? "";
  const token = signedText(value, cookieSecret);
  return token === null ? null : readSession(people.db, token);
}

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
