import type { Initiator } from "../audit/initiator.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { notFound, type Problem } from "../platform/wire/problems.ts";
import { type ApiKey, makeKey, type ShownKey } from "./api-key.ts";
import { lockConnection } from "./connections-sql.ts";
import { countKeys, insertKey } from "./keys-sql.ts";
import { limitReached, maximumOf } from "./limits.ts";

/**
 * Issues a key of a connection. Only this call returns the key itself. Only its hash is stored. The connection is locked,
 * so that concurrent requests cannot exceed the limit.
 */
export async function issueKey(
  context: Context,
  fields: Pick<ApiKey, "merchantId" | "connectionId" | "name" | "mode" | "expiresAt">,
  by: Initiator,
): Promise<{ key: string; issued: ShownKey } | Problem> {
  const { clock, newId } = context;
  return inTransaction(context, async (tx) => {
    const connection = await lockConnection(tx, fields);
    if (connection === null) return notFound("connection");
    const keysMax = maximumOf(connection.limits, "apiKeys");
    if ((await countKeys(tx, fields, keysMax)) >= keysMax) return limitReached("apiKeys", keysMax);
    const { key, prefix, hash } = makeKey(fields.mode);
    const issued: ApiKey = { ...fields, id: newId(), prefix, createdAt: clock.now(), revokedAt: null };
    await insertKey(tx, issued, hash);
    const { merchantId, connectionId, name, mode, expiresAt } = issued;
    await recordAudit(tx, context, by, {
      merchantId,
      connectionId,
      subject: "key",
      ids: [issued.id],
      details: { name, mode, prefix, expiresAt },
    });
    return { key, issued: { ...issued, lastUsedAt: null, replacedById: null } };
  });
}
