import { execFile } from "node:child_process";
import { chmod, cp, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const DEV = "packages/dev";
/** What the service reads beside its sources. */
const FILES = ["functions", "migrations", "web/dist"];

/**
 * Compiles the service, and what starts it for tests, into JavaScript with the same folders, because Node runs no TypeScript below
 * `node_modules`. The service finds its files by their place beside the sources, so they are copied there
 * (docs/design/dev.md, "The service as it is").
 * @param folder of the package
 */
export async function buildDev(folder = DEV): Promise<void> {
  const dist = resolve(folder, "dist");
  await rm(dist, { recursive: true, force: true });
  await run(process.execPath, ["web/build/prepare.ts"]); // Builds the console unless it is built.
  // Another command checks the types.
  await compile("--project", DEV, "--noCheck", "--outDir", dist);
  await compile(...DECLARATIONS, "--outDir", dist);
  for (const file of FILES) await cp(file, join(dist, file), { recursive: true });
  const { name, version, license, type } = JSON.parse(await readFile("package.json", "utf8"));
  await writeFile(join(dist, "package.json"), JSON.stringify({ name, version, license, type }));
  await chmod(join(dist, DEV, "src/main.js"), 0o755);
}

const compile = (...args: string[]) => run(process.execPath, ["node_modules/typescript/bin/tsc", ...args]);

/** The types of what programs import. */
const DECLARATIONS = [
  join(DEV, "src/index.ts"),
  "--ignoreConfig",
  "--declaration",
  "--emitDeclarationOnly",
  "--noCheck",
  ...["--target", "esnext"],
  ...["--module", "nodenext"],
  ...["--types", "node"],
  ...["--rootDir", "."],
];

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildDev();
