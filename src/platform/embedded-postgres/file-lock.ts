import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 25;
const SQLITE_BUSY = 5;

/**
 * Holds `path` locked against all other callers, in this and in other processes, until the returned function is
 * called. Undefined when somebody else holds it for longer than `timeoutMs`. The file is created when missing and
 * stays empty.
 */
export async function lockFile(path: string, timeoutMs: number): Promise<(() => void) | undefined> {
  // Node has no file locks of its own, but SQLite takes one from the operating system, which drops it together
  // with the process, even at kill -9. A file with a process id in it could not tell a dead holder from a new
  // process with the same id, and breaking such a lock is a race of its own.
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
    file.exec("begin exclusive");
    return true;
  } catch (error) {
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return false;
    file.close();
    throw error;
  }
}
