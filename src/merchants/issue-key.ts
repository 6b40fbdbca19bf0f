import type { Context } from "../platform/context.ts";
import { type ApiKey, makeKey } from "./api-key.ts";
import { insertKey } from "./keys-sql.ts";

/** Issues a key of a connection. Only this call returns the key itself. Only its hash is stored. */
export async function issueKey(
  { db, clock, newId }: Context,
  fields: Pick<ApiKey, "merchantId" | "connectionId" | "name" | "expiresAt">,
): Promise<{ key: string; issued: ApiKey }> {
  const { key, prefix, hash } = makeKey();
  const issued: ApiKey = { ...fields, id: newId(), prefix, createdAt: clock.now(), revokedAt: null };
  await insertKey(db, issued, hash);
  return { key, issued };
}
