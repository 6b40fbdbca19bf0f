import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** One line a migration, as `sha256sum --check` reads it. Beside the folder, because all files in it are migrations. */
export const MANIFEST = "migrations.sha256";

/** Checksums by path. */
export type Checksums = ReadonlyMap<string, string>;

/** The checksums of the files as they are; Windows line ends count as `\n`. */
export async function readMigrations(): Promise<Checksums> {
  const paths = (await readdir("migrations")).sort().map((name) => `migrations/${name}`);
  return new Map(
    await Promise.all(paths.map(async (path) => [path, checksumOf(await readFile(path, "utf8"))] as const)),
  );
}

const checksumOf = (text: string): string =>
  createHash("sha256").update(text.replaceAll("\r\n", "\n")).digest("hex");

/** The sealed checksums. */
export const readManifest = async (): Promise<Checksums> => parseManifest(await readFile(MANIFEST, "utf8"));

/** The manifest of the last commit: what it names may have been applied to a database anywhere. */
const readCommittedManifest = (): Promise<Checksums> =>
  promisify(execFile)("git", ["show", `HEAD:${MANIFEST}`]).then(
    ({ stdout }) => parseManifest(stdout),
    () => new Map(), // There is none yet.
  );

const parseManifest = (text: string): Checksums =>
  new Map([...text.matchAll(/^(\w{64}) {2}(.+)$/gm)].map(([, checksum = "", path = ""]) => [path, checksum]));

/** Migrations that are not as they were sealed, each with the way out. */
export const findChangedMigrations = (migrations: Checksums, sealed: Checksums): string[] =>
  [...sealed]
    .filter(([path, checksum]) => migrations.get(path) !== checksum)
    .map(
      ([path]) =>
        `${path} was ${migrations.has(path) ? "changed" : "removed"} after it was sealed. ` +
        "Databases that have applied it would differ from new ones: restore it, and write a new migration.",
    );

export const findUnsealedMigrations = (migrations: Checksums, sealed: Checksums): string[] =>
  [...migrations.keys()]
    .filter((path) => !sealed.has(path))
    .map((path) => `${path} is not sealed: run \`npm run migrations:seal\` before the commit`);

/** Adds what is new to the manifest, and renews what is not committed yet. */
async function seal(): Promise<void> {
  const migrations = await readMigrations();
  const changed = findChangedMigrations(migrations, await readCommittedManifest());
  if (changed.length > 0) {
    process.stderr.write(`${changed.join("\n")}\n`);
    process.exitCode = 1;
    return;
  }
  await writeFile(MANIFEST, [...migrations].map(([path, checksum]) => `${checksum}  ${path}\n`).join(""));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await seal();
