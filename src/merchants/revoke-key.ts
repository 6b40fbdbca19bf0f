import type { Initiator } from "../audit/initiator.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { ShownKey } from "./api-key.ts";
import { markKeyRevoked, readKey } from "./keys-sql.ts";

/** Revokes a key. Keeps the time of the first revocation if it is repeated. Null if there is no such key. */
export async function revokeKey(context: Context, keyId: string, by: Initiator): Promise<ShownKey | null> {
  const key = await inTransaction(context, async (tx) => {
    const revoked = await markKeyRevoked(tx, keyId, context.clock.now());
    if (revoked === null) return readKey(tx, keyId); // It is missing, or was revoked before.
    const { merchantId, connectionId, name, prefix } = revoked;
    await recordAudit(tx, context, by, {
      merchantId,
      connectionId,
      subject: "key",
      ids: [keyId],
      details: { name, prefix },
    });
    return revoked;
  });
  if (key !== null) context.signals.send("keys_changed", [key]);
  return key;
}
