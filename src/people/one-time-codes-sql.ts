import type { Queryable } from "../platform/database/database.ts";

/**
 * Stores a new secret for the codes of a person, whose setup begins. Returns false if codes are set up already: they are removed
 * first.
 */
export async function storeNewSecret(
  tx: Queryable,
  personId: string,
  sealedSecret: string,
  now: Date,
): Promise<boolean> {
  const rows = await tx.query({
    name: "store-new-code-secret",
    text: `
      insert into person_one_time_codes as c (person_id, sealed_secret, created_at)
      values ($1, $2, $3)
      on conflict (person_id) do update
      set sealed_secret = excluded.sealed_secret, created_at = excluded.created_at, last_step = null
      where c.confirmed_at is null
      returning person_id`,
    values: [personId, sealedSecret, now],
  });
  return rows.length > 0;
}

/** The secret of a person's codes, encrypted, also if their setup is not finished. Null: there is none. */
export async function readSealedSecret(db: Queryable, personId: string): Promise<string | null> {
  const [row] = await db.query<{ sealed_secret: string }>({
    name: "read-code-secret",
    text: "select sealed_secret from person_one_time_codes where person_id = $1",
    values: [personId],
  });
  return row?.sealed_secret ?? null;
}

/** From now on a password alone does not suffice. Returns false if that was so before, or there is no secret. */
export async function confirmSecret(tx: Queryable, personId: string, now: Date): Promise<boolean> {
  const rows = await tx.query({
    name: "confirm-code-secret",
    text: `
      update person_one_time_codes set confirmed_at = $2
      where person_id = $1 and confirmed_at is null
      returning person_id`,
    values: [personId, now],
  });
  return rows.length > 0;
}

/** Uses up the codes of a person up to a time step. Returns false if the code of this step, or of a later one, was used before. */
export async function useStep(tx: Queryable, personId: string, step: number): Promise<boolean> {
  const rows = await tx.query({
    name: "use-code-step",
    text: `
      update person_one_time_codes set last_step = $2
      where person_id = $1 and (last_step is null or last_step < $2)
      returning person_id`,
    values: [personId, step],
  });
  return rows.length > 0;
}

/** Uses up a backup code. Returns false if the person has no such code any more. */
export async function useBackupCode(tx: Queryable, personId: string, codeHash: Buffer): Promise<boolean> {
  const rows = await tx.query({
    name: "use-backup-code",
    text: "delete from person_backup_codes where person_id = $1 and code_hash = $2 returning person_id",
    values: [personId, codeHash],
  });
  return rows.length > 0;
}

/** Removes the backup codes of a person. */
export async function deleteBackupCodes(tx: Queryable, personId: string): Promise<void> {
  await tx.query({
    name: "delete-backup-codes",
    text: "delete from person_backup_codes where person_id = $1",
    values: [personId],
  });
}

export async function insertBackupCodes(
  tx: Queryable,
  personId: string,
  codeHashes: readonly Buffer[],
): Promise<void> {
  await tx.query({
    name: "insert-backup-codes",
    text: "insert into person_backup_codes (person_id, code_hash) select $1, unnest($2::bytea[])",
    values: [personId, codeHashes],
  });
}

/** From now on a password alone suffices. */
export async function deleteSecret(tx: Queryable, personId: string): Promise<void> {
  await tx.query({
    name: "delete-code-secret",
    text: "delete from person_one_time_codes where person_id = $1",
    values: [personId],
  });
}

/** Stores that a right password waits for a code. */
export async function insertCodeStep(
  tx: Queryable,
  tokenHash: Buffer,
  personId: string,
  expiresAt: Date,
): Promise<void> {
  await tx.query({
    name: "insert-code-step",
    text: "insert into person_code_steps (token_hash, person_id, tries, expires_at) values ($1, $2, 0, $3)",
    values: [tokenHash, personId, expiresAt],
  });
}

/** The person whose right password waits for a code. Null: that has ended. Only counting the code decides. */
export async function findPersonOfCodeStep(
  db: Queryable,
  tokenHash: Buffer,
  now: Date,
): Promise<string | null> {
  const [row] = await db.query<{ person_id: string }>({
    name: "find-person-of-code-step",
    text: "select person_id from person_code_steps where token_hash = $1 and expires_at > $2 and tries < 5",
    values: [tokenHash, now],
  });
  return row?.person_id ?? null;
}

/** Counts a code that follows a password. Returns false if none may follow any more. */
export async function countCodeOfStep(tx: Queryable, tokenHash: Buffer, now: Date): Promise<boolean> {
  const rows = await tx.query({
    name: "count-code-of-step",
    text: `
      update person_code_steps set tries = tries + 1
      where token_hash = $1 and expires_at > $2 and tries < 5
      returning token_hash`,
    values: [tokenHash, now],
  });
  return rows.length > 0;
}

/** Uses up a right password that a right code has followed. */
export async function deleteCodeStep(tx: Queryable, tokenHash: Buffer): Promise<void> {
  await tx.query({
    name: "delete-code-step",
    text: "delete from person_code_steps where token_hash = $1",
    values: [tokenHash],
  });
}

/** Ends the sign-ins of a person that wait for a code. */
export async function deleteCodeSteps(tx: Queryable, personId: string): Promise<void> {
  await tx.query({
    name: "delete-code-steps",
    text: "delete from person_code_steps where person_id = $1",
    values: [personId],
  });
}

// A sealed text is `v1.<id of the key>.<ciphertext>` (src/platform/secret-box.ts), so its second part is the id of the key.
// Secrets whose setup is not finished do not count: their person begins again.

/** The ids of all keys with which secrets of codes are encrypted. A scan of a small table. */
export async function listKeyIdsOfCodes(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ key_id: string }>({
    name: "list-key-ids-of-codes",
    text: `
      select distinct split_part(sealed_secret, '.', 2) as key_id
      from person_one_time_codes
      where confirmed_at is not null and sealed_secret ~ '^v1[.][0-9a-f]{8}[.]'`,
    values: [],
  });
  return rows.map((row) => row.key_id);
}

export type LockedSecret = { readonly personId: string; readonly sealed: string };

/** Locks the next secrets that are encrypted with another key. */
export async function lockOlderSecrets(
  tx: Queryable,
  { keyId, afterId, limit }: { keyId: string; afterId: string | null; limit: number },
): Promise<LockedSecret[]> {
  return tx.query<LockedSecret>({
    name: "lock-older-code-secrets",
    text: `
      select person_id as "personId", sealed_secret as sealed
      from person_one_time_codes
      where confirmed_at is not null and split_part(sealed_secret, '.', 2) <> $1
        and ($2::uuid is null or person_id > $2::uuid)
      order by person_id
      limit $3
      for update`,
    values: [keyId, afterId, limit],
  });
}

export async function storeResealed(tx: Queryable, secrets: readonly LockedSecret[]): Promise<void> {
  await tx.query({
    name: "store-resealed-code-secrets",
    text: `
      update person_one_time_codes c
      set sealed_secret = resealed.sealed
      from unnest($1::uuid[], $2::text[]) as resealed (person_id, sealed)
      where c.person_id = resealed.person_id`,
    values: [secrets.map(({ personId }) => personId), secrets.map(({ sealed }) => sealed)],
  });
}
