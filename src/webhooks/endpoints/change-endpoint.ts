import { isDeepStrictEqual } from "node:util";
import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Endpoint, EndpointKey, EndpointSettings } from "./endpoint.ts";
import { auditedSettings, endpointFact } from "./endpoint-fact.ts";
import { lockEndpoint, updateEndpointSettings } from "./endpoints-sql.ts";

/** Changes the given settings. Null when there is no such endpoint. */
export async function changeEndpoint(
  context: Context,
  key: EndpointKey,
  change: Partial<EndpointSettings>,
  by: Initiator,
): Promise<Endpoint | null> {
  const changed = await inTransaction(context, async (tx) => {
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return null;
    const wanted: Endpoint = { ...endpoint, ...change };
    if (isDeepStrictEqual(wanted, endpoint)) return endpoint; // It leaves no entry in the audit log either.
    const after: Endpoint = { ...wanted, updatedAt: context.clock.now() };
    await updateEndpointSettings(tx, after, after, after.updatedAt);
    await recordAudit(tx, context, by, endpointFact(endpoint, auditedSettings(change)));
    return after;
  });
  if (changed !== null) context.signals.send("endpoints_changed", [key]);
  return changed;
}
