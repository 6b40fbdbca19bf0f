import { existsSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { posix } from "node:path";
import { expect, it } from "vitest";
import { anchorOf } from "../../docs/.vitepress/anchors.ts";
import { LAYERS } from "../../scripts/architecture/layers.ts";
import { COMMANDS } from "../../src/cli/commands/commands.ts";

const README_LINES_MAX = 150;

/** Every document of the project, by its path. The changelog describes the past, so its paths may no longer exist. */
async function readDocuments(): Promise<Map<string, string>> {
  const documents = new Map<string, string>();
  for await (const path of glob(["*.md", "docs/**/*.md"]))
    if (path !== "CHANGELOG.md") documents.set(path.replaceAll("\\", "/"), await readFile(path, "utf8"));
  return documents;
}

const documents = await readDocuments();
const textOf = (path: string): string => documents.get(path) ?? "";

/** The matches of a pattern in the documents, each with its document. */
const find = (pattern: RegExp) =>
  [...documents].flatMap(([path, text]) =>
    [...text.matchAll(pattern)].map(([, found = ""]) => ({ path, found })),
  );

const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));

it("links between documents lead somewhere, to their headings as well", () => {
  const broken = find(/\]\((?!\w+:)([^)\s]+)\)/g).filter(({ path, found }) => {
    const [file = "", anchor] = found.split("#");
    const target = file === "" ? path : posix.join(posix.dirname(path), file);
    return !existsSync(target) || (anchor !== undefined && !anchorsOf(textOf(target)).includes(anchor));
  });
  expect(broken).toEqual([]);
});

it("the page of the command line lists every command that is a request", () => {
  const rows = new Map(
    [...textOf("docs/command-line.md").matchAll(/^\| `([a-z-]+)` \| (.*) \|$/gm)].map(([, group, verbs]) => [
      group,
      verbs,
    ]),
  );
  const missing = COMMANDS.map(({ words }) => words.split(" ")).filter(
    ([group = "", ...verb]) => !rows.get(group)?.includes(`\`${verb.join(" ")}\``),
  );
  expect(missing).toEqual([]);
});

it("each threat of the threat model names the test that proves its protection", () => {
  const tables = textOf("docs/security.md").split("| Threat | Protection | Test |\n").slice(1);
  const threats = tables.flatMap((table) => table.split("\n\n")[0]?.split("\n").slice(1) ?? []);
  expect(threats.length).toBeGreaterThan(20);
  expect(threats.filter((row) => !/\]\(\.\.\/test\/[^)]+\.test\.ts\)/.test(row))).toEqual([]);
});

it("files that documents name exist", () =>
  expect(
    find(/`((?:src|test|scripts|migrations|bench|docs)\/[\w./-]+)`/g).filter(
      ({ found }) => !existsSync(found),
    ),
  ).toEqual([]));

/** The texts in which citations stand: sources, tests, scripts, SQL, documents. A line break of a comment is a space. */
async function readCitingTexts(): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const pattern = "{src,test,web/src,web/build,bench,scripts,migrations,functions,docs,openapi,deploy}/**/*";
  const files = ["*.md", "web/*.md", `${pattern}.{ts,tsx,sql,md,json,sh,css,yaml}`];
  for await (const entry of glob(files, { exclude: ["**/node_modules"] })) {
    const path = entry.replaceAll("\\", "/");
    texts.set(path, (await readFile(path, "utf8")).replace(/\s*\n\s*(?:(?:\*|\/\/|--|#)(?=\s))?\s*/g, " "));
  }
  return texts;
}

it("citations of design pages name a page and a heading that exist, and no text cites a number", async () => {
  const wrong: string[] = [];
  for (const [path, text] of await readCitingTexts()) {
    if (path === "test/architecture/documents.test.ts" || path === "CHANGELOG.md") continue;
    for (const [cited, page = "", headings = ""] of text.matchAll(
      /(docs\/design\/[\w-]+\.md)((?:(?:,| and) "[^"]+")*)/g,
    )) {
      const known = [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading);
      const named = [...headings.matchAll(/"([^"]+)"/g)].map(([, heading]) => heading);
      if (known.length === 0 || named.some((heading) => !known.includes(heading)))
        wrong.push(`${path}: ${cited}`);
    }
    for (const [number] of text.matchAll(/\bdecisions? \[?0\d{3}\b|docs\/decisions/gi))
      wrong.push(`${path}: ${number}`);
  }
  expect(wrong).toEqual([]);
});

it("files of src that ARCHITECTURE.md names without `src` exist", () => {
  const folders = LAYERS.flat().map(({ folder }) => folder);
  const named = [...textOf("ARCHITECTURE.md").matchAll(/`((\w+)\/[\w./-]+\.ts)`/g)];
  const missing = named.filter(
    ([, file, folder = ""]) => folders.includes(folder) && !existsSync(`src/${file}`),
  );
  expect(missing.map(([, file]) => file)).toEqual([]);
});

it("commands that documents name are scripts of package.json", async () => {
  const { scripts } = JSON.parse(await readFile("package.json", "utf8")) as { scripts: object }; // Our own file.
  expect(find(/npm run (?:--silent )?([a-z][\w:]*)/g).filter(({ found }) => !(found in scripts))).toEqual([]);
});

it("ARCHITECTURE.md has a row for each folder of src, and a file to start at", () => {
  const rows = [...textOf("ARCHITECTURE.md").matchAll(/^\| `([\w.-]+)\/?` \|[^|]+\| ?(.*) \|$/gm)];
  expect(rows.map(([, folder]) => folder).sort()).toEqual(
    LAYERS.flat()
      .map(({ folder }) => folder)
      .sort(),
  );
  const starts = rows.flatMap(([, folder, files = ""]) =>
    [...files.matchAll(/`([^`]+)`/g)].map(([, file]) => `src/${folder}/${file}`),
  );
  expect(starts.filter((path) => !existsSync(path))).toEqual([]);
});

it(`README.md has at most ${README_LINES_MAX} lines`, () =>
  expect(textOf("README.md").split("\n").length).toBeLessThanOrEqual(README_LINES_MAX));

it("docs/configuration.md has the variables of .env.example, in their order and with their defaults", async () => {
  const example = await readFile(".env.example", "utf8");
  const variables = [...example.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => ({ name, value }));
  const rows = [...textOf("docs/configuration.md").matchAll(/^\| `([A-Z_]+)` \| (?:`([^`]*)`|[^|]+) \|/gm)];
  expect(
    rows.map(([, name, value = ""]) => ({
      name,
      value: value.replace("BACK_OFFICE_PORT", "8081").replace("PORT", "8080"),
    })),
  ).toEqual(variables);
});
