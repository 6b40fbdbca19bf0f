import { readFileSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { expect, it } from "vitest";

const SPECIFICATION = readFileSync("docs/specification.md", "utf8");

/** The text of each part, by its number. */
const parts = new Map(
  SPECIFICATION.split(/^## /m)
    .slice(1)
    .map((text): [number, string] => [Number.parseInt(text, 10), text]),
);

type Citation = { path: string; cited: string; part: number; rules: number[]; quoted: string | undefined };

/** "specification, parts 3 and 4", "part 4, rules 5 and 6", `part 3, "Real orders"`, "part 7, notes". */
const CITATION =
  /specification,? \(?parts? (\d)(?: and (\d))?(?:, rules? (\d)(?: (?:and|to) (\d))?|,? "([^"]+)"|, (notes))?/gi;

async function findCitations(): Promise<Citation[]> {
  const found: Citation[] = [];
  const patterns = ["{src,test,bench,scripts}/**/*.{ts,sql}", "{docs,migrations}/**/*", "*.md"];
  for await (const path of glob(patterns, { exclude: ["**/node_modules"] })) {
    if (path === "docs/specification.md" || !/\.(ts|md|sql)$/.test(path)) continue;
    const text = (await readFile(path, "utf8")).replace(/\s*\n\s*(?:\*|\/\/|--)? */g, " ");
    for (const [cited, first, second, rule, secondRule, heading, notes] of text.matchAll(CITATION))
      for (const part of [first, second])
        if (part !== undefined)
          found.push({
            path,
            cited,
            part: Number(part),
            quoted: heading ?? notes,
            rules: [rule, secondRule].flatMap((number) => (number === undefined ? [] : [Number(number)])),
          });
  }
  return found;
}

it("docs/specification.md has parts 1 to 9", () =>
  expect([...parts.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]));

it("each part and rule that is cited exists", async () => {
  const citations = await findCitations();
  expect(citations.length).toBeGreaterThan(40);
  const missing = citations.filter(({ part, rules, quoted = "" }) => {
    const text = parts.get(part) ?? "";
    const hasRules = rules.every((rule) => new RegExp(`^${rule}\\. `, "m").test(text));
    return text === "" || !hasRules || !text.toLowerCase().includes(quoted.toLowerCase());
  });
  expect(missing.map(({ path, cited }) => `${path}: ${cited}`)).toEqual([]);
});
