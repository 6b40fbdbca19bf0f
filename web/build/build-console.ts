import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { renewApiTypes } from "./api-types.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { publishBuild } from "./publish-build.ts";
import { hashSources, ROOT } from "./sources.ts";

const DIST = join(ROOT, "web/dist");
/** Beside the files that are served, not among them. */
const STAMP = "sources.sha256";

const LOCK = join(ROOT, "web/.build-lock");

export type BuildOutcome = "built" | "current" | "no-packages";

/**
 * Builds the console if its sources differ from those of the last build. Returns `no-packages` where its packages are not
 * installed: they are development dependencies, and production serves files (docs/design/console.md, "Built by npm ci").
 */
export async function buildConsole(): Promise<BuildOutcome> {
  if (await isCurrent(await hashSources())) return "current";
  const tools = await importTools();
  return tools === null ? "no-packages" : oneAtATime(LOCK, () => build(tools));
}

const isCurrent = async (hash: string): Promise<boolean> =>
  (await readFile(join(DIST, STAMP), "utf8").catch(() => "")) === hash;

async function build(tools: Tools): Promise<BuildOutcome> {
  const hash = await hashSources();
  if (await isCurrent(hash)) return "current"; // Another process has built it meantime.
  // Vite keeps what the environment says, and a test would build React for development: twice as large, and slower.
  process.env["NODE_ENV"] = "production";
  await renewApiTypes();
  const fresh = join(ROOT, `web/.build-${process.pid}`);
  await tools.build({
    configFile: join(ROOT, "web/vite.config.ts"),
    build: { outDir: fresh },
    logLevel: "warn",
  });
  await publishBuild(fresh, DIST);
  await writeFile(join(DIST, STAMP), hash);
  await rm(fresh, { recursive: true, force: true });
  return "built";
}

type Tools = NonNullable<Awaited<ReturnType<typeof importTools>>>;

/** Null if they are not installed. */
async function importTools() {
  try {
    const { build } = await import("vite");
    return { build };
  } catch (error) {
    // Node throws errors with codes.
    if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") return null;
    throw error;
  }
}
