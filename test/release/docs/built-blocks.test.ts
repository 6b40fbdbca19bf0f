import { mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { runIn } from "../../support/block-runs.ts";
import { blocksOfPages } from "../../support/code-blocks.ts";
import { checkOut } from "../../support/image-root.ts";
import { temporaryFolder } from "../../support/main-process.ts";

/** On a busy machine: the documentation is built. */
const BUILD_MS = 300_000;

/** A checkout that a command may change, with the packages of this one. */
async function createCheckout(): Promise<string> {
  const folder = await temporaryFolder();
  await checkOut(folder);
  await mkdir(join(folder, "node_modules"));
  for (const name of await readdir("node_modules"))
    await symlink(resolve("node_modules", name), join(folder, "node_modules", name));
  return folder;
}

it("the command of a page builds the documentation for the root of another host", {
  timeout: BUILD_MS,
}, async () => {
  const blocks = blocksOfPages("build").flatMap(([path, found]) => found.map(({ code }) => ({ path, code })));
  expect(blocks.map(({ path }) => path)).toEqual(["docs/deployment.md"]);
  const folder = await createCheckout();
  for (const { code } of blocks) await runIn(folder, code);
  const page = await readFile(join(folder, "dist/docs-public/partners/orders.html"), "utf8");
  const own = [...page.matchAll(/ (?:href|src)="(\/[^"]*)"/g)].map(([, path = ""]) => path);
  expect(own.filter((path) => path.startsWith("/docs/"))).toEqual([]);
  const files = own
    .map((path) => path.replace(/[#?].*$/, ""))
    .map((path) => (path.endsWith("/") ? `${path}index.html` : path));
  for (const path of files)
    expect(await readFile(join(folder, "dist/docs-public", path)), path).toBeDefined();
  expect(files.length).toBeGreaterThan(10);
});
