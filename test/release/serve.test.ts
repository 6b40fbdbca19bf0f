import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/main-process.ts";

const SYSTEM_PATH = "/usr/bin:/bin";

/** What `npm run serve` starts where these Nodes are in the PATH, in this order; the first one is npm's. */
async function started(versions: Record<string, string>): Promise<string> {
  const home = await temporaryFolder();
  const folders: string[] = [];
  for (const [folder, version] of Object.entries(versions)) {
    const path = join(home, folder);
    await mkdir(path, { recursive: true });
    const script = `#!/bin/sh\nif [ "$1" = --version ]; then echo ${version}; else echo ${folder} "$@"; fi\n`;
    await writeFile(join(path, "node"), script, { mode: 0o755 });
    folders.push(path);
  }
  const PATH = [...folders, SYSTEM_PATH].join(":");
  return execFileSync("/bin/sh", ["scripts/serve.sh", "--x"], { env: { PATH }, encoding: "utf8" }).trim();
}

it.each<[name: string, versions: Record<string, string>, folder: string]>([
  ["the operator's Node before npm's", { "p/node_modules/.bin": "v24.1.0", own: "v24.0.0" }, "own"],
  ["a newer one", { "p/node_modules/.bin": "v24.1.0", own: "v26.3.0" }, "own"],
  [
    "npm's where the operator's is too old",
    { "p/node_modules/.bin": "v24.1.0", own: "v22.9.0" },
    "p/node_modules/.bin",
  ],
  [
    "npm's where the operator's is no Node",
    { "p/node_modules/.bin": "v24.1.0", own: "what" },
    "p/node_modules/.bin",
  ],
  ["the operator's first", { "p/node_modules/.bin": "v24.1.0", own: "v24.2.0", other: "v30.0.0" }, "own"],
])("npm run serve starts %s", async (_name, versions, folder) => {
  expect(await started(versions)).toBe(`${folder} bin/partner-orders.js --all-cores --x`);
});
