import { glob, readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { paths } from "../../../web/src/paths.ts";

/** The patterns of all routes: `/orders/$orderId`. */
async function readPatterns(): Promise<string[]> {
  const patterns: string[] = [];
  for await (const file of glob("web/src/**/routes.ts"))
    patterns.push(
      ...[...(await readFile(file, "utf8")).matchAll(/\bpath: "([^"]+)"/g)].map(([, path = ""]) => path),
    );
  return patterns;
}

it("each address of the console has a route, and each route an address", async () => {
  const patterns = (await readPatterns()).map((pattern) => ({
    pattern,
    matches: new RegExp(`^${pattern.replaceAll(/\$\w+/g, "[^/]+")}$`),
  }));
  const used = new Set<string>();
  for (const [name, build] of Object.entries(paths)) {
    // Every function takes ids or a search; an id in the place of a search has no parameters.
    const [path = ""] = (build as (...ids: unknown[]) => string)("an id", "another id").split("?");
    const found = patterns.find(({ matches }) => matches.test(path));
    expect(found, `${name}: ${path}`).toBeDefined();
    if (found !== undefined) used.add(found.pattern);
  }
  expect(patterns.map(({ pattern }) => pattern).filter((pattern) => !used.has(pattern))).toEqual([]);
});
