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

/** Rows locked in one transaction: small enough that it is short. */
const BATCH_SIZE = 200;

/**
 * Seals anew what was sealed with another key than the newest, so that the older key can be taken away; answers how
 * many secrets. What cannot be opened is told and left as it is: the fault is in that row, or the key is one that a
 * process with a newer configuration has used.
 */
export async function resealSecrets(context: WebhookContext, stopping?: AbortSignal): Promise<number> {
  let count = 0;
  for (const connectionId of await listConnectionsWithOlderKeys(context.db, context.secrets.keyId)) {
    let position: LockedSecret | null = null;
    do {
      if (stopping?.aborted) return count;
      const batch = await resealBatch(context, connectionId, position);
      count += batch.resealed;
      position = batch.last;
    } while (position !== null);
  }
  return count;
}

/** Answers where it has come to; null at the end. Rotations wait for the row locks, and then see the new text. */
const resealBatch = (
  context: WebhookContext,
  connection: ConnectionKey,
  after: LockedSecret | null,
): Promise<{ resealed: number; last: LockedSecret | null }> =>
  inTransaction(context, async (tx: Queryable) => {
    const keyId = context.secrets.keyId;
    const secrets = await lockSecrets(tx, connection, { keyId, after, limit: BATCH_SIZE });
    const resealed = secrets.flatMap((secret) => {
      const sealed = sealAnew(context, connection, secret);
      return sealed === null ? [] : [{ ...secret, sealed }];
    });
    await storeSealed(tx, connection, resealed);
    return { resealed: resealed.length, last: secrets.at(-1) ?? null };
  });

function sealAnew(
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
      "a signing secret cannot be opened, so it was not sealed anew",
    );
    return null;
  }
}
