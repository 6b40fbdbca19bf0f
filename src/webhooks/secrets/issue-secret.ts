import type { Queryable } from "../../platform/database/database.ts";
import type { WebhookContext } from "../context.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";
import { insertSecret } from "./secrets-sql.ts";
import { newSigningSecret } from "./signing-secret.ts";

/** Gives an endpoint a new signing secret, which is stored encrypted. Returns it: it is shown this once. */
export async function issueSecret(
  tx: Queryable,
  { newId, secrets }: WebhookContext,
  endpoint: EndpointKey,
  now: Date,
): Promise<string> {
  const secret = newSigningSecret();
  const sealed = secrets.seal(secret, endpoint.id);
  await insertSecret(tx, endpoint, { id: newId(), sealed, createdAt: now });
  return secret;
}
