import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { packageFolder } from "../../scripts/install-packages.ts";
import { NODE_ENVIRONMENT } from "./node-environment.ts";

const run = promisify(execFile);
const SDK = "packages/sdk";

/** The archive, the files in it, and how to remove it. */
export type PackedSdk = { archive: string; files: string[]; remove(): Promise<void> };

/** Packs the SDK, as it is published. */
export async function packSdk(): Promise<PackedSdk> {
  const folder = await mkdtemp(join(tmpdir(), "partner-orders-sdk-"));
  const copy = join(folder, "sdk");
  // A copy, because `npm run check` may build in the folder of the sources at the same time.
  await cp(SDK, copy, { recursive: true, filter: (path) => !/\/(?:dist|node_modules)$/.test(path) });
  await run(process.execPath, [resolve("node_modules/typescript/bin/tsc"), "-p", copy]);
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder, copy], {
    env: { ...process.env, ...NODE_ENVIRONMENT },
  });
  const [{ filename, files }] = JSON.parse(stdout);
  return {
    archive: join(folder, filename),
    files: files.map(({ path }: { path: string }) => path),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** An empty folder beside the archive into which it is installed, without the network, with linked packages of test/release. */
export async function installSdk({ archive }: PackedSdk, linked: readonly string[] = []): Promise<string> {
  const folder = await mkdtemp(join(dirname(archive), "installed-"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", archive], {
    cwd: folder,
    env: { ...process.env, ...NODE_ENVIRONMENT },
  });
  await mkdir(join(folder, "node_modules/@hono"), { recursive: true });
  for (const name of linked)
    await symlink(resolve(String(packageFolder("test/release", name))), join(folder, "node_modules", name));
  return folder;
}
