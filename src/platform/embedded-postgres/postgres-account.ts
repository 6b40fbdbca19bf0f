import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { StartError } from "../environment/start-error.ts";

/** The user and group that PostgreSQL runs as, if they differ from those of this process. */
export type Account = { uid: number; gid: number };

/**
 * PostgreSQL does not run as root. For root, this is the owner of the cluster if there is one, otherwise the user
 * `postgres`, otherwise `nobody`. For other users it is undefined: PostgreSQL runs as the same user.
 * @throws Error if root finds no such user.
 */
export async function postgresAccount(clusterDirectory: string): Promise<Account | undefined> {
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
  account: Account | undefined,
): Promise<void> {
  if (account === undefined || (await ownerOf(clusterDirectory)) !== undefined) return;
  throw new StartError(
    `The files in ${clusterDirectory} belong to root, and PostgreSQL does not run as root. ` +
      `Give them to its user: chown -R ${account.uid}:${account.gid} ${clusterDirectory}. Copy a backup with its owners: cp -a.`,
  );
}

/** Whether the account can run this program. True without an account. */
export async function canRun(
  account: Account | undefined,
  program: string,
  ...args: string[]
): Promise<boolean> {
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
export async function reachablePath(directory: string, account: Account | undefined): Promise<ReachablePath> {
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

async function ownerOf(directory: string): Promise<Account | undefined> {
  const found = await stat(directory).catch(() => undefined);
  return found === undefined || found.uid === 0 ? undefined : { uid: found.uid, gid: found.gid };
}

async function accountNamed(name: string): Promise<Account | undefined> {
  const users = (await readFile("/etc/passwd", "utf8").catch(() => ""))
    .split("\n")
    .map((line) => line.split(":"));
  const [, , uid, gid] = users.find(([userName]) => userName === name) ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}
