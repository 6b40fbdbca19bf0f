import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { toTypeId } from "../../platform/ids.ts";
import { notFound, type Problem } from "../../platform/wire/problems.ts";
import { type ApiKey, makeKey, type ShownKey } from "../api-key.ts";
import { lockConnection } from "../connections-sql.ts";
import { countKeys, insertKey, markKeyReplaced, readKey } from "../keys-sql.ts";
import { limitReached, maximumOf } from "../limits.ts";
import { type EndReason, endOfOverlap, renewedExpiry, whyNotRotatable } from "./validity.ts";

type RotatedKey = { readonly key: string; readonly issued: ShownKey; readonly previousExpiresAt: Date };

/**
 * Replaces a key by a new one with the same name and mode (decision 0143). The old one stays valid for the overlap, but never
 * longer than before. The connection is locked, so a key is rotated once: after a response that was lost, revoke the new key
 * and issue another.
 *
 * @param expiresAt undefined: as long after the rotation as the replaced key was given
 */
export async function rotateKey(
  context: Context,
  keyId: string,
  connection: ConnectionKey,
  { overlapHours, expiresAt }: { overlapHours: number; expiresAt: Date | null | undefined },
  by: Initiator,
): Promise<RotatedKey | Problem> {
  const { newId, clock } = context;
  const rotated = await inTransaction(context, async (tx): Promise<RotatedKey | Problem> => {
    const locked = await lockConnection(tx, connection);
    const old = await readKey(tx, keyId); // Under the lock: another rotation may have replaced it since.
    if (locked === null || old === null) return notFound("key");
    const now = clock.now();
    const reason = whyNotRotatable(old, now);
    if (reason !== null) return notRotatable(old, reason);
    const keysMax = maximumOf(locked.limits, "apiKeys");
    if ((await countKeys(tx, old, keysMax)) >= keysMax) return limitReached("apiKeys", keysMax);
    const { key, prefix, hash } = makeKey(old.mode);
    const { merchantId, connectionId, name, mode } = old;
    const issued: ApiKey = {
      id: newId(),
      merchantId,
      connectionId,
      name,
      mode,
      prefix,
      createdAt: now,
      expiresAt: expiresAt === undefined ? renewedExpiry(old, now) : expiresAt,
      revokedAt: null,
    };
    await insertKey(tx, issued, hash);
    const previousExpiresAt = endOfOverlap(old, overlapHours, now);
    await markKeyReplaced(tx, old.id, issued.id, previousExpiresAt);
    await recordAudit(tx, context, by, {
      merchantId,
      connectionId,
      subject: "key",
      ids: [issued.id, old.id],
      details: { name, mode, prefix, replaces: toTypeId("key", old.id), previousExpiresAt },
    });
    return { key, issued: { ...issued, lastUsedAt: null, replacedById: null }, previousExpiresAt };
  });
  context.signals.send("keys_changed", [connection]);
  return rotated;
}

const DETAILS: Record<EndReason, string> = {
  revoked: "The key was revoked. Issue a new one.",
  expired: "The key has expired. Issue a new one.",
  replaced:
    "The key was already rotated. Rotate the key that replaced it, or revoke both and issue a new one.",
};

const notRotatable = ({ replacedById }: ShownKey, reason: EndReason): Problem => ({
  code: "key-not-rotatable",
  detail: DETAILS[reason],
  members: { reason, replacedBy: replacedById === null ? null : toTypeId("key", replacedById) },
});
