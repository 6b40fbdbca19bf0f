import { mkdir } from "node:fs/promises";

/**
 * Creates `DATA_DIR` if it is missing, closed to other users: it has secrets in it, and a lock that any reader of it
 * could keep. One that is there stays as its owner made it. PostgreSQL, which does not run as root, must pass through
 * the folder of root except on Linux.
 */
export async function makeDataDir(dataDir: string): Promise<void> {
  const passable = process.getuid?.() === 0 && process.platform !== "linux";
  await mkdir(dataDir, { recursive: true, mode: passable ? 0o711 : 0o700 });
}
