import { vi } from "vitest";
import type { Queryable } from "../../src/platform/database/database.ts";
import type { TestService } from "./test-service.ts";

/** Longer than a statement takes to get to its lock on a busy machine, and less than a test has. */
const WAIT_MS = 60_000;

/** How many statements wait for a lock. */
export async function countBlocked(db: Queryable): Promise<number> {
  // On Citus they wait on the nodes.
  const activity = (await db.isDistributed()) ? "citus_stat_activity" : "pg_stat_activity";
  const waiting = await db.query({
    name: "test-blocked-statements",
    text: `select pid from ${activity} where datname = current_database() and wait_event_type = 'Lock'`,
    values: [],
  });
  return waiting.length;
}

/** Resolves when this many statements wait for a lock; no statement in the test's own transaction may be among them. */
export async function untilBlocked({ db }: Pick<TestService, "db">, count: number): Promise<void> {
  const areBlocked = async () => (await countBlocked(db)) >= count;
  await vi.waitUntil(areBlocked, { timeout: WAIT_MS, interval: 5 });
}
