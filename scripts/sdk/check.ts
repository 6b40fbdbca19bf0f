import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { installPackages, packageFolder } from "../install-packages.ts";
import { buildCli } from "./build-cli.ts";
import { buildDev } from "./build-dev.ts";

// Builds the packages of partners, and checks what `npm run check` can: the size of the SDK, and that every kind of program can import it
// and the service for tests, with their types.
const HERE = "scripts/sdk";
const SDK = "packages/sdk";
const DEV = "packages/dev";
const BYTES_MAX = 12 * 1_024;

const run = promisify(execFile);
const installed = (name: string, program: string) => join(String(packageFolder(HERE, name)), program);

try {
  await rm(join(SDK, "dist"), { recursive: true, force: true });
  await run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", SDK]);
  installPackages(HERE);
  await buildDev();
  await Promise.all([checkSize(), buildCli(), ...[SDK, DEV].flatMap(checkImports)]);
} catch (error) {
  const {
    stdout = "",
    stderr = "",
    message,
  } = error as { stdout?: string; stderr?: string; message: string };
  process.stderr.write(`${stdout}${stderr}` || `${message}\n`);
  process.exitCode = 1;
}

function checkImports(folder: string) {
  const options = ["--pack", folder, "--profile", "esm-only", "--quiet"];
  return [
    run(process.execPath, [installed("publint", "src/cli.js"), "run", folder, "--strict"]),
    // An ES module can be required from Node 22 on, with its types from TypeScript 5.8 on.
    run(process.execPath, [installed("@arethetypeswrong/cli", "dist/index.js"), ...options]),
  ];
}

/** As a bundler would ship all of it. The samples of `testing` are not shipped. */
async function checkSize(): Promise<void> {
  const esbuild = installed("esbuild", "bin/esbuild");
  const { stdout } = await run(esbuild, [join(SDK, "dist/index.js"), "--bundle", "--minify", "--format=esm"]);
  const size = gzipSync(stdout).length;
  if (size > BYTES_MAX) throw new Error(`The SDK has ${size} bytes, compressed; ${BYTES_MAX} are allowed.`);
}
