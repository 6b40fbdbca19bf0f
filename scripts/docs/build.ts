import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { oneAtATime } from "../../web/build/one-at-a-time.ts";
import { compressFiles } from "./compress.ts";
import type { Audience } from "./pages.ts";
import { stageSections, writeMarkdown, writeStaged } from "./stage.ts";

const STAGED = "dist/docs-source";
/** Where a site is built, by whom it is for. */
export const BUILT: Readonly<Record<Audience, string>> = { all: "dist/docs", partners: "dist/docs-public" };
/** Also VitePress has files of its own in one folder while it builds. */
const LOCK = "dist/docs.lock";
const STAMP = "sources.sha256";
const VITEPRESS = "node_modules/vitepress/bin/vitepress.js";

type BuildOptions = { readonly onlyIfChanged: boolean; readonly audience?: Audience };

export type BuildOutcome = "built" | "current" | "no-packages" | "failed";

/**
 * Builds the documentation as static files (docs/design/console.md, "Documentation site"). `DOCS_BASE` is the path below which
 * a host serves them: `/docs/` as the service does, if it is not set.
 */
export async function buildDocumentation({
  onlyIfChanged,
  audience = "all",
}: BuildOptions): Promise<BuildOutcome> {
  if (onlyIfChanged && (await readSources(audience)).isCurrent) return "current";
  // Packages for development are not installed in production, which serves files.
  if (!existsSync(VITEPRESS)) return "no-packages";
  return oneAtATime(LOCK, () => build({ onlyIfChanged, audience }));
}

async function readSources(audience: Audience) {
  const sections = await stageSections(audience);
  const hash = await hashOf(JSON.stringify(sections));
  const isCurrent = (await readFile(`${BUILT[audience]}/${STAMP}`, "utf8").catch(() => "")) === hash;
  return { sections, hash, isCurrent };
}

async function build({ onlyIfChanged, audience }: Required<BuildOptions>): Promise<BuildOutcome> {
  const { sections, hash, isCurrent } = await readSources(audience);
  if (onlyIfChanged && isCurrent) return "current"; // Another process has built it meantime.
  await writeStaged(STAGED, sections, audience);
  // The finished build takes the place of the old one, so that a service never serves half of it.
  const built = BUILT[audience];
  const fresh = `${built}-${process.pid}`;
  const args = [VITEPRESS, "build", "docs", "--outDir", resolve(fresh)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) {
    process.stderr.write(`${stdout}${stderr}`); // It prints progress and warnings that are of no use otherwise.
    await rm(fresh, { recursive: true, force: true });
    return "failed";
  }
  await writeMarkdown(fresh, sections);
  await compressFiles(fresh);
  await writeFile(`${fresh}/${STAMP}`, hash);
  await rm(built, { recursive: true, force: true });
  await rename(fresh, built);
  return "built";
}

/** Of all that the build depends on: the text of the pages, how they look, and where they are served. */
async function hashOf(pages: string): Promise<string> {
  const hash = createHash("sha256").update(`${process.env["DOCS_BASE"]}\n${pages}`);
  const files = [
    ...globSync("docs/.vitepress/**/*.{ts,css,svg}"),
    ...globSync("scripts/docs/**/*.ts"),
    ...globSync("docs/{examples/*,pictures/*,*.svg}"),
    ...globSync("openapi/*.{json,yaml}"),
    "package-lock.json",
  ];
  for (const file of files.sort()) hash.update(await readFile(file).catch(() => ""));
  return hash.digest("hex");
}
