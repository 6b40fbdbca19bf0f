import type { TestService } from "./test-service.ts";

/** Resolves when this many statements wait for a lock; no statement in the test's own transaction may be among them. */
export async function untilBlocked(test: TestService, count: number): Promise<void> {
  // On Citus they wait on the nodes.
  const activity = (await test.db.isDistributed()) ? "citus_stat_activity" : "pg_stat_activity";
  for (;;) {
    const waiting = await test.db.query({
      name: "test-blocked-statements",
      text: `select pid from ${activity} where datname = current_database() and wait_event_type = 'Lock'`,
      values: [],
    });
    if (waiting.length >= count) return;
  }
}
