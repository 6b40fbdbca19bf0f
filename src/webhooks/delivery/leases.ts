import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { processReachable, reachableOf } from "../../platform/database/citus.ts";
import { type Database, isNodeLost } from "../../platform/database/database.ts";
import { groupCalls } from "../../platform/database/group.ts";
import { after, SECOND_MS } from "../../platform/time.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";
import {
  ENDPOINT_LEASE_MS,
  RENEWED_BEFORE_MS,
  releaseEndpoints,
  releaseLostClaims,
  renewLeases,
} from "./claim-sql.ts";
import type { EndpointQueue } from "./endpoint-queue.ts";

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

/** The claims of one statement. No other statement has their ids. */
type Claim = {
  readonly ids: readonly string[];
  readonly endpoints: readonly (ConnectionKey & { readonly endpointId: string })[];
};

/** The server may still run a statement whose connection is lost: up to its statement timeout, with some time to spare. */
const KEPT_MS = 15 * SECOND_MS;
/** More are forgotten, the oldest first: their leases expire. */
const CLAIMS_MAX = 256;

/**
 * Claims that failed in this process. The database may have stored them: the connection can break after the commit. No process
 * sends what is claimed in this way, because only this one knows the ids, and it got no deliveries for them. So it releases
 * them, and they are not delayed until the lease expires (docs/design/deliveries.md, "Leases").
 */
export class LostClaims {
  readonly #claims = new Map<Claim, Date>();

  add(claim: Claim, now: Date): void {
    this.#claims.set(claim, after(now, KEPT_MS));
    for (const oldest of this.#claims.keys()) {
      if (this.#claims.size <= CLAIMS_MAX) break;
      this.#claims.delete(oldest);
    }
  }

  /** Releases what was stored of them. Those that may still be stored are released again the next time. */
  async release(db: Database, now: Date): Promise<void> {
    const claims = [...this.#claims];
    if (claims.length === 0) return;
    const endpoints = new Map(
      claims.flatMap(([{ endpoints }]) => endpoints.map((each) => [each.endpointId, each])),
    );
    const isComplete = await releaseReachable(
      db,
      claims.flatMap(([{ ids }]) => ids),
      [...endpoints.values()],
    );
    if (isComplete) for (const [claim, until] of claims) if (until <= now) this.#claims.delete(claim);
  }
}

/**
 * While a node of Citus is down, claims of merchants on it fail again and again, and must delay no others. They are released
 * when it is back. Returns whether all were released.
 */
async function releaseReachable(
  db: Database,
  ids: readonly string[],
  endpoints: Claim["endpoints"],
): Promise<boolean> {
  try {
    await releaseLostClaims(db, ids, endpoints);
    return true;
  } catch (error) {
    if (!isNodeLost(error)) throw error;
    await releaseLostClaims(db, ids, await reachableOf(db, endpoints));
    return false;
  }
}

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
