import { createHash, randomBytes } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import { inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { SecretBoxError } from "../platform/secret-box.ts";
import type { PeopleContext, Person } from "./person.ts";

/** A code of the person's device, or one of the backup codes, each of which is good once. */
export type Code = { readonly code: string; readonly isBackupCode: boolean };

const BACKUP_CODES = 10;

/** What authenticator apps support: RFC 6238 with SHA-1, six digits, 30 seconds. */
const totpOf = (secret: Secret, label = ""): TOTP => new TOTP({ issuer: "Partner Orders", label, secret });

/** A sealed secret that was moved to another person does not open there. */
const purposeOf = (personId: string): string => `one-time codes of ${personId}`;

/** The secret for the person's device as a URI. It counts once a code of it was used. Null: codes are set up already. */
export async function makeSecret(
  tx: Queryable,
  { secrets, clock }: PeopleContext,
  { id, email }: Pick<Person, "id" | "email">,
): Promise<string | null> {
  const secret = new Secret();
  const sealed = secrets.seal(secret.base32, purposeOf(id));
  return (await storeNewSecret(tx, id, sealed, clock.now())) ? totpOf(secret, email).toString() : null;
}

/** New backup codes in place of the earlier ones. */
export async function makeBackupCodes(tx: Queryable, personId: string): Promise<string[]> {
  const codes = Array.from({ length: BACKUP_CODES }, () => randomBytes(10).toString("hex"));
  await replaceBackupCodes(tx, personId, codes.map(hashCode));
  return codes.map((code) => code.replace(/.{5}(?=.)/g, "$&-"));
}

/** 80 random bits need no slow hash. */
const hashCode = (code: string): Buffer => createHash("sha256").update(code).digest();

/**
 * Compares a code with those of a person, and uses it up: it is accepted once, wherever it is sent (RFC 6238, section 5.2). The caller
 * has counted it. The step before and the one after are accepted as well, since clocks differ.
 */
export async function useCode(
  tx: Queryable,
  { secrets, clock }: PeopleContext,
  personId: string,
  { code, isBackupCode }: Code,
): Promise<boolean> {
  const token = code.replaceAll(/[\s-]/g, "").toLowerCase();
  if (isBackupCode) return useBackupCode(tx, personId, hashCode(token));
  const sealed = await readSealedSecret(tx, personId);
  if (sealed === null) return false;
  const totp = totpOf(Secret.fromBase32(secrets.open(sealed, purposeOf(personId))));
  const timestamp = clock.now().getTime();
  const distance = totp.validate({ token, timestamp, window: 1 });
  return distance !== null && useStep(tx, personId, totp.counter({ timestamp }) + distance);
}

/**
 * Encrypts with the newest key all secrets of codes that were encrypted with another one, so that the older key can be removed.
 * Returns how many. One that cannot be decrypted is logged and not changed. There are few, so one transaction is short.
 */
export const resealCodes = (context: PeopleContext, stopping?: AbortSignal): Promise<number> =>
  inTransaction(context, async (tx) => {
    if (stopping?.aborted) return 0;
    const locked = await lockOlderSecrets(tx, context.secrets.keyId);
    const resealed = locked.flatMap((secret) => reseal(context, secret));
    await storeResealed(tx, resealed);
    return resealed.length;
  });

function reseal({ secrets, log }: PeopleContext, { personId, sealed }: LockedSecret): LockedSecret[] {
  const purpose = purposeOf(personId);
  try {
    return [{ personId, sealed: secrets.seal(secrets.open(sealed, purpose), purpose) }];
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    log.error(
      { person: { id: personId } },
      "one-time codes of a person not decrypted, not encrypted with the newest key",
    );
    return [];
  }
}

/**
 * Stores a new secret for the codes of a person, whose setup begins. Returns false if codes are set up already: they are removed
 * first.
 */
async function storeNewSecret(
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
async function readSealedSecret(db: Queryable, personId: string): Promise<string | null> {
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
async function useStep(tx: Queryable, personId: string, step: number): Promise<boolean> {
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
async function useBackupCode(tx: Queryable, personId: string, codeHash: Buffer): Promise<boolean> {
  const rows = await tx.query({
    name: "use-backup-code",
    text: "delete from person_backup_codes where person_id = $1 and code_hash = $2 returning person_id",
    values: [personId, codeHash],
  });
  return rows.length > 0;
}

/** New backup codes in place of the earlier ones. */
async function replaceBackupCodes(
  tx: Queryable,
  personId: string,
  codeHashes: readonly Buffer[],
): Promise<void> {
  await tx.query({
    name: "replace-backup-codes",
    text: `
      with earlier as (delete from person_backup_codes where person_id = $1)
      insert into person_backup_codes (person_id, code_hash)
      select $1, unnest($2::bytea[])`,
    values: [personId, codeHashes],
  });
}

/** From now on a password alone suffices. */
export async function deleteCodes(tx: Queryable, personId: string): Promise<void> {
  await tx.query({
    name: "delete-one-time-codes",
    text: `
      with backup_codes as (delete from person_backup_codes where person_id = $1)
      delete from person_one_time_codes where person_id = $1`,
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

type LockedSecret = { readonly personId: string; readonly sealed: string };

/** Locks the secrets that are encrypted with another key. */
async function lockOlderSecrets(tx: Queryable, keyId: string): Promise<LockedSecret[]> {
  return tx.query<LockedSecret>({
    name: "lock-older-code-secrets",
    text: `
      select person_id as "personId", sealed_secret as sealed
      from person_one_time_codes
      where confirmed_at is not null and split_part(sealed_secret, '.', 2) <> $1
      order by person_id
      for update`,
    values: [keyId],
  });
}

async function storeResealed(tx: Queryable, secrets: readonly LockedSecret[]): Promise<void> {
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
