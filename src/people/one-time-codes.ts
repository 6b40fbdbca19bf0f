import { createHash, randomBytes } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import { inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { SecretBoxError } from "../platform/secret-box.ts";
import {
  deleteBackupCodes,
  insertBackupCodes,
  type LockedSecret,
  lockOlderSecrets,
  readSealedSecret,
  storeNewSecret,
  storeResealed,
  useBackupCode,
  useStep,
} from "./one-time-codes-sql.ts";
import type { PeopleContext, Person } from "./person.ts";

/** A code of the person's device, or one of the backup codes, each of which is good once. */
export type Code = { readonly code: string; readonly isBackupCode: boolean };

const BACKUP_CODES = 10;
/** Secrets that are locked in one transaction. Few, so that it is short. */
const BATCH_SIZE = 200;

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
  await deleteBackupCodes(tx, personId);
  await insertBackupCodes(tx, personId, codes.map(hashCode));
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
 * Returns how many. One that cannot be decrypted is logged and not changed.
 */
export async function resealCodes(context: PeopleContext, stopping?: AbortSignal): Promise<number> {
  let count = 0;
  let afterId: string | null = null;
  do {
    if (stopping?.aborted) return count;
    const batch: { resealed: number; lastId: string | null } = await resealBatch(context, afterId);
    count += batch.resealed;
    afterId = batch.lastId;
  } while (afterId !== null);
  return count;
}

/** `lastId` is the position of the next batch, null at the end. */
const resealBatch = (context: PeopleContext, afterId: string | null) =>
  inTransaction(context, async (tx) => {
    const { keyId } = context.secrets;
    const locked = await lockOlderSecrets(tx, { keyId, afterId, limit: BATCH_SIZE });
    const resealed = locked.flatMap((secret) => reseal(context, secret));
    await storeResealed(tx, resealed);
    return { resealed: resealed.length, lastId: locked.at(-1)?.personId ?? null };
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
