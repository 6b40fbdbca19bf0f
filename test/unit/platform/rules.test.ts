import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { BACK_OFFICE_RULES, type RULES, SHARED_RULES } from "../../../src/platform/wire/rules.ts";

type Rules = Readonly<Record<string, Pick<(typeof RULES)[keyof typeof RULES], "needs" | "may" | "meaning">>>;

it.each<[string, Rules]>([
  ["docs/errors/validation-failed.md", SHARED_RULES],
  ["docs/back-office-problems.md", BACK_OFFICE_RULES],
])("%s has all rules of validation errors, with their parameters", (page, rules) => {
  const text = readFileSync(page, "utf8");
  for (const [name, { needs, may, meaning }] of Object.entries(rules)) {
    const parameters = [...needs.map((one) => `\`${one}\``), ...may.map((one) => `\`${one}\`, or absent`)];
    expect(text).toContain(
      `| \`${name}\` | ${parameters.join(", ")}${parameters.length > 0 ? " " : ""}| ${meaning} |`,
    );
  }
});
