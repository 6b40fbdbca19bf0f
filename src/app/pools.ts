import type { DatabaseOptions, Pool } from "../platform/database/database.ts";

type PoolOptions = Pick<DatabaseOptions, "connectionsMax" | "statementTimeoutMs" | "lockTimeoutMs">;

/**
 * The connections to the database of each kind of work, so that one that is slow does not keep the others waiting
 * (decision 0066). A process opens those of its roles only, and each when it is first needed. `docs/operation.md` has
 * the sums.
 */
export const POOLS = {
  /** The start, signals to other processes and, in a worker, those of others. */
  service: { connectionsMax: 3, statementTimeoutMs: 15_000 },
  /** Partners: 4 groups of keys and 1 of their uses, 4 groups of orders, 1 of rate limits and 6 other calls. */
  partners: { connectionsMax: 16, statementTimeoutMs: 2_000 },
  /** Groups of new orders. An order that waits longer for a lock leaves its group. */
  creations: { connectionsMax: 2, statementTimeoutMs: 2_000, lockTimeoutMs: 100 },
  /** Partners' lists: 3 groups of product pages and 3 other lists. */
  lists: { connectionsMax: 6, statementTimeoutMs: 2_000 },
  /** Sign-in and sessions, which slow lists of the back office cannot take (decision 0155). */
  people: { connectionsMax: 3, statementTimeoutMs: 5_000 },
  "back-office": { connectionsMax: 6, statementTimeoutMs: 15_000 },
  jobs: { connectionsMax: 8, statementTimeoutMs: 15_000 },
  dispatcher: { connectionsMax: 6, statementTimeoutMs: 5_000 },
  /** Readiness and metrics. */
  health: { connectionsMax: 2, statementTimeoutMs: 5_000 },
} as const satisfies Record<string, PoolOptions>;

type PoolName = keyof typeof POOLS;

/** Opens a pool when it is first requested. */
export type Pools = {
  get(name: PoolName): Pool;
  /** The pools that have been requested. */
  readonly opened: ReadonlyMap<PoolName, Pool>;
  close(): Promise<void>;
};

export function createPools(open: (options: PoolOptions) => Pool): Pools {
  const opened = new Map<PoolName, Pool>();
  return {
    get(name) {
      const pool = opened.get(name) ?? open(POOLS[name]);
      opened.set(name, pool);
      return pool;
    },
    opened,
    close: async () => {
      await Promise.all([...opened.values()].map((pool) => pool.close()));
    },
  };
}
