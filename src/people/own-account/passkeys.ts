import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import type { AuthAnswer } from "../auth/answers.ts";
import { askWithChallenge, compareWithChallenge } from "../passkeys/browser-challenge.ts";
import { endSignIns, lockSession } from "../sessions/end-sign-ins.ts";
import type { PersonSession } from "../sessions/session.ts";
import { byPerson } from "../sign-in/finish-sign-in.ts";
import { deviceCookie } from "../sign-in/known-device.ts";
import type { People } from "../sign-in/people.ts";
import { headersOf, type Visitor } from "../sign-in/visitor.ts";
import { countPasskeys, deletePasskey } from "./passkeys-sql.ts";

/** Passkeys of a person. */
export const PASSKEYS_MAX = 20;

/** What the browser needs to make a passkey (WebAuthn), and the cookies of the challenge. */
export function passkeyRegistration(people: People, visitor: Visitor): Promise<AuthAnswer> {
  const { api } = people.auth();
  return askWithChallenge(people, () =>
    api.generatePasskeyRegistrationOptions({ headers: headersOf(visitor), asResponse: true }),
  );
}

/**
 * Stores a passkey that the browser has made. It fails if what it sent does not fit the challenge, or if the session has ended while
 * better-auth stored it.
 */
export async function addPasskey(
  people: People,
  opened: PersonSession,
  { name, response }: { readonly name: string; readonly response: Readonly<Record<string, unknown>> },
  visitor: Visitor,
): Promise<"added" | "failed" | "too-many"> {
  const { person } = opened;
  if ((await countPasskeys(people.db, person.id)) >= PASSKEYS_MAX) return "too-many";
  const { api } = people.auth();
  const compared = await compareWithChallenge(people, visitor, () =>
    api.verifyPasskeyRegistration({
      body: { response, name },
      headers: headersOf(visitor),
      asResponse: true,
    }),
  );
  if (compared === null || compared.answer.error !== null) return "failed";
  const { answer } = compared;
  return inTransaction(people, async (tx) => {
    const isPresent = await lockSession(tx, opened);
    // Others can have been added since they were counted.
    if (!isPresent || (await countPasskeys(tx, person.id)) > PASSKEYS_MAX) {
      await deletePasskey(tx, person.id, String(answer.body["id"]));
      return isPresent ? "too-many" : "failed";
    }
    await recordAudit(tx, people, byPerson(opened, visitor, "addPasskey"), {
      merchantId: null,
      subject: "per",
      ids: [person.id],
      details: { passkey: name },
    });
    return "added";
  });
}

/**
 * Removes a passkey of a person, and ends its other sessions: a device that is lost has perhaps opened one. Returns the cookie that keeps
 * the browser known. Null: there is no such passkey, or the session has ended.
 */
export const removePasskey = (
  people: People,
  opened: PersonSession,
  passkeyId: string,
  visitor: Visitor,
): Promise<string | null> =>
  inTransaction(people, async (tx) => {
    const { id } = opened.person;
    if (!(await lockSession(tx, opened))) return null;
    const name = await deletePasskey(tx, id, passkeyId);
    if (name === null) return null;
    const { sessionsEnded, signInVersion } = await endSignIns(tx, id, opened.session.id);
    await recordAudit(tx, people, byPerson(opened, visitor, "removePasskey"), {
      merchantId: null,
      subject: "per",
      ids: [id],
      details: { passkey: name, sessionsEnded },
    });
    return deviceCookie({ id, signInVersion }, people.keys);
  });
