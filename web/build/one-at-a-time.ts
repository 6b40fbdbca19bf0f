import { mkdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const LOOK_MS = 200;
const RENEW_MS = 1_000;
/** A build that has not renewed its lock for so long was killed. A bundler can keep a process busy for some seconds. */
const ABANDONED_MS = 30_000;

/**
 * Runs a build when no other process runs one under the same lock: two builds into one folder would remove each other's
 * files. The lock is a file that is renewed while the build runs. The number of a process would not tell whether it still
 * runs: containers use the same few numbers again.
 */
export async function oneAtATime<Outcome>(lock: string, build: () => Promise<Outcome>): Promise<Outcome> {
  await mkdir(dirname(lock), { recursive: true });
  while (!(await take(lock))) await pause(LOOK_MS);
  const renewal = setInterval(() => void renew(lock), RENEW_MS);
  try {
    return await build();
  } finally {
    clearInterval(renewal);
    await rm(lock, { force: true });
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, "", { flag: "wx" });
    return true;
  } catch (error) {
    // Node throws errors with codes.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const renewedAt = await stat(lock).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY, // Removed meantime.
    );
    if (Date.now() - renewedAt > ABANDONED_MS) await rm(lock, { force: true });
    return false;
  }
}

const renew = (lock: string): Promise<void> => utimes(lock, new Date(), new Date()).catch(() => undefined);
