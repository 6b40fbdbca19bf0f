import { execFile } from "node:child_process";
import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { installPackages, packageFolder } from "../install-packages.ts";

const run = promisify(execFile);
const HERE = "scripts/sdk";
const CLI = "packages/cli";

/**
 * Bundles the command line of partners with all that it imports, so that `npx` fetches one package. The libraries of `mcp` are
 * files of their own: they are five times as large as the rest, and other commands need not load them. The sources import those of
 * the SDK, the doctor and the tools, so neither tests nor examples need a build.
 * @param folder of the package
 */
export async function buildCli(folder = CLI): Promise<void> {
  installPackages(HERE);
  const esbuild = join(String(packageFolder(HERE, "esbuild")), "bin/esbuild");
  const dist = join(folder, "dist");
  await rm(dist, { recursive: true, force: true });
  const options = ["--bundle", "--splitting", "--platform=node", "--format=esm", "--target=node22"];
  const entry = `partner-orders=${join(CLI, "src/main.ts")}`;
  await run(esbuild, [entry, ...options, `--outdir=${dist}`, "--log-level=warning"]);
  await chmod(join(dist, "partner-orders.js"), 0o755);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildCli();
