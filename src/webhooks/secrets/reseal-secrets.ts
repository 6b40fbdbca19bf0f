import type { ConnectionKey } from "../../platform/connection-key.ts";
import { inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { SecretBoxError } from "../../platform/secret-box.ts";
import type { WebhookContext } from "../context.ts";
import {
  type LockedSecret,
  listConnectionsWithOlderKeys,
  lockSecrets,
  storeSealed,
} from "./reseal-secrets-sql.ts";

/** Rows locked in one transaction. Few, so that it is short. */
const BATCH_SIZE = 200;

/**
 * Encrypts with the newest key all secrets that were encrypted with another one, so that the older key can be removed.
 * Returns how many. A secret that cannot be decrypted is logged and not changed: either its row is damaged, or its key
 * was used by a process with a newer configuration.
 */
export async function resealSecrets(context: WebhookContext, stopping?: AbortSignal): Promise<number> {
  let count = 0;
  for (const connection of await listConnectionsWithOlderKeys(context.db, context.secrets.keyId)) {
    let position: LockedSecret | null = null;
    do {
      if (stopping?.aborted) return count;
      const batch = await resealBatch(context, connection, position);
      count += batch.resealed;
      position = batch.last;
    } while (position !== null);
  }
  return count;
}

/** `last` is the position of the next batch, null at the end. Rotations wait for the row locks. */
const resealBatch = (
  context: WebhookContext,
  connection: ConnectionKey,
  after: LockedSecret | null,
): Promise<{ resealed: number; last: LockedSecret | null }> =>
  inTransaction(context, async (tx: Queryable) => {
    const keyId = context.secrets.keyId;
    const secrets = await lockSecrets(tx, connection, { keyId, after, limit: BATCH_SIZE });
    const resealed = secrets.flatMap((secret) => {
      const sealed = reseal(context, connection, secret);
      return sealed === null ? [] : [{ ...secret, sealed }];
    });
    await storeSealed(tx, connection, resealed);
    return { resealed: resealed.length, last: secrets.at(-1) ?? null };
  });

function reseal(
  { secrets, log }: WebhookContext,
  connection: ConnectionKey,
  { endpointId, id, sealed }: LockedSecret,
): string | null {
  try {
    return secrets.seal(secrets.open(sealed, endpointId), endpointId);
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    log.error(
      {
        connection: { id: connection.connectionId },
        endpoint: { id: endpointId },
        secret: { id },
        code: error.code,
        keyId: error.keyId,
      },
      "signing secret not decrypted, not encrypted with the newest key",
    );
    return null;
  }
}
