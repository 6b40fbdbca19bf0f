import { readPasswordHash } from "../auth/accounts-sql.ts";
import type { People } from "./people.ts";

/** Its hash by scrypt, with a salt of its own. */
export async function hashPassword(people: People, password: string): Promise<string> {
  const { password: passwords } = await people.auth().$context;
  return passwords.hash(password);
}

/**
 * Whether it is the password of a person. It takes about the same time for a person who has none, and for no person at all (null):
 * the time of a response must not show which addresses are known.
 */
export async function isPassword(
  people: People,
  personId: string | null,
  password: string,
): Promise<boolean> {
  const hash = personId === null ? null : await readPasswordHash(people.db, personId);
  const { password: passwords } = await people.auth().$context;
  if (hash !== null) return passwords.verify({ hash, password });
  await passwords.hash(password);
  return false;
}
