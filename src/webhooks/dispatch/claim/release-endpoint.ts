import type { Context } from "../../../platform/context.ts";
import { groupCalls } from "../../../platform/database/group.ts";
import type { EndpointKey } from "../../endpoints/endpoint.ts";
import { releaseEndpoints } from "./lease-sql.ts";

/** Returns a function that ends a worker's lease of an endpoint, so that other workers need not wait until it expires. */
export function createEndpointRelease(
  { db, log }: Context,
  workerId: string,
): (endpoint: EndpointKey) => Promise<void> {
  const release = groupCalls<EndpointKey, void>({
    name: "release endpoints",
    run: async (endpoints) => {
      await releaseEndpoints(db, workerId, endpoints);
      return endpoints.map(() => undefined);
    },
    sizeMax: 256,
    concurrencyMax: 1,
  });
  return (endpoint) =>
    release(endpoint).catch((err: unknown) =>
      log.warn({ err, endpoint: { id: endpoint.id } }, "endpoint not released, its lease will expire"),
    );
}
