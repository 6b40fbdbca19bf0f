import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";

const MANTINE = "node_modules/@mantine/core";

/** Mantine's classes have hashed names. A component's code names those that its styles define. */
const classesIn = (text: string): Set<string> => new Set(text.match(/\bm_[0-9a-f]{6,8}\b/g));
const readAll = async (paths: readonly string[]): Promise<string> =>
  (await Promise.all(paths.map((path) => readFile(path, "utf8")))).join("\n");

let inCode: Set<string>;
let inStyles: Set<string>;
beforeAll(async () => {
  await promisify(execFile)(process.execPath, ["web/build/prepare.ts"]);
  const files: string[] = JSON.parse(await readFile("web/dist/assets.json", "utf8"));
  const built = (ending: string) =>
    readAll(files.filter((file) => file.endsWith(ending)).map((file) => `web/dist/assets/${file}`));
  inCode = classesIn(await built(".js"));
  inStyles = classesIn(await built(".css"));
});

it("each component of Mantine that the console has is styled", async () => {
  const defined = classesIn(await readFile(`${MANTINE}/styles.css`, "utf8"));
  const needed = [...inCode].filter((name) => defined.has(name));
  expect(needed.length).toBeGreaterThan(100);
  expect(needed.filter((name) => !inStyles.has(name))).toEqual([]);
});

it("no styles are loaded of a component that the console does not have", async () => {
  const imports = await readFile("web/src/shell/mantine-styles.ts", "utf8");
  const unneeded: string[] = [];
  for (const [, path = ""] of imports.matchAll(/"@mantine\/core\/(styles\/[A-Z][^"]+)"/g)) {
    const names = [...classesIn(await readFile(`${MANTINE}/${path}`, "utf8"))];
    if (!names.some((name) => inCode.has(name))) unneeded.push(path);
  }
  expect(unneeded).toEqual([]);
});
