import { randomBytes } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeDataDir } from "./data-dir.ts";

/**
 * A secret that the service generates at its first start, and keeps in a file that only its user can read. Processes
 * that start together all get the secret that the first one has written.
 */
export async function readOrMakeSecret(dataDir: string, name: string): Promise<string> {
  const file = join(dataDir, name);
  const kept = await readSecret(file);
  if (kept !== null) return kept;
  await makeDataDir(dataDir);
  const draft = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  try {
    await writeFile(draft, randomBytes(32).toString("base64url"), { mode: 0o600, flag: "wx", flush: true });
    // A link appears completely or not at all, and fails if another process was first.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  return (await readSecret(file)) ?? readOrMakeSecret(dataDir, name);
}

async function readSecret(file: string): Promise<string | null> {
  try {
    const secret = (await readFile(file, "utf8")).trim();
    if (secret === "")
      throw new Error(`${file} is empty. Remove it, and the next start generates a new one.`);
    return secret;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
