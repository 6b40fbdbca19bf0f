import type { Context } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { type AuditFact, boundedDetails, cutText } from "./audit-entry.ts";
import { insertAuditEntries } from "./audit-sql.ts";
import type { Initiator } from "./initiator.ts";

/** Texts that a caller chooses may be longer. */
const NAME_MAX = 255;

/**
 * Records what an operation did. Call it in the transaction of the change, so that no change lacks its entry and no entry
 * lacks its change. A read is recorded before its response is sent. Decision 0070.
 */
export async function recordAudit(
  tx: Queryable,
  { clock, newId }: Pick<Context, "clock" | "newId">,
  { actor, requestId, action }: Initiator,
  ...facts: readonly AuditFact[]
): Promise<void> {
  const createdAt = clock.now();
  const common = {
    action,
    actor: { ...actor, name: actor.name === null ? null : cutText(actor.name, NAME_MAX) },
    requestId: requestId === null ? null : cutText(requestId, NAME_MAX),
    createdAt,
  };
  await insertAuditEntries(
    tx,
    facts.map(({ merchantId, connectionId = null, subject, ids, details = {} }) => ({
      ...common,
      id: newId(),
      merchantId,
      connectionId,
      subjectType: subject,
      subjectIds: ids,
      details: boundedDetails(details),
    })),
  );
}
