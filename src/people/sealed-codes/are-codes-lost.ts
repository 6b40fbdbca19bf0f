import { factorBoxOf } from "../auth/auth-secrets.ts";
import type { PeopleContext } from "../context.ts";
import type { Person } from "../person.ts";
import { readSealedCodes } from "./sealed-codes-sql.ts";

/**
 * Whether no code of a person can be right any more: the key is lost that encrypted what they are compared with, or it was deleted
 * because of that (decision 0225). better-auth would fail.
 */
export async function areCodesLost(
  { db, secrets, log }: Pick<PeopleContext, "db" | "secrets" | "log">,
  { id, hasTwoFactor }: Pick<Person, "id" | "hasTwoFactor">,
  { isBackupCode }: { readonly isBackupCode: boolean },
): Promise<boolean> {
  const sealed = await readSealedCodes(db, id);
  if (sealed === null) return hasTwoFactor;
  const opened = await factorBoxOf(secrets).open(isBackupCode ? sealed.backupCodes : sealed.secret);
  if (opened === null) log.error({ person: { id } }, "one-time codes of a person not decrypted");
  return opened === null;
}
