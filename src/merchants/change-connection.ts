import { isDeepStrictEqual } from "node:util";
import type { Initiator } from "../audit/initiator.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { Connection } from "./connection.ts";
import { lockConnection, updateConnection } from "./connections-sql.ts";
import { changedOverrides, type LimitName } from "./limits.ts";
import type { ReviewPolicy } from "./review-policy.ts";

/**
 * Changes the given fields. Returns null if there is no such connection. Concurrent changes wait for each other, so
 * none overwrites a field of another.
 */
export async function changeConnection(
  context: Context,
  key: ConnectionKey,
  {
    limits = {},
    ...change
  }: { name?: string; reviewPolicy?: ReviewPolicy; limits?: { [Name in LimitName]?: number | null } },
  by: Initiator,
): Promise<Connection | null> {
  return inTransaction(context, async (tx) => {
    const connection = await lockConnection(tx, key);
    if (connection === null) return null;
    const { name, reviewPolicy } = { ...connection, ...change };
    const changed: Connection = {
      ...connection,
      name,
      reviewPolicy,
      limits: changedOverrides(connection.limits, limits),
    };
    if (isDeepStrictEqual(changed, connection)) return connection; // It leaves no entry in the audit log either.
    await updateConnection(tx, changed);
    const fact = { ...key, subject: "con", ids: [key.connectionId] } as const;
    await recordAudit(tx, context, by, { ...fact, details: { ...change, ...limits } });
    return changed;
  });
}
