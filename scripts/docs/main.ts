import { spawnSync } from "node:child_process";
import { rm } from "node:fs/promises";
import { compressFiles } from "./compress.ts";
import { stageSections, writeMarkdown, writeStaged } from "./stage.ts";

const STAGED = "dist/docs-source";
const BUILT = "dist/docs";

/**
 * Builds the documentation as static files (decision 0130). `DOCS_BASE` is the path below which a host serves them: `/docs/`
 * as in the back office, if it is not set.
 */
const sections = await stageSections();
await writeStaged(STAGED, sections);
await rm(BUILT, { recursive: true, force: true });
const { status, stdout, stderr } = spawnSync(
  process.execPath,
  ["node_modules/vitepress/bin/vitepress.js", "build", "docs"],
  { encoding: "utf8" },
);
if (status === 0) {
  await writeMarkdown(BUILT, sections);
  await compressFiles(BUILT);
} else process.stderr.write(`${stdout}${stderr}`); // It prints progress and warnings that are of no use otherwise.
process.exitCode = status ?? 1;
