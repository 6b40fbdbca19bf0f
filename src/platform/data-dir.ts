import { randomBytes } from "node:crypto";
import { access, constants, link, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ConfigError } from "./config.ts";
import { StartError } from "./environment.ts";

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

const RESTORE_KEY =
  "Put it back from a backup: without it, the signing secrets of endpoints and the one-time codes of people are lost (docs/operation.md, The key is lost).";

/** What the file of a secret contains, and what to do if it does not. */
const SECRETS = {
  "operator-token": {
    pattern: /^[\x21-\x7e]{16,}$/,
    remedy:
      "must contain at least 16 visible ASCII characters without spaces. Without the file, the next start generates a token.",
  },
  "webhook-secret-key": {
    pattern: /^[A-Za-z0-9+/_-]{43}=?$/,
    remedy: `is not a key that the service has generated. ${RESTORE_KEY}`,
  },
} as const;
type SecretName = keyof typeof SECRETS;

/** The file of a secret is missing or damaged, or cannot be read. */
export class SecretFileError extends StartError {}

/**
 * A secret that the service generates at its first start, and keeps in a file that only its user can read. Processes
 * that start together all get the secret that the first one has written.
 * @throws SecretFileError if the file contains something else
 */
export async function readOrMakeSecret(dataDir: string, name: SecretName): Promise<string> {
  const kept = await readSecret(dataDir, name);
  if (kept !== null) return kept;
  await makeDataDir(dataDir);
  const file = join(dataDir, name);
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
  return (await readSecret(dataDir, name)) ?? readOrMakeSecret(dataDir, name);
}

/** Returns null if there is none yet. @throws SecretFileError if the file contains something else, or cannot be read */
export async function readSecret(dataDir: string, name: SecretName): Promise<string | null> {
  const file = join(dataDir, name);
  const { pattern, remedy } = SECRETS[name];
  const text = await readTextFile(file).catch((error) => {
    throw error instanceof StartError ? new SecretFileError(error.message) : error;
  });
  if (text === null) return null;
  const secret = text.trim();
  if (!pattern.test(secret)) throw new SecretFileError(`${file} ${remedy}`);
  return secret;
}

/** Reads the key with which secrets in the database are encrypted: a new one would not decrypt them. @throws SecretFileError */
export async function requireSecretKey(dataDir: string, keyIds: readonly string[]): Promise<string> {
  const kept = await readSecret(dataDir, "webhook-secret-key");
  if (kept !== null) return kept;
  throw new SecretFileError(
    `${join(dataDir, "webhook-secret-key")} is missing: the key ${keyIds.join(", ")} of secrets in the database. ${RESTORE_KEY}`,
  );
}

/** The text of a file of `DATA_DIR`. Null if there is none. @throws StartError if it cannot be read, with its name */
export async function readTextFile(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // Node throws errors of the file system.
    if (code === "ENOENT") return null;
    if (code === "EISDIR") throw new StartError(`${file} must be a file, and is a folder.`);
    throw new StartError(`${file} cannot be read (${code}).`);
  }
}
