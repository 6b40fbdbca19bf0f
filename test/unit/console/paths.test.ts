import { glob, readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { paths } from "../../../web/src/paths.ts";
import type { Floor } from "../../console/floor.ts";
import { PAGES } from "../../console/pages.ts";
import type { World } from "../../console/world.ts";

/** The patterns of all routes: `/orders/$orderId`. */
async function readPatterns(): Promise<string[]> {
  const patterns: string[] = [];
  for await (const file of glob("web/src/**/routes.ts"))
    patterns.push(
      ...[...(await readFile(file, "utf8")).matchAll(/\bpath: "([^"]+)"/g)].map(([, path = ""]) => path),
    );
  return patterns;
}

const matching = (pattern: string): RegExp => new RegExp(`^${pattern.replaceAll(/\$\w+/g, "[^/]+")}$`);

it("each address of the console has a route, and each route an address", async () => {
  const patterns = (await readPatterns()).map((pattern) => ({ pattern, matches: matching(pattern) }));
  const used = new Set<string>();
  // The id of an owner says what kind it is.
  for (const [name, build] of Object.entries(paths))
    for (const id of ["an id", "mer_id", "fac_id"]) {
      // Every function takes ids or a search; an id in the place of a search has no parameters.
      const [path = ""] = (build as (...ids: unknown[]) => string)(id, "another id").split("?");
      const found = patterns.find(({ matches }) => matches.test(path));
      expect(found, `${name}: ${path}`).toBeDefined();
      if (found !== undefined) used.add(found.pattern);
    }
  expect(patterns.map(({ pattern }) => pattern).filter((pattern) => !used.has(pattern))).toEqual([]);
});

/** A thing whose every member is such a thing, and an id as a text. */
const anything = (): unknown =>
  new Proxy({}, { get: (_, name) => (name === Symbol.toPrimitive ? () => "an-id" : anything()) });

it("each route has a page that is opened, checked by axe and drawn", async () => {
  const world = anything() as World & Floor; // The addresses of pages contain ids, and nothing else of it.
  const opened = PAGES.map(({ path }) => path(world).split(/[?#]/)[0] ?? "");
  // A page whose address has an id is not that of a route with a word in its place.
  const patterns = (await readPatterns()).toSorted((one, other) => countIds(one) - countIds(other));
  const routes = opened.map((path) => patterns.find((pattern) => matching(pattern).test(path)));
  expect(patterns.filter((pattern) => !routes.includes(pattern))).toEqual([]);
});

const countIds = (pattern: string): number => pattern.split("$").length;
