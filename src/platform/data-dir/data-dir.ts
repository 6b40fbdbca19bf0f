import { mkdir } from "node:fs/promises";

/**
 * Creates `DATA_DIR` if it is missing. Other users cannot enter it: it contains secrets, and a lock that any reader
 * could keep. An existing folder keeps its permissions. PostgreSQL, which does not run as root, must pass through
 * the folder of root except on Linux.
 */
export async function makeDataDir(dataDir: string): Promise<void> {
  const passable = process.getuid?.() === 0 && process.platform !== "linux";
  await mkdir(dataDir, { recursive: true, mode: passable ? 0o711 : 0o700 });
}
