import { mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeDataDir, readTextFile } from "../../../src/platform/data-dir.ts";
import { clusterIn } from "../../../src/platform/embedded-postgres/cluster.ts";
import { lockFile } from "../../../src/platform/embedded-postgres/embedded-postgres.ts";
import { connectToRunningServer, shutDown } from "../../../src/platform/embedded-postgres/server.ts";

/** The folder of one service, which no other process uses at the same time. */
export type DataFolder = {
  readonly path: string;
  readonly isTemporary: boolean;
  /** How far the clock was ahead when the folder was last used. */
  readonly aheadMs: number;
  keepAhead(aheadMs: number): Promise<void>;
  /** Removes it if it is temporary. */
  close(): Promise<void>;
};

const PREFIX = "partner-orders-dev-";
/** Marks the folder as one of this program, and keeps its time: ids and times that are stored must not be in the future. */
const CLOCK_FILE = "dev-clock.json";
const LOCK_FILE = "dev.lock";

/**
 * Opens a folder that this program has made, or makes one.
 * @throws Error if it contains something else, such as the data of a real service, or is in use
 */
export async function openDataFolder(path: string | undefined): Promise<DataFolder> {
  if (path === undefined) {
    await removeAbandoned();
    const temporary = await mkdtemp(join(tmpdir(), PREFIX));
    return open({ path: temporary, isTemporary: true, aheadMs: 0 });
  }
  await makeDataDir(path).catch((cause: unknown) => {
    throw new Error(`${path} cannot be created, or not be written to. Name another folder, or none.`, {
      cause,
    });
  });
  const aheadMs = await readAhead(path);
  if (aheadMs === null && (await readdir(path)).length > 0)
    throw new Error(
      `${path} contains something that is not of this program. Name a folder that is empty, does not exist, or was made by it.`,
    );
  return open({ path, isTemporary: false, aheadMs: aheadMs ?? 0 });
}

async function open({
  path,
  isTemporary,
  aheadMs,
}: Pick<DataFolder, "path" | "isTemporary" | "aheadMs">): Promise<DataFolder> {
  const keepAhead = async (ms: number): Promise<void> => {
    const file = join(path, CLOCK_FILE);
    await writeFile(`${file}.new`, JSON.stringify({ aheadMs: ms }));
    await rename(`${file}.new`, file);
  };
  const unlock = await lockFile(join(path, LOCK_FILE), 0);
  if (unlock === undefined)
    throw new Error(`${path} is in use by another run. Name another folder, or none.`);
  await keepAhead(aheadMs);
  return {
    path,
    isTemporary,
    aheadMs,
    keepAhead,
    close: async () => {
      unlock();
      if (isTemporary) await remove(path);
    },
  };
}

/**
 * Removes the temporary folders of processes that were killed, and stops their PostgreSQL. The operating system has released their
 * locks. What belongs to another user, or is being removed, is left.
 */
async function removeAbandoned(): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(PREFIX));
  for (const path of names.map((name) => join(tmpdir(), name)))
    await removeIfAbandoned(path).catch(() => undefined);
}

async function removeIfAbandoned(path: string): Promise<void> {
  if ((await readAhead(path)) === null) return; // It is being made, and not locked yet.
  const unlock = await lockFile(join(path, LOCK_FILE), 0);
  if (unlock === undefined) return;
  try {
    const cluster = clusterIn(path);
    const password = (await readTextFile(cluster.passwordFile))?.trim() ?? "";
    const server = await connectToRunningServer(cluster, password);
    await server?.connection.end();
    if (server !== undefined) await shutDown(server.pid);
  } finally {
    unlock();
    await remove(path);
  }
}

const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3 });

async function readAhead(path: string): Promise<number | null> {
  const text = await readFile(join(path, CLOCK_FILE), "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as { aheadMs: number }).aheadMs; // Our own file.
}
