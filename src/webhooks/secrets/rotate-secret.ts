import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import { after, HOUR_MS } from "../../platform/time.ts";
import type { WebhookContext } from "../context.ts";
import type { Endpoint, EndpointKey } from "../endpoints/endpoint.ts";
import { endpointFact } from "../endpoints/endpoint-fact.ts";
import { lockEndpoint } from "../endpoints/endpoints-sql.ts";
import { issueSecret } from "./issue-secret.ts";
import { deleteOldSecrets, endSecrets } from "./secrets-sql.ts";

export const OVERLAP_HOURS_DEFAULT = 24;
export const OVERLAP_HOURS_MAX = 168;

/** Older secrets that sign beside the newest. Each adds a signature to every request. */
export const OLDER_SECRETS_MAX = 2;

/**
 * Gives an endpoint a new signing secret and returns it, this once. The older secrets also sign for `overlapHours`, but
 * none of them longer than before; 0 ends them at once. Concurrent rotations wait for each other, so the secret of the
 * last one is the newest (decision 0029). Null when there is no such endpoint.
 */
export async function rotateSecret(
  context: WebhookContext,
  key: EndpointKey,
  overlapHours: number,
  by: Initiator,
): Promise<{ endpoint: Endpoint; secret: string; previousExpiresAt: Date | null } | null> {
  const rotated = await inTransaction(context, async (tx) => {
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return null;
    const now = context.clock.now();
    const previousExpiresAt = after(now, Math.round(overlapHours * HOUR_MS));
    await endSecrets(tx, endpoint, previousExpiresAt);
    await deleteOldSecrets(tx, endpoint, { now, keptMax: OLDER_SECRETS_MAX });
    const secret = await issueSecret(tx, context, endpoint, now);
    await recordAudit(tx, context, by, endpointFact(endpoint, { overlapHours }));
    return { endpoint, secret, previousExpiresAt: previousExpiresAt > now ? previousExpiresAt : null };
  });
  if (rotated !== null) context.signals.send("endpoints_changed", [key]);
  return rotated;
}
