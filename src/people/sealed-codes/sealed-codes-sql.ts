import type { Queryable } from "../../platform/database/database.ts";

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
// (src/people/auth/auth-secrets.ts). Codes that are not verified do not count: their person begins again.

/** The versions of all keys with which codes are encrypted, as better-auth writes them. A scan of a small table. */
export async function listVersionsOfCodes(db: Queryable): Promise<string[]> {
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

export type LockedCodes = SealedCodes & { readonly id: string; readonly personId: string };

/** Locks the next codes that do not begin as those of the newest key do. */
export async function lockOlderCodes(
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

export async function storeSealedCodes(tx: Queryable, codes: readonly LockedCodes[]): Promise<void> {
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
