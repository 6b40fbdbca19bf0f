import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import { type AuthAnswer, readAnswer } from "../auth/answers.ts";
import type { PersonSession } from "../sessions/session.ts";
import { byPerson } from "../sign-in/finish-sign-in.ts";
import type { People } from "../sign-in/people.ts";
import { headersOf, type Visitor } from "../sign-in/visitor.ts";
import { countPasskeys, deletePasskey } from "./passkeys-sql.ts";

/** Passkeys of a person. */
export const PASSKEYS_MAX = 20;

/** What the browser needs to make a passkey (WebAuthn), and the cookie that names the challenge. */
export const passkeyRegistration = async (people: People, visitor: Visitor): Promise<AuthAnswer> =>
  readAnswer(
    await people
      .auth()
      .api.generatePasskeyRegistrationOptions({ headers: headersOf(visitor), asResponse: true }),
  );

/** Stores a passkey that the browser has made. Returns false if what it sent does not fit the challenge. */
export async function addPasskey(
  people: People,
  opened: PersonSession,
  { name, response }: { readonly name: string; readonly response: Readonly<Record<string, unknown>> },
  visitor: Visitor,
): Promise<"added" | "failed" | "too-many"> {
  const { person } = opened;
  if ((await countPasskeys(people.db, person.id)) >= PASSKEYS_MAX) return "too-many";
  const answer = await readAnswer(
    await people.auth().api.verifyPasskeyRegistration({
      body: { response, name },
      headers: headersOf(visitor),
      asResponse: true,
    }),
  );
  if (answer.error !== null) return "failed";
  await recordAudit(people.db, people, byPerson(opened, visitor, "addPasskey"), {
    merchantId: null,
    subject: "per",
    ids: [person.id],
    details: { passkey: name },
  });
  return "added";
}

/** Removes a passkey of a person. Returns whether there was one. */
export const removePasskey = (
  people: People,
  opened: PersonSession,
  passkeyId: string,
  visitor: Visitor,
): Promise<boolean> =>
  inTransaction(people, async (tx) => {
    const name = await deletePasskey(tx, opened.person.id, passkeyId);
    if (name === null) return false;
    await recordAudit(tx, people, byPerson(opened, visitor, "removePasskey"), {
      merchantId: null,
      subject: "per",
      ids: [opened.person.id],
      details: { passkey: name },
    });
    return true;
  });
