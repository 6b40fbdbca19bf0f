import { recordAudit } from "../audit/record-audit.ts";
import { inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { askWithChallenge, compareWithChallenge } from "./challenges.ts";
import type { AuthAnswer } from "./library/answers.ts";
import { endSignIns, lockSession } from "./sessions.ts";
import type { PersonSession } from "./sessions-sql.ts";
import { byPerson } from "./sign-in/finish-sign-in.ts";
import { deviceCookie, headersOf, type People, type Visitor } from "./sign-in/people.ts";

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

/** A passkey as its person sees it. */
export type Passkey = { readonly id: string; readonly name: string; readonly createdAt: Date | null };

type PasskeyRow = { id: string; name: string | null; created_at: Date | null };

/** Oldest first. There are at most PASSKEYS_MAX. */
export async function listPasskeys(db: Queryable, personId: string): Promise<Passkey[]> {
  const rows = await db.query<PasskeyRow>({
    name: "list-person-passkeys",
    text: `
      select k.id, k.name, k.created_at
      from person_passkeys k
      where k.person_id = $1
      order by k.id
      limit 100`,
    values: [personId],
  });
  return rows.map(({ id, name, created_at }) => ({ id, name: name ?? "", createdAt: created_at }));
}

/** The person who signs in with a passkey. Null: the passkey is not known. */
export async function findPersonOfPasskey(db: Queryable, credentialId: string): Promise<string | null> {
  const [row] = await db.query<{ person_id: string }>({
    name: "find-person-of-passkey",
    text: "select person_id from person_passkeys where credential_id = $1",
    values: [credentialId],
  });
  return row?.person_id ?? null;
}

async function countPasskeys(db: Queryable, personId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-person-passkeys",
    text: "select count(*)::integer as count from person_passkeys where person_id = $1",
    values: [personId],
  });
  return row?.count ?? 0;
}

/** The name of the passkey that was deleted. Null if there is none. */
async function deletePasskey(tx: Queryable, personId: string, passkeyId: string): Promise<string | null> {
  const [row] = await tx.query<{ name: string | null }>({
    name: "delete-person-passkey",
    text: "delete from person_passkeys where person_id = $1 and id = $2 returning name",
    values: [personId, passkeyId],
  });
  return row === undefined ? null : (row.name ?? "");
}

/** Deletes all passkeys of a person. Returns how many. */
export async function deletePasskeys(tx: Queryable, personId: string): Promise<number> {
  const rows = await tx.query({
    name: "delete-person-passkeys",
    text: "delete from person_passkeys where person_id = $1 returning id",
    values: [personId],
  });
  return rows.length;
}
