import { inTransaction } from "../../platform/context.ts";
import { beginningOf, type FactorBox, factorBoxOf } from "../auth/auth-secrets.ts";
import type { PeopleContext } from "../context.ts";
import { type LockedCodes, lockOlderCodes, storeSealedCodes } from "./sealed-codes-sql.ts";

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
