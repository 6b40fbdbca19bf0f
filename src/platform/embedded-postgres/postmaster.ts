import { readFileSync } from "node:fs";
import { readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** The main process of a server. */
type Postmaster = { pid: number; port: number };

/**
 * The server that runs on the cluster, according to its `postmaster.pid`. Undefined if there is no such file, or it is
 * left over from a crash. PostgreSQL itself handles a file that names a process that has ended. We remove others, with which it
 * would not start. Call this only while holding the cluster's lock.
 */
export async function findPostmaster(clusterDirectory: string): Promise<Postmaster | undefined> {
  const named = await readPidFile(clusterDirectory);
  if (named === undefined) return undefined;
  const { pid, port } = named;
  if (port > 0 && isAlive(pid) && (await worksIn(pid, clusterDirectory)) !== false) return named;
  const isEmptyOrNonsense = pid === 0 || Number.isNaN(pid);
  if (isEmptyOrNonsense || isTaken(pid)) await removePidFile(clusterDirectory);
  return undefined;
}

/** The contents of `postmaster.pid`. Undefined if it is missing. Missing numbers are 0 or NaN. */
export async function readPidFile(clusterDirectory: string): Promise<Postmaster | undefined> {
  const text = await readFile(pidFileOf(clusterDirectory), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const [pid = 0, , , port = 0] = text.split("\n").map(Number);
  return { pid, port };
}

/** Call it only with the cluster's lock held: otherwise a server that has just started might lose its file. */
export const removePidFile = (clusterDirectory: string): Promise<void> =>
  rm(pidFileOf(clusterDirectory), { force: true });

/** Whether the process runs. A zombie process does not. */
export const isAlive = (pid: number): boolean => isTaken(pid) && !isZombie(pid);

/** Whether the process has this working directory, as a postmaster has. Undefined if that cannot be determined. */
export async function worksIn(pid: number, directory: string): Promise<boolean | undefined> {
  try {
    const theirs = await stat(`/proc/${pid}/cwd`, { bigint: true }); // Only Linux has it.
    const ours = await stat(directory, { bigint: true });
    return theirs.dev === ours.dev && theirs.ino === ours.ino;
  } catch {
    return undefined;
  }
}

const pidFileOf = (clusterDirectory: string): string => join(clusterDirectory, "postmaster.pid");

// Like PostgreSQL we take EPERM as a no: the process of another user is none of our servers. A negative number,
// which a server without a postmaster writes, would mean a group of processes; PostgreSQL deals with it.
function isTaken(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

function isZombie(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\)/s, ""));
  } catch {
    return false;
  }
}
