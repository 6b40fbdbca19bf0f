import { lockConnection } from "../../merchants/connections-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { inTransaction } from "../../platform/context.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import type { WebhookContext } from "../context.ts";
import { issueSecret } from "../secrets/issue-secret.ts";
import type { Endpoint, EndpointSettings } from "./endpoint.ts";
import { countEndpoints, insertEndpoint } from "./endpoints-sql.ts";

/** Decision 0029. */
export const ENDPOINTS_MAX = 200;

const LIMIT_REACHED: Problem = {
  code: "endpoint-limit-reached",
  detail: `The connection already has ${ENDPOINTS_MAX} webhook endpoints. Delete one first.`,
};

/**
 * Registers an endpoint. Returns its signing secret, this once; it is stored encrypted. The row of the connection is
 * locked, so that concurrent creations get different numbers and cannot exceed the limit.
 */
export async function createEndpoint(
  context: WebhookContext,
  connection: ConnectionKey,
  settings: EndpointSettings,
): Promise<{ endpoint: Endpoint; secret: string } | Problem> {
  const { clock, newId } = context;
  return inTransaction(context, async (tx) => {
    await lockConnection(tx, connection);
    const { live, lastNumber } = await countEndpoints(tx, connection);
    if (live >= ENDPOINTS_MAX) return LIMIT_REACHED;
    const now = clock.now();
    const endpoint: Endpoint = {
      ...settings,
      ...connection,
      id: newId(),
      number: lastNumber + 1,
      status: "active",
      pauseReason: null,
      pausedAt: null,
      createdAt: now,
      updatedAt: now,
    };
    await insertEndpoint(tx, endpoint);
    return { endpoint, secret: await issueSecret(tx, context, endpoint, now) };
  });
}
