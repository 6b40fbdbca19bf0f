import { chmod, open } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 25;
const SQLITE_BUSY = 5;

/**
 * Locks `path` against all other callers, in this and in other processes, until the returned function is called.
 * Returns undefined if another caller keeps the lock for longer than `timeoutMs`. The file is created if missing and
 * stays empty. Only its owner can open it: a reader could keep the lock as well.
 */
export async function lockFile(path: string, timeoutMs: number): Promise<(() => void) | undefined> {
  // Node has no file locks. But SQLite gets one from the operating system, which releases it when the process ends,
  // even after kill -9. A file with a process id could not distinguish an owner that has ended from a new process with the same
  // id, and breaking such a lock is itself a race.
  await makePrivate(path);
  const file = new DatabaseSync(path, { timeout: 0 });
  const deadline = Date.now() + timeoutMs;
  while (!tryLock(file)) {
    if (Date.now() > deadline) {
      file.close();
      return undefined;
    }
    await delay(POLL_MS);
  }
  return () => file.close();
}

function tryLock(file: DatabaseSync): boolean {
  try {
    // Without a journal file the lock writes nothing, so that a full disk does not prevent it.
    file.exec("pragma journal_mode = memory; begin exclusive");
    return true;
  } catch (error) {
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return false;
    file.close();
    throw error;
  }
}

/** Also changes a file that an earlier version created with other permissions. */
async function makePrivate(path: string): Promise<void> {
  await (await open(path, "a", 0o600)).close();
  await chmod(path, 0o600).catch(() => undefined); // Another user's file, such as root's, stays as it is.
}
