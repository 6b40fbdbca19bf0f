import { type Context, inTransaction } from "../../platform/context.ts";
import type { Endpoint, EndpointKey, EndpointSettings } from "./endpoint.ts";
import { lockEndpoint, updateEndpointSettings } from "./endpoints-sql.ts";

/** Changes the given settings. Null when there is no such endpoint. */
export async function changeEndpoint(
  context: Context,
  key: EndpointKey,
  change: Partial<EndpointSettings>,
): Promise<Endpoint | null> {
  const changed = await inTransaction(context, async (tx) => {
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return null;
    const after: Endpoint = { ...endpoint, ...change, updatedAt: context.clock.now() };
    await updateEndpointSettings(tx, after, after, after.updatedAt);
    return after;
  });
  if (changed !== null) context.signals.send("endpoints_changed", [key]);
  return changed;
}
