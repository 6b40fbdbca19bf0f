import { processReachable } from "../../../distribution/reachable-merchants.ts";
import type { Context } from "../../../platform/context.ts";
import { after } from "../../../platform/time.ts";
import type { EndpointQueue } from "../endpoint-queue.ts";
import { ENDPOINT_LEASE_MS, RENEWED_BEFORE_MS } from "./lease.ts";
import { renewLeases } from "./lease-sql.ts";

/**
 * Renews the leases of a worker's endpoints that would expire soon, such as those whose receivers take their time. If that
 * fails, another worker may send to them as well: their deliveries have leases of their own.
 */
export async function renewExpiring(
  { db, clock, log }: Pick<Context, "db" | "clock" | "log">,
  workerId: string,
  queues: readonly EndpointQueue[],
): Promise<void> {
  const now = clock.now();
  const expiring = queues.filter(({ leasedUntil }) => leasedUntil < after(now, RENEWED_BEFORE_MS));
  if (expiring.length === 0) return;
  const endpointLeasedUntil = after(now, ENDPOINT_LEASE_MS);
  const renew = async (reachable: readonly EndpointQueue[]): Promise<readonly EndpointQueue[]> => {
    const endpoints = reachable.map(({ endpoint }) => endpoint);
    const renewed = new Set(await renewLeases(db, { workerId, endpointLeasedUntil }, endpoints));
    for (const queue of reachable)
      if (renewed.has(queue.endpoint.id)) queue.leasedUntil = endpointLeasedUntil;
    return reachable;
  };
  try {
    await processReachable(db, expiring, ({ endpoint }) => endpoint.merchantId, renew);
  } catch (err) {
    log.warn({ err, count: expiring.length }, "leases of endpoints not renewed");
  }
}
