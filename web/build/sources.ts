import { createHash } from "node:crypto";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the project. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Everything that a build depends on, but for packages, whose versions are in the last file. */
const SOURCES = [
  "web/src/**/*",
  "packages/signature-doctor/*",
  "web/build/**/*",
  "web/index.html",
  "web/vite.config.ts",
  "openapi/back-office.json",
  "package-lock.json",
];

/** Made from the description. */
const isMade = (path: string): boolean => /schema\.d\.ts[.\d]*$/.test(path);

/**
 * A hash over the names and contents of all sources. Times of change would differ between a clone and a copy, and would
 * miss a change of branch.
 */
export async function hashSources(): Promise<string> {
  const paths: string[] = [];
  for await (const entry of glob(SOURCES, { cwd: ROOT, withFileTypes: true }))
    if (entry.isFile()) paths.push(join(entry.parentPath, entry.name));
  const hash = createHash("sha256");
  for (const path of paths.filter((each) => !isMade(each)).sort())
    hash
      .update(path.slice(ROOT.length))
      .update("\0")
      .update(await readFile(path))
      .update("\0");
  return hash.digest("hex");
}
