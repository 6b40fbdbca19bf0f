import { hasPasswordHash, readPasswordHash } from "../auth/accounts-sql.ts";
import type { People } from "./people.ts";

/** Its hash by scrypt, with a salt of its own. */
export async function hashPassword(people: People, password: string): Promise<string> {
  const { password: passwords } = await people.auth().$context;
  return passwords.hash(password);
}

/** Whether it is the password of a person. */
export const isPassword = async (people: People, personId: string, password: string): Promise<boolean> =>
  (await findHash(people, personId, password)) !== null;

/**
 * The hash of a person's password, if it is this password. It takes about the same time for a person who has none, and for no
 * person at all (null): the time of a response must not show which addresses are known.
 */
export async function findHash(
  people: People,
  personId: string | null,
  password: string,
): Promise<string | null> {
  const hash = personId === null ? null : await readPasswordHash(people.db, personId);
  const { password: passwords } = await people.auth().$context;
  if (hash !== null) return (await passwords.verify({ hash, password })) ? hash : null;
  await passwords.hash(password);
  return null;
}

/** Whether the hash is that of the person's present password, once no other transaction replaces it. */
export const isPresent = (people: People, personId: string, hash: string): Promise<boolean> =>
  people.db.transaction((tx) => hasPasswordHash(tx, personId, hash));
