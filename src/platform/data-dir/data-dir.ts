import { access, constants, mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ConfigError } from "../config.ts";

/**
 * Creates `DATA_DIR` if it is missing, and checks that the service may write to it. Other users cannot enter it: it contains
 * secrets, and a lock that any reader could keep. An existing folder keeps its permissions. PostgreSQL, which does not run as
 * root, must pass through the folder of root except on Linux.
 * @throws ConfigError
 */
export async function makeDataDir(dataDir: string): Promise<void> {
  const passable = process.getuid?.() === 0 && process.platform !== "linux";
  try {
    await makeFolder(resolve(dataDir), passable ? 0o711 : 0o700);
    await access(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { message } = error as NodeJS.ErrnoException; // Node throws errors of the system.
    throw new ConfigError([
      `DATA_DIR must be a folder that exists or can be created, and that can be written to: ${message}.`,
    ]);
  }
}

/** Node's own recursion never ends where the system permits no new folder, as in /proc. */
async function makeFolder(path: string, mode: number): Promise<void> {
  if (await isFolder(path)) return;
  if (dirname(path) !== path) await makeFolder(dirname(path), mode);
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (!(await isFolder(path))) throw error; // Another process may have created it.
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
