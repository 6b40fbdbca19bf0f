import { existsSync, globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { posix } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { buildDocumentation } from "../../../scripts/docs/build.ts";
import { PROBLEMS } from "../../../src/platform/wire/problems.ts";

const BUILT = "dist/docs";
/** On a busy machine; it takes seconds if something has changed, and nothing otherwise. */
const BUILD_MS = 300_000;

let pages: Map<string, string>;

beforeAll(async () => {
  expect(await buildDocumentation({ onlyIfChanged: true })).not.toBe("failed");
  pages = new Map(
    globSync("**/*.html", { cwd: BUILT }).map((path) => [path, readFileSync(`${BUILT}/${path}`, "utf8")]),
  );
}, BUILD_MS);

/** The values of an attribute in all pages, each with its page. */
const attributes = (name: string) =>
  [...pages].flatMap(([page, html]) =>
    [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, "g"))].map(([, value = ""]) => ({ page, value })),
  );

describe("the built documentation", () => {
  it("has no script, no style and no handler within a page, which its policy forbids", () => {
    for (const [page, html] of pages) {
      const scripts = [...html.matchAll(/<script[^>]*>([^<]*)/g)].filter(([, code]) => code !== "");
      expect(scripts, page).toEqual([]);
      expect(html, page).not.toMatch(/<style|<iframe|<[a-z][^>]* (?:style|on[a-z]+)="/);
    }
  });

  it("loads nothing from another host", () => {
    const loaded = [...attributes("src"), ...attributes("href")].filter(({ value }) =>
      /\.(?:js|css|svg|png|woff2)$/.test(value),
    );
    expect(loaded.length).toBeGreaterThan(100);
    expect(loaded.filter(({ value }) => !value.startsWith("/docs/"))).toEqual([]);
    for (const file of globSync("**/*.css", { cwd: BUILT }))
      expect(readFileSync(`${BUILT}/${file}`, "utf8"), file).not.toMatch(/url\(["']?(?:https?:)?\/\//);
  });

  it("has only links that lead somewhere, to their headings as well", () => {
    const broken = attributes("href").filter(({ page, value }) => {
      if (/^\w+:/.test(value)) return false;
      const [path = "", anchor] = value.split("#");
      const folder = value.startsWith("/docs/") ? "" : posix.dirname(page);
      const target = path === "" ? page : posix.join(folder, path.replace(/^\/docs\//, ""));
      const file = target.endsWith("/") || target === "" || target === "." ? `${target}/index.html` : target;
      if (!existsSync(`${BUILT}/${file}`)) return true;
      const html = pages.get(posix.normalize(file).replace(/^\//, ""));
      return anchor !== undefined && anchor !== "" && !html?.includes(` id="${decodeURIComponent(anchor)}"`);
    });
    expect(broken).toEqual([]);
  });

  it("has every page of the folders for readers", () => {
    const sources = globSync("docs/{partners,merchants,warehouse,operators}/*.md");
    expect(sources.length).toBeGreaterThan(10);
    expect(sources.filter((source) => !pages.has(source.slice(5).replace(/md$/, "html")))).toEqual([]);
  });

  it("has the Markdown of each page, and lists it for programs", () => {
    const markdown = globSync("**/*.md", { cwd: BUILT }).filter((path) => path !== "SKILL.md");
    const expected = [...pages.keys()]
      .filter((page) => page !== "404.html")
      .map((page) => page.replace(/html$/, "md"));
    expect(markdown.toSorted()).toEqual(expected.toSorted());
    const list = readFileSync(`${BUILT}/llms.txt`, "utf8");
    const listed = [...list.matchAll(/\]\(([^)]+)\): \S/g)].map(([, path]) => path);
    expect(["index.md", ...listed].toSorted()).toEqual(markdown.toSorted());
  });

  it("has no link of the repository, and no comment of its sources as text", () => {
    for (const path of globSync("**/*.md", { cwd: BUILT })) {
      const text = readFileSync(`${BUILT}/${path}`, "utf8").replace(/^```.*?^```$/gms, "");
      const targets = [...text.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].map(([, target = ""]) => target);
      const missing = targets.filter((target) => !existsSync(posix.join(BUILT, posix.dirname(path), target)));
      expect(missing, path).toEqual([]);
    }
    for (const [page, html] of pages) expect(html, page).not.toMatch(/&lt;!--/);
  });
});

type Search = { search(words: string): { id: string }[] };

/** The index that readers load with their first search, with the library and the options of the theme. */
async function openSearch(): Promise<Search> {
  const [file = ""] = globSync(`${BUILT}/assets/chunks/@localSearchIndexroot.*.js`);
  const { default: index } = await import(`${process.cwd()}/${file}`);
  const ofVitePress = createRequire(createRequire(import.meta.url).resolve("vitepress/package.json"));
  return ofVitePress("minisearch").loadJSON(index, {
    fields: ["title", "titles", "text"],
    storeFields: ["title", "titles"],
    searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } },
  });
}

describe("the search", () => {
  it("finds the page of each problem by its code, among the first five", async () => {
    const index = await openSearch();
    const missed = Object.keys(PROBLEMS).filter((code) => {
      const first = index.search(code).slice(0, 5);
      return !first.some(({ id }) => id.startsWith(`/docs/errors/${code}/`));
    });
    expect(missed).toEqual([]);
  });

  it("finds the glossary by each of its words", async () => {
    const index = await openSearch();
    const rows = [...readFileSync("docs/glossary.md", "utf8").matchAll(/^\| ([a-zA-Z][^|]+) \|/gm)];
    const words = rows.flatMap(([, terms = ""]) => terms.split(", ")).filter((word) => word !== "Word");
    expect(words.length).toBeGreaterThan(40);
    const isGlossary = ({ id }: { id: string }) => id.startsWith("/docs/reference/glossary");
    expect(words.filter((word) => !index.search(word).some(isGlossary))).toEqual([]);
  });
});
