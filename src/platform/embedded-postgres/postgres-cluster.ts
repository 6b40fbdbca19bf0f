import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chown, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { readTextFile } from "../data-dir/text-file.ts";
import { StartError } from "../environment/start-error.ts";
import { type Account, reachablePath } from "./postgres-account.ts";
import type { PostgresBinaries } from "./postgres-binaries.ts";

/** The paths of a cluster. All are absolute. */
export type Cluster = {
  dataDir: string;
  /** PostgreSQL's own data directory. */
  directory: string;
  passwordFile: string;
  logFile: string;
  lockFile: string;
};

export const SUPERUSER = "postgres";

export const clusterIn = (dataDir: string): Cluster => ({
  dataDir,
  directory: join(dataDir, "postgres"),
  passwordFile: join(dataDir, "postgres-password"),
  logFile: join(dataDir, "postgres.log"),
  lockFile: join(dataDir, "postgres.lock"),
});

/** Whether the cluster has been created. Then it is complete. */
export const isCreated = ({ directory }: Cluster): boolean => existsSync(join(directory, "PG_VERSION"));

/** The folder of the cluster does not exist. */
export class MissingClusterError extends Error {}

/** For a command that creates no database. @throws MissingClusterError */
export function rejectMissing(cluster: Cluster): void {
  if (isCreated(cluster)) return;
  throw new MissingClusterError(
    `There is no database in ${cluster.directory}: start the service, or run: npm run cli -- migrate`,
  );
}

/** For a running service, which must not make an empty database of its own. @throws MissingClusterError */
export function rejectDisappeared(cluster: Cluster): void {
  if (isCreated(cluster)) return;
  throw new MissingClusterError(
    `The database was in ${cluster.directory} and has disappeared while the service ran: put the folder back, or set DATA_DIR to where it is, and start again.`,
  );
}

/** @throws StartError if there is a cluster without its password */
export async function readOrMakePassword(cluster: Cluster): Promise<string> {
  const { passwordFile, directory } = cluster;
  const kept = (await readTextFile(passwordFile))?.trim() ?? "";
  if (kept !== "") return kept;
  if (isCreated(cluster)) {
    throw new StartError(
      `The password of the database in ${directory} is missing: put ${passwordFile} back from a backup.`,
    );
  }
  const password = randomBytes(24).toString("base64url");
  await writeFile(`${passwordFile}.new`, `${password}\n`, { mode: 0o600, flush: true });
  await rename(`${passwordFile}.new`, passwordFile); // At once, so that a crash leaves no empty password.
  return password;
}

const UNFINISHED = "postgres-unfinished-";

/**
 * Creates `cluster.directory`, owned by the account. Call it with the cluster's lock held.
 * @param options.sync false trades safety in a crash of the machine for speed.
 * @throws Error with the message of initdb.
 */
export async function createCluster(options: {
  cluster: Cluster;
  password: string;
  binaries: PostgresBinaries;
  account: Account | undefined;
  sync: boolean;
}): Promise<void> {
  const { cluster, password, binaries, account, sync } = options;
  await removeUnfinished(cluster.dataDir);
  const unfinished = await mkdtemp(join(cluster.dataDir, UNFINISHED));
  try {
    const directory = join(unfinished, "cluster");
    const passwordFile = join(unfinished, "password");
    await mkdir(directory, { mode: 0o700 });
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (account !== undefined) {
      for (const path of [unfinished, directory, passwordFile]) await chown(path, account.uid, account.gid);
    }
    const { cwd, path } = await reachablePath(directory, account);
    const flags = [
      `--pgdata=${path}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${path}/../password`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      // Sorts the same on every machine and operating system, and supports letters beyond ASCII.
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--locale=C",
      "--no-instructions",
      ...(sync ? [] : ["--no-sync"]),
    ];
    await promisify(execFile)(binaries.initdb, flags, { ...account, cwd, env: postgresEnvironment() });
    // Only a complete cluster gets this name. After a crash, the next start creates a new one.
    await rename(directory, cluster.directory);
  } catch (cause) {
    throw new StartError(
      `PostgreSQL could not create its cluster in ${cluster.directory}. ${messageOf(cause)}`,
      {
        cause,
      },
    );
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

// For a program that has failed this is its command line and what it wrote to standard error.
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Without variables that would change what PostgreSQL does, and without the service's secrets. */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  const kept = ["PATH", "LD_LIBRARY_PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot"];
  const entries = Object.entries(process.env).filter(([name]) => kept.includes(name));
  return { ...Object.fromEntries(entries), LC_ALL: "C" };
}

async function removeUnfinished(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(UNFINISHED)) continue;
    // An initdb that has outlived its service may still be writing there; then a later start removes the rest.
    await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => {});
  }
}
