import type { Context } from "../../platform/context.ts";
import { PROCESSES_SHOWN_MAX, type Process } from "./process.ts";
import { listProcesses } from "./processes-sql.ts";

/** Processes of the service that run now. One that was killed counts as running for a minute. */
export async function runningProcesses({ db, clock }: Pick<Context, "db" | "clock">): Promise<Process[]> {
  const processes = await listProcesses(db, PROCESSES_SHOWN_MAX, clock.now());
  return processes.filter(({ status }) => status === "running");
}
