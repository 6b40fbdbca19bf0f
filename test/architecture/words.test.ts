import { glob, readFile } from "node:fs/promises";
import { expect, it } from "vitest";

/** Words that had several meanings, or none that the trade knows, and what to say instead (docs/glossary.md). */
const REPLACED: Readonly<Record<string, string>> = {
  anew: "again, or once more",
  "by itself": "who does it, or alone",
  chore: "job",
  "for ever": "without end, or always",
  "goes on": "continues",
  house: "merchant, warehouse, service or back office, each by its name",
  lane: "stream, or concurrency",
  "lets go": "releases",
  meanwhile: "during, or at the same time",
  mend: "correct, or fix",
  news: "supply change, signal, or event",
  somebody: "the role by its name",
  whoever: "the role by its name",
  whomever: "the role by its name",
};

/** A word as a whole, also within an identifier: `house`, `House` in `openHouse`, `HOUSE_RULES`; never `warehouse`. */
const within = (word: string): RegExp => {
  const capital = `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
  return new RegExp(
    `(?<![A-Za-z])${word}s?(?![a-z])|${capital}s?(?![a-z])|(?<![A-Z])${word.toUpperCase()}S?(?![A-Z])`,
  );
};

const THIS = "test/architecture/words.test.ts";

const FILES = [
  "{*,web/*,packages/*/*}.{md,json,jsonc}",
  ".env.example",
  "{src,test,bench,scripts,docs,migrations,openapi,packages,web/src}/**/*.{ts,tsx,sql,md,json,py}",
];
/** The changelog names what was renamed. */
const EXCEPT = ["CHANGELOG.md", THIS];

async function readTexts(): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for await (const path of glob(FILES, {
    exclude: ["**/node_modules", "**/package-lock.json", "packages/*/dist"],
  }))
    if (!EXCEPT.includes(path)) texts.set(path, await readFile(path, "utf8"));
  return texts;
}

const texts = await readTexts();

it.each(Object.entries(REPLACED))("%s is not used; write %s", (word) => {
  const pattern = within(word);
  const found = [...texts].flatMap(([path, text]) =>
    text
      .split("\n")
      .flatMap((line, index) => (pattern.test(line) ? `${path}:${index + 1}: ${line.trim()}` : [])),
  );
  expect(found).toEqual([]);
});

it("office is used for the back office only", () => {
  const found = [...texts].flatMap(([path, text]) =>
    [...text.matchAll(/(?<!back[\s_-]*|libre|open|\bs)offices?(?![a-z])/gi)].map(
      ({ 0: word }) => `${path}: ${word}`,
    ),
  );
  expect(found).toEqual([]);
});

it("no file has the marks of a merge", () => {
  const marked = [...texts].filter(([, text]) => /^(<{7}|>{7}) /m.test(text)).map(([path]) => path);
  expect(marked).toEqual([]);
});
