import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Installs the packages of a folder that has a package.json and a lock file of its own, unless they are installed: tools that only
 * one command needs (docs/design/dependencies.md, "Packages of one command").
 */
export function installPackages(folder: string): void {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  // Several versions of a package have names of their own: `npm:package@version`.
  const missing = Object.entries<string>(dependencies).filter(
    ([name, version]) => installedVersion(folder, name) !== version.replace(/^npm:.*@/, ""),
  );
  if (missing.length === 0) return;
  process.stderr.write(`Installing the packages of ${folder} ...\n`);
  // No tool needs a script at its installation. The output is for people, and that of the caller may be for programs.
  const args = ["ci", "--ignore-scripts", "--omit=peer", "--no-audit", "--no-fund"];
  const { status } = spawnSync("npm", args, { cwd: folder, env: ownEnvironment(), stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error(`npm ci failed in ${folder}.`);
}

/** The folder of a package, as a module in `folder` finds it. */
export function packageFolder(folder: string, name: string): string | null {
  for (let from = resolve(folder); ; from = dirname(from)) {
    const found = join(from, "node_modules", name);
    if (readVersion(found) !== null) return found;
    if (from === dirname(from)) return null;
  }
}

function installedVersion(folder: string, name: string): string | null {
  const found = packageFolder(folder, name);
  return found === null ? null : readVersion(found);
}

function readVersion(folder: string): string | null {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;
  } catch {
    return null;
  }
}

/** npm tells its scripts which project they belong to. The folder is another project. */
const ownEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(?:package|lifecycle|config_local_prefix|config_prefix|config_omit)/.test(name),
    ),
  );

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const folder of process.argv.slice(2)) installPackages(folder);
