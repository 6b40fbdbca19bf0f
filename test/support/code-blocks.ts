import { globSync, readFileSync } from "node:fs";
import { guidedPath } from "../../scripts/docs/generated/guided-path.ts";

/** A block of code of a page. */
export type CodeBlock = {
  readonly language: string;
  /** What follows the language: of JSON, the schema that it fits; of other data, what reads it. */
  readonly label: string;
  readonly code: string;
  /** Why the block is not run. The page says it in a comment, which readers of the site do not see. */
  readonly notRun: string | null;
};

/** A Markdown file of the project, with its path and its blocks. */
export type Page = { readonly path: string; readonly text: string; readonly blocks: readonly CodeBlock[] };

const BLOCK = /(?:<!-- not run: ([^>]+) -->\n)?^( *)(`{3,}|~{3,})(\w*) *([^\n]*)\n(.*?)^\2\3 *$/gms;

export const codeBlocksOf = (text: string): CodeBlock[] =>
  [...text.matchAll(BLOCK)].map(
    ([, notRun = null, , , language = "", label = "", code = ""]): CodeBlock => ({
      language,
      label,
      code,
      notRun,
    }),
  );

/** Every page of the project: the documentation, and what maintainers read. */
export const PAGES: readonly Page[] = globSync("**/*.md", {
  exclude: ["**/node_modules", "dist", "packages/*/dist", "bench/results"],
})
  .map((path) => path.replaceAll("\\", "/"))
  .sort()
  .map((path) => {
    // The rest of this page is made of the Arazzo file, and has commands too.
    const text = readFileSync(path, "utf8") + (path === "docs/partners/guided-path.md" ? guidedPath() : "");
    return { path, text, blocks: codeBlocksOf(text) };
  });

/** The pages whose programs are files of their own, which tests in test/release/docs run: receiving-webhooks and receivers. */
const WITH_EXAMPLES = ["webhooks", "signatures", "reconciling", "receivers"].map(
  (name) => `docs/partners/${name}.md`,
);

/** What a block that is data can be, but for JSON, whose label names a schema. */
const DATA = [
  "http request",
  "http response",
  "mermaid",
  "promql",
  "text commit",
  "text haproxy",
  "yaml patroni",
  "yaml prometheus",
] as const;
export type Data = (typeof DATA)[number];

/** How a test runs a block: each has its own. `unknown`: none does. */
type Run =
  | "session"
  | "start"
  | "build"
  | "typescript"
  | "python"
  | "sdk"
  | "file"
  | "example"
  | "schema"
  | "data"
  | "not run"
  | "unknown";

/** What starts a service, and does not end. */
const STARTS = /\bnpm (?:start|run serve|run dev)\b/;
/** What writes into the folder of the project. */
const BUILDS = /\bnpm run docs\b/;

export const dataOf = ({ language, label }: CodeBlock): string => `${language} ${label}`.trim();

export function runOf(block: CodeBlock, { path }: Page): Run {
  const { language, label, code, notRun } = block;
  if (notRun !== null) return "not run";
  if (language === "sh") return STARTS.test(code) ? "start" : BUILDS.test(code) ? "build" : "session";
  if (language === "ts" && label === "[TypeScript]") return "typescript";
  if (language === "ts" && label === "[SDK]") return "sdk";
  if (language === "ts" && /^\[[\w.-]+\.ts\]$/.test(label)) return "file";
  if (language === "python" && label === "[Python]") return "python";
  if (WITH_EXAMPLES.includes(path) && ["js", "python", "php", "java", "go"].includes(language))
    return "example";
  if (language === "json") return "schema";
  return (DATA as readonly string[]).includes(dataOf(block)) ? "data" : "unknown";
}

/** The blocks of each page that are run in this way, by the path of the page. */
export const blocksOfPages = (run: Run): [path: string, blocks: CodeBlock[]][] =>
  PAGES.map((page): [string, CodeBlock[]] => [
    page.path,
    page.blocks.filter((block) => runOf(block, page) === run),
  ]).filter(([, blocks]) => blocks.length > 0);

/** The only block of a page with this form of data, or with this schema. */
export function blockOf(path: string, data: Data | `json ${string}`): string {
  const found = PAGES.find((page) => page.path === path)?.blocks.filter((block) => dataOf(block) === data);
  if (found?.length !== 1) throw new Error(`${path} has no block, or several, of ${data}.`);
  return found[0]?.code ?? "";
}
