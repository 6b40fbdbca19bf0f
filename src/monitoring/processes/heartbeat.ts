import { hostname } from "node:os";
import { readVersion } from "../../platform/config.ts";
import type { Context } from "../../platform/context.ts";
import { atMostEvery } from "../../platform/log.ts";
import { pause } from "../../platform/pause.ts";
import { MINUTE_MS } from "../../platform/time.ts";
import type { JobNotes } from "./job-runs.ts";
import { HEARTBEAT_MS, type ProcessReport } from "./process.ts";
import { upsertProcess } from "./processes-sql.ts";

export type Heartbeat = {
  /** Reports that the process has stopped. */
  stop(): Promise<void>;
};

const NAME_MAX = 255;

/**
 * Reports every ten seconds that this process runs, and how its jobs do (decision 0145). A report that fails is left
 * out: nothing but what operators see depends on it.
 */
export function startHeartbeat(
  { db, clock, newId, config, log }: Pick<Context, "db" | "clock" | "newId" | "config" | "log">,
  notes: JobNotes,
  everyMs: number = HEARTBEAT_MS,
): Heartbeat {
  const startedAt = clock.now();
  const self: Omit<ProcessReport, "seenAt" | "stoppedAt"> = {
    id: newId(),
    roles: [...config.roles],
    version: readVersion(),
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
