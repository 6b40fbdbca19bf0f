import { existsSync } from "node:fs";
import { ERRORS_ADDRESS } from "../../../src/http/static-sites.ts";
import { PROBLEMS, type ProblemCode } from "../../../src/platform/wire/problems.ts";
import type { Audience, ReadPage, StagedPage } from "../pages.ts";
import { type Description, problemCodesOf, readDescription, routesOf, slugOf } from "./description.ts";

const PROBLEM_CODES = Object.keys(PROBLEMS) as ProblemCode[]; // The table's own keys.

/** Partners see the problems that a route of theirs can return. */
const codesFor = (audience: Audience): readonly ProblemCode[] =>
  audience === "all" ? PROBLEM_CODES : PROBLEM_CODES.filter((code) => routesWith(code).length > 0);

const routesWith = (code: ProblemCode) =>
  routesOf(readDescription("partner")).filter(({ operation }) => problemCodesOf(operation).includes(code));

/** The text about a problem that people write, and where its page is. */
export const errorSources = (audience: Audience): { code: ProblemCode; source: string; path: string }[] =>
  // A folder, so that any host of files serves the address without an extension.
  codesFor(audience).map((code) => ({
    code,
    source: `docs/errors/${code}.md`,
    path: `errors/${code}/index`,
  }));

/**
 * The page of each problem: what the code of the service says, and the causes and remedies that people write. A test finds
 * those that are not written yet; the others must not be missing because of them.
 */
export async function errorPages(read: ReadPage, audience: Audience): Promise<StagedPage[]> {
  const descriptions = [
    readDescription("partner"),
    ...(audience === "all" ? [readDescription("back-office")] : []),
  ];
  return Promise.all(
    errorSources(audience).map(async ({ code, ...page }) => ({
      path: page.path,
      title: code,
      summary: PROBLEMS[code].meaning,
      text: errorPage(code, existsSync(page.source) ? await read(page) : "", descriptions),
    })),
  );
}

function errorPage(code: ProblemCode, written: string, descriptions: readonly Description[]): string {
  const { status, title, meaning, retry } = PROBLEMS[code];
  const causes = written.replace(/^# .*\n/, "");
  return `# ${title}

\`${code}\`, status ${status}

${meaning}

**Retry?** ${retry}
${causes}
## Example

\`\`\`json
${JSON.stringify(exampleOf(code, descriptions), null, 2).replaceAll("https://orders.example/errors", ERRORS_ADDRESS)}
\`\`\`

${returnedBy(code, descriptions)}`;
}

const exampleOf = (code: ProblemCode, descriptions: readonly Description[]): unknown =>
  descriptions.flatMap(({ components }) => components.examples[code]?.value ?? []).at(0);

function returnedBy(code: ProblemCode, [partner]: readonly Description[]): string {
  if (partner === undefined) return "";
  const routes = routesWith(code);
  if (routes.length === 0) return "Only the back office returns it.\n";
  if (routes.length === routesOf(partner).length) return "Every route can return it.\n";
  const items = routes.map(({ method, path, operation }) => {
    const page = `../../api/${slugOf(operation.tags[0] ?? "")}.md`;
    return `- [\`${method} ${path}\`](${page})`;
  });
  return `## Returned by\n\n${items.join("\n")}\n`;
}

/** In the tables of problems, each code leads to its page. @param folder from the page to that of the codes */
export const linkCodes = (text: string, folder: string, audience: Audience): string =>
  codesFor(audience).reduce(
    (linked, code) => linked.replaceAll(`\n| ${code} |`, `\n| [${code}](${folder}/${code}/index.md) |`),
    text,
  );
