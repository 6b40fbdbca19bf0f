import { inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { beginningOf, type FactorBox, factorBoxOf, keyIdOf } from "./library/auth-secrets.ts";
import type { PeopleContext, Person } from "./person.ts";

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

/** The ids of all keys with which one-time codes are encrypted. What has not the form of better-auth has no key. */
export const listKeyIdsOfCodes = async (db: Queryable): Promise<string[]> =>
  (await listVersionsOfCodes(db)).flatMap((version) => keyIdOf(Number(version)) ?? []);

/** Rows locked in one transaction. Few, so that it is short. */
const BATCH_SIZE = 200;

/**
 * Encrypts with the newest key all one-time codes that were encrypted with another one, so that the older key can be removed
 * (decision 0225). Returns of how many people. Codes that cannot be decrypted are logged and not changed.
 */
export async function resealCodes(context: PeopleContext, stopping?: AbortSignal): Promise<number> {
  const box = factorBoxOf(context.secrets);
  let count = 0;
  let afterId: string | null = null;
  do {
    if (stopping?.aborted) return count;
    const batch = await resealBatch(context, box, afterId);
    count += batch.resealed;
    afterId = batch.lastId;
  } while (afterId !== null);
  return count;
}

/** `lastId` is the position of the next batch, null at the end. Sign-ins with a code of these people wait for the row locks. */
const resealBatch = (
  context: PeopleContext,
  box: FactorBox,
  afterId: string | null,
): Promise<{ resealed: number; lastId: string | null }> =>
  inTransaction(context, async (tx) => {
    const beginning = beginningOf(context.secrets.keyId);
    const codes = await lockOlderCodes(tx, { beginning, afterId, limit: BATCH_SIZE });
    const resealed = [];
    for (const each of codes) resealed.push(...(await reseal(context, box, each)));
    await storeSealedCodes(tx, resealed);
    return { resealed: resealed.length, lastId: codes.at(-1)?.id ?? null };
  });

async function reseal(
  { log }: Pick<PeopleContext, "log">,
  box: FactorBox,
  codes: LockedCodes,
): Promise<LockedCodes[]> {
  const [secret, backupCodes] = [await box.open(codes.secret), await box.open(codes.backupCodes)];
  if (secret !== null && backupCodes !== null)
    return [{ ...codes, secret: await box.seal(secret), backupCodes: await box.seal(backupCodes) }];
  log.error(
    { person: { id: codes.personId } },
    "one-time codes of a person not decrypted, not encrypted with the newest key",
  );
  return [];
}

/** What the codes of a person are compared with, encrypted. */
export type SealedCodes = { readonly secret: string; readonly backupCodes: string };

/** Null: the person has set up no codes, or those that it had are lost. */
export async function readSealedCodes(db: Queryable, personId: string): Promise<SealedCodes | null> {
  const [row] = await db.query<SealedCodes>({
    name: "read-sealed-person-codes",
    text: `
      select secret, backup_codes as "backupCodes"
      from person_two_factors
      where person_id = $1`,
    values: [personId],
  });
  return row ?? null;
}

// What better-auth writes is `$ba$<version>$<ciphertext>`, so the third part is the version, which names the key
// (src/people/library/auth-secrets.ts). Codes that are not verified do not count: their person begins again.

/** The versions of all keys with which codes are encrypted, as better-auth writes them. A scan of a small table. */
async function listVersionsOfCodes(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ version: string }>({
    name: "list-versions-of-person-codes",
    text: `
      select distinct split_part(p.sealed, '$', 3) as version
      from person_two_factors f
      cross join lateral (values (f.secret), (f.backup_codes)) as p (sealed)
      where f.verified and p.sealed ~ '^[$]ba[$][0-9]{1,10}[$]'`,
    values: [],
  });
  return rows.map((row) => row.version);
}

type LockedCodes = SealedCodes & { readonly id: string; readonly personId: string };

/** Locks the next codes that do not begin as those of the newest key do. */
async function lockOlderCodes(
  tx: Queryable,
  { beginning, afterId, limit }: { beginning: string; afterId: string | null; limit: number },
): Promise<LockedCodes[]> {
  return tx.query<LockedCodes>({
    name: "lock-older-person-codes",
    text: `
      select id, person_id as "personId", secret, backup_codes as "backupCodes"
      from person_two_factors
      where verified and (not starts_with(secret, $1) or not starts_with(backup_codes, $1))
        and ($2::uuid is null or id > $2::uuid)
      order by id
      limit $3
      for update`,
    values: [beginning, afterId, limit],
  });
}

async function storeSealedCodes(tx: Queryable, codes: readonly LockedCodes[]): Promise<void> {
  if (codes.length === 0) return;
  await tx.query({
    name: "store-sealed-person-codes",
    text: `
      update person_two_factors f
      set secret = resealed.secret, backup_codes = resealed.backup_codes
      from unnest($1::uuid[], $2::text[], $3::text[]) as resealed (id, secret, backup_codes)
      where f.id = resealed.id`,
    values: [
      codes.map(({ id }) => id),
      codes.map(({ secret }) => secret),
      codes.map(({ backupCodes }) => backupCodes),
    ],
  });
}

/** People whose codes, or a part of them, begin as those of a key do. */
export async function listPeopleOfKey(db: Queryable, beginning: string, limit: number): Promise<string[]> {
  const rows = await db.query<{ personId: string }>({
    name: "list-people-of-key",
    text: `
      select person_id as "personId"
      from person_two_factors
      where verified and (starts_with(secret, $1) or starts_with(backup_codes, $1))
      order by person_id
      limit $2`,
    values: [beginning, limit],
  });
  return rows.map((row) => row.personId);
}

/** Deletes the codes of a person if they, or a part of them, begin as those of a key do. Returns whether they did. */
export async function deleteCodesOfKey(tx: Queryable, personId: string, beginning: string): Promise<boolean> {
  const rows = await tx.query({
    name: "delete-person-codes-of-key",
    text: `
      delete from person_two_factors
      where person_id = $1 and verified and (starts_with(secret, $2) or starts_with(backup_codes, $2))
      returning id`,
    values: [personId, beginning],
  });
  return rows.length > 0;
}
