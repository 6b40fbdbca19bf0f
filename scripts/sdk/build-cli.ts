import { execFile } from "node:child_process";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { installPackages, packageFolder } from "../install-packages.ts";

const run = promisify(execFile);
const HERE = "scripts/sdk";
const CLI = "packages/cli";

/**
 * Bundles the command line of partners with all that it imports into one file, so that `npx` fetches one package. The sources
 * import those of the SDK and of the doctor, so neither tests nor examples need a build.
 * @param folder of the package
 */
export async function buildCli(folder = CLI): Promise<void> {
  installPackages(HERE);
  const esbuild = join(String(packageFolder(HERE, "esbuild")), "bin/esbuild");
  const outfile = join(folder, "dist/partner-orders.js");
  const options = ["--bundle", "--platform=node", "--format=esm", "--target=node22", `--outfile=${outfile}`];
  await run(esbuild, [join(CLI, "src/main.ts"), ...options, "--log-level=warning"]);
  await chmod(outfile, 0o755);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildCli();
