import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { explanations } from "../../web/src/text/de/explanations.ts";
import { explained, setExplanations } from "../../web/src/text/explanations.ts";

beforeAll(() => setExplanations(explanations));
afterAll(() => setExplanations([]));

/** Where there are explanations that the console never shows. */
const NOT_SHOWN = [
  "src/api/partner/", // Partners' programs read these.
  "src/api/openapi/",
  "src/cli/",
  "src/platform/data-dir/", // Of a start that fails.
  "src/platform/wire/rules.ts", // test/unit/console/explanations.test.ts has what schemas say.
  // The console has texts of its own for these problems: unauthorized, forbidden, rate-limited and so on.
  "src/platform/wire/problems.ts",
  "src/platform/wire/content-version.ts",
  "src/platform/database/fair-share.ts",
  "src/http/replies.ts",
  "src/back-office/authentication.ts",
  "src/back-office/keys.ts",
  "src/back-office/people/sign-in-wire.ts",
  "src/back-office/people/session-authentication.ts",
  "src/back-office/people/session-authentication.ts",
];

/** Texts at such places that are no explanation, or that the console cannot cause. */
const OTHERS = [
  /^Content-(Type|Encoding) must be /,
  /^(Sign in first|Begin again with the password): /, // Of `unauthorized`.
  /^The rule in a sentence, /, // A description of the API.
  /^The request has too many header fields/, // A browser sends few.
  // Texts that are made of several ones: test/unit/console/explanations.test.ts has them whole.
  /^must be an amount in 7 7, of at most /,
  /^(, |7: 7|is not a 7|must be at most 7, 7|must be a URL that begins with https:\/\/7)$/,
];

const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((file) => `src/${file}`)
  .filter((file) => file.endsWith(".ts") && !NOT_SHOWN.some((start) => file.startsWith(start)));

/** A text that is written where a problem or an error gets its `detail`: up to the end of the value, both sides of a condition. */
const VALUE =
  /(?:\bdetail(?::| =)|signInFailed\()([\s\S]*?)(?:[;}]|,\n|\)[;\n])|DETAILS(?::[^=]*)? = \{([\s\S]*?)\n\}/g;
/** A rule that a constant holds or a function returns. */
const RULE = /(?<!description:\s*)(["`])((?:must|cannot) (?:(?!\1)[^\n])*)\1/g;
const TEXT = /"((?:[^"\\\n]|\\.)*)"|`([^`]*)`/g;

/** Each text with a number for the values that the program fills in. */
const details = files.flatMap((file) => {
  const source = readFileSync(file, "utf8").replaceAll(/\$\{[^}]*\}/g, "7");
  const values = [...source.matchAll(VALUE)].map(([, value, list]) => value ?? list ?? "");
  const texts = values.flatMap((value) =>
    [...value.matchAll(TEXT)].map(([, quoted, filled]) => quoted ?? filled),
  );
  return [...texts, ...[...source.matchAll(RULE)].map(([, , rule]) => rule)].map(
    (text = "") => [file, text] as const,
  );
});

it("all explanations of problems are said in German in the German console", () => {
  expect(details.length).toBeGreaterThan(40);
  const isExplanation = (text: string) => text.includes(" ") && !OTHERS.some((other) => other.test(text));
  const missing = details.filter(([, text]) => isExplanation(text) && explained(text) === text);
  expect(missing).toEqual([]);
});
