import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import type { WebhookContext } from "../context.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";
import { endpointFact } from "../endpoints/endpoint-fact.ts";
import { lockEndpoint } from "../endpoints/endpoints-sql.ts";
import { pauseEndpoint } from "../health/endpoint-health-sql.ts";
import { issueSecret } from "./issue-secret.ts";
import { deleteSecretsOfKey, listEndpointsOfKey } from "./lost-secrets-sql.ts";

/** Endpoints that are read at a time. Each is changed in a transaction of its own. */
const BATCH_SIZE = 200;

/**
 * Deletes the signing secrets that were encrypted with a lost key (decision 0224). An endpoint whose present secret was among
 * them gets a new one, which its partner does not know, and is paused: the partner rotates the secret and resumes. Returns how
 * many were paused or already were. A repetition continues where the first one ended, and changes nothing else.
 */
export async function replaceLostSecrets(
  context: WebhookContext,
  lostKeyId: string,
  by: Initiator,
): Promise<number> {
  let count = 0;
  for (;;) {
    const endpoints = await listEndpointsOfKey(context.db, lostKeyId, BATCH_SIZE);
    if (endpoints.length === 0) return count;
    for (const endpoint of endpoints) if (await replaceOf(context, endpoint, lostKeyId, by)) count += 1;
  }
}

/** Returns false if the endpoint still has its present secret, or is deleted. */
async function replaceOf(
  context: WebhookContext,
  key: EndpointKey,
  lostKeyId: string,
  by: Initiator,
): Promise<boolean> {
  const isReplaced = await inTransaction(context, async (tx) => {
    const endpoint = await lockEndpoint(tx, key, key.id);
    const deleted = await deleteSecretsOfKey(tx, key, lostKeyId);
    if (endpoint === null || !deleted.some(({ expiresAt }) => expiresAt === null)) return false;
    const now = context.clock.now();
    await issueSecret(tx, context, endpoint, now);
    await pauseEndpoint(tx, endpoint, "requested", now);
    await recordAudit(tx, context, by, endpointFact(endpoint, { lostKeyId }));
    return true;
  });
  if (isReplaced) context.signals.send("endpoints_changed", [key]);
  return isReplaced;
}
