import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The page names the first files of a build, and they name the others. */
const PAGE = "index.html";
const ASSETS = "assets";
/** The names of the files of the latest build, beside those that are served. */
const FILES = "assets.json";

/**
 * Lets a finished build take the place of the one in `folder`, which a service may be serving. The page comes last and at
 * once, when all files that it needs are there. The files of the build before stay until the next one: pages that are open
 * in browsers still load from them.
 */
export async function publishBuild(fresh: string, folder: string): Promise<void> {
  const target = join(folder, ASSETS);
  await mkdir(target, { recursive: true });
  const added = await readdir(join(fresh, ASSETS));
  const present = await readdir(target);
  const before = await readFiles(folder);
  for (const name of added) await rename(join(fresh, ASSETS, name), join(target, name));
  await rename(join(fresh, PAGE), join(folder, PAGE));
  const kept = new Set([...added, ...(before ?? present)]);
  await writeFile(join(folder, FILES), JSON.stringify(added));
  for (const name of present) if (!kept.has(name)) await rm(join(target, name));
}

/** Null: no build has stored them yet. */
async function readFiles(folder: string): Promise<string[] | null> {
  const text = await readFile(join(folder, FILES), "utf8").catch(() => null);
  return text === null ? null : JSON.parse(text); // Our own file.
}
