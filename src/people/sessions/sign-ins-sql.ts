import type { Queryable } from "../../platform/database/database.ts";
import type { Person } from "../person.ts";

/** The person of a sign-in, as it was read before a proof was compared. */
export type Beginning = Pick<Person, "id" | "signInVersion">;

/**
 * Whether no sign-in of the person has been ended since one began, and the person is enabled. It waits for a transaction that
 * ends them, and such a transaction waits for this one.
 */
export async function lockSignIns(tx: Queryable, { id, signInVersion }: Beginning): Promise<boolean> {
  const rows = await tx.query({
    name: "lock-sign-ins",
    text: `
      select from people
      where id = $1 and sign_in_version = $2 and disabled_at is null
      for no key update`,
    values: [id, signInVersion],
  });
  return rows.length > 0;
}

/** Whether a mail address is that of a person whose sign-ins still have a version. */
export async function hasSignInVersion(
  db: Queryable,
  email: string,
  { id, signInVersion }: Beginning,
): Promise<boolean> {
  const rows = await db.query({
    name: "has-sign-in-version",
    text: "select id from people where email = $1 and id = $2 and sign_in_version = $3",
    values: [email, id, signInVersion],
  });
  return rows.length > 0;
}

/** From now on the sign-ins of a person that have begun open no session. Returns the version of those that begin. */
export async function raiseSignInVersion(tx: Queryable, personId: string): Promise<number> {
  const [row] = await tx.query<{ sign_in_version: number }>({
    name: "raise-sign-in-version",
    text: "update people set sign_in_version = sign_in_version + 1 where id = $1 returning sign_in_version",
    values: [personId],
  });
  return row?.sign_in_version ?? 0;
}

/** Lets a session of a person that better-auth has stored be used. Returns whether there is one. */
export async function setSessionFinished(tx: Queryable, personId: string, token: string): Promise<boolean> {
  const rows = await tx.query({
    name: "finish-person-session",
    text: "update person_sessions set finished = true where token = $2 and person_id = $1 returning id",
    values: [personId, token],
  });
  return rows.length > 0;
}

/** Deletes a session whose sign-in was not finished. */
export async function deleteUnfinishedSession(tx: Queryable, token: string): Promise<void> {
  await tx.query({
    name: "delete-unfinished-person-session",
    text: "delete from person_sessions where token = $1 and not finished",
    values: [token],
  });
}
