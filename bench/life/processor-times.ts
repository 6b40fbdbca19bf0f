import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Postgres } from "../site.ts";

/** Processor time since the start of each process, in microseconds. */
export type ProcessorTimes = { service: number; postgres: number; rest: number };

const MICROS_OF_TICK = 10_000;

/** Of the service, of all processes of PostgreSQL, and of the benchmark with the receiver. Only Linux has them; others have NaN. */
export async function readProcessorTimes(
  { dataDir }: Pick<Postgres, "dataDir">,
  { service, receiver }: { service: number | undefined; receiver: number | undefined },
): Promise<ProcessorTimes> {
  const [first = ""] = (await readFile(join(dataDir, "postgres/postmaster.pid"), "utf8")).split("\n");
  const postmaster = Number(first);
  const times: ProcessorTimes = { service: 0, postgres: 0, rest: 0 };
  if (process.platform !== "linux") return { service: Number.NaN, postgres: Number.NaN, rest: Number.NaN };
  for (const name of await readdir("/proc")) {
    const pid = Number(name);
    if (Number.isNaN(pid)) continue;
    const { parent, own, ofEnded } = await readTimes(pid);
    if (pid === postmaster) times.postgres += own + ofEnded;
    else if (parent === postmaster) times.postgres += own;
    else if (pid === service) times.service += own;
    else if (pid === receiver || pid === process.pid) times.rest += own;
  }
  return times;
}

/** A process that has just ended has none. */
async function readTimes(pid: number): Promise<{ parent: number; own: number; ofEnded: number }> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // Its name, in brackets, may have spaces.
  const [, parent, ...values] = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const at = (index: number): number => (values[index] ?? 0) * MICROS_OF_TICK;
  return { parent: parent ?? 0, own: at(9) + at(10), ofEnded: at(11) + at(12) };
}
