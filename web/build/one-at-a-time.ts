import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const LOOK_MS = 200;

/**
 * Runs a build when no other process runs one under the same lock: two builds into one folder would remove each other's files.
 * The lock is a file that names its process. That of a process that has ended without removing it holds up nobody.
 */
export async function oneAtATime<Outcome>(lock: string, build: () => Promise<Outcome>): Promise<Outcome> {
  await mkdir(dirname(lock), { recursive: true });
  while (!(await take(lock))) await pause(LOOK_MS);
  try {
    return await build();
  } finally {
    await rm(lock, { force: true });
  }
}

/** A file that is complete before it has the name of the lock: another process reads who holds it. */
async function take(lock: string): Promise<boolean> {
  const own = `${lock}.${process.pid}`;
  await writeFile(own, String(process.pid));
  try {
    await link(own, lock);
    return true;
  } catch (error) {
    // Node throws errors with codes.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const holder = Number(await readFile(lock, "utf8").catch(() => process.pid));
    if (hasEnded(holder)) await rm(lock, { force: true });
    return false;
  } finally {
    await rm(own, { force: true });
  }
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0); // Signal 0 is not sent. It says whether it could be.
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH"; // Others' processes: EPERM.
  }
}
