import { hostname } from "node:os";
import { readVersion } from "../platform/config.ts";
import type { Context } from "../platform/context.ts";
import { atMostEvery } from "../platform/log.ts";
import { pause } from "../platform/run-in-turn.ts";
import { before, MINUTE_MS } from "../platform/time.ts";
import type { WebhookContext } from "../webhooks/conditions-sql.ts";
import {
  deleteProcesses,
  HEARTBEAT_MS,
  type JobNotes,
  PROCESSES_KEPT_MS,
  type ProcessReport,
  upsertProcess,
} from "./processes-sql.ts";

export type Heartbeat = {
  /** Reports that the process has stopped. */
  stop(): Promise<void>;
};

const NAME_MAX = 255;

/**
 * Reports every five seconds that this process runs, and how its jobs do
 * (docs/design/database.md, "Processes report themselves"). A report that fails is left out: nothing but what operators see
 * depends on it.
 */
export function startHeartbeat(
  {
    db,
    clock,
    newId,
    config,
    log,
    secrets,
  }: Pick<WebhookContext, "db" | "clock" | "newId" | "config" | "log" | "secrets">,
  notes: JobNotes,
  everyMs: number = HEARTBEAT_MS,
): Heartbeat {
  const startedAt = clock.now();
  const self: Omit<ProcessReport, "seenAt" | "stoppedAt"> = {
    id: newId(),
    roles: [...config.roles],
    version: readVersion(),
    keyIds: secrets.keyIds,
    host: hostname().slice(0, NAME_MAX),
    pid: process.pid,
    startedAt,
  };
  const stopping = new AbortController();
  const logFailure = atMostEvery<unknown>(MINUTE_MS, (err, count) =>
    log.warn({ err, count }, "process not reported as running"),
  );
  const report = async (stoppedAt: Date | null): Promise<void> => {
    try {
      await upsertProcess(db, { ...self, seenAt: clock.now(), stoppedAt }, notes.list());
    } catch (err) {
      logFailure(err);
    }
  };
  const repeat = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await report(null);
      await pause(everyMs, stopping.signal);
    }
  };
  const beating = repeat();
  return {
    async stop() {
      stopping.abort();
      await beating;
      await report(clock.now());
    },
  };
}

const BATCH_SIZE = 1_000;

/** Deletes what is known of processes that were not seen for an hour. Returns how many they were. */
export async function purgeProcesses(
  { db, clock }: Pick<Context, "db" | "clock">,
  stopping?: AbortSignal,
): Promise<number> {
  const seenBefore = before(clock.now(), PROCESSES_KEPT_MS);
  let count = 0;
  for (;;) {
    const deleted = await deleteProcesses(db, seenBefore, BATCH_SIZE);
    count += deleted;
    if (deleted === 0 || stopping?.aborted) return count;
  }
}
