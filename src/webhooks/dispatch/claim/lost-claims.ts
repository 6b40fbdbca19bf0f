import { reachableOf } from "../../../distribution/reachable-merchants.ts";
import type { ConnectionKey } from "../../../platform/connection-key.ts";
import { type Database, isNodeLost } from "../../../platform/database/database.ts";
import { after, SECOND_MS } from "../../../platform/time.ts";
import { releaseLostClaims } from "./lost-claims-sql.ts";

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
 * Claims that failed in this process. The database may have stored them: the connection can break after the commit. No
 * process sends what is claimed in this way, because only this one knows the ids, and it got no deliveries for them. So it
 * releases them, and they are not delayed until the lease expires (decision 0183).
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
