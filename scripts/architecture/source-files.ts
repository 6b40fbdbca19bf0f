import { glob, readFile } from "node:fs/promises";
import { posix } from "node:path";
import { parseSync } from "oxc-parser";

type Import = {
  /** The specifier in the source: a relative path, a package or a module of Node. */
  readonly specifier: string;
  /** The imported file, relative to the project; null for a package or a module of Node. */
  readonly file: string | null;
  /** True if nothing of it is left at run time. */
  readonly isTypeOnly: boolean;
};

export type SourceFile = {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  readonly imports: readonly Import[];
  /** Every string and template, each substitution as `…`. */
  readonly texts: readonly string[];
};

/** Reads and parses the TypeScript files below folders of the project, in the order of their paths. */
export async function readSourceFiles(...folders: readonly string[]): Promise<SourceFile[]> {
  const paths: string[] = [];
  for (const folder of folders)
    for await (const path of glob(`${folder}/**/*.{ts,tsx}`, {
      exclude: ["**/node_modules", "**/dist", "web/src/api/schema.d.ts"],
    }))
      paths.push(path.replaceAll("\\", "/"));
  return Promise.all(paths.sort().map(async (path) => parseSource(path, await readFile(path, "utf8"))));
}

export function parseSource(path: string, source: string): SourceFile {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  const imports: Import[] = [];
  const texts: string[] = [];
  visit(program, (node) => {
    const found = importOf(node);
    if (found !== null) imports.push({ ...found, file: resolve(path, found.specifier) });
    const text = textOf(node);
    if (text !== null) texts.push(text);
  });
  return { path, imports, texts };
}

const resolve = (from: string, specifier: string): string | null =>
  specifier.startsWith(".") ? posix.join(posix.dirname(from), specifier) : null;

/** A node of the syntax tree (ESTree, with TypeScript's own nodes). Its other fields depend on its type. */
type Node = { readonly type: string } & Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";

function visit(value: unknown, see: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, see);
  } else if (isNode(value)) {
    see(value);
    for (const child of Object.values(value)) if (typeof child === "object") visit(child, see);
  }
}

/** The imports of a node: statements, `export … from`, `import(…)`, and `import("…")` as a type. */
function importOf(node: Node): Pick<Import, "specifier" | "isTypeOnly"> | null {
  const { source } = node;
  if (!isNode(source) || typeof source["value"] !== "string") return null;
  const specifier = source["value"];
  switch (node.type) {
    case "ImportDeclaration":
      return {
        specifier,
        isTypeOnly: node["importKind"] === "type" || areTypes(node["specifiers"], "importKind"),
      };
    case "ExportNamedDeclaration":
      return {
        specifier,
        isTypeOnly: node["exportKind"] === "type" || areTypes(node["specifiers"], "exportKind"),
      };
    case "ExportAllDeclaration":
      return { specifier, isTypeOnly: node["exportKind"] === "type" };
    case "TSImportType":
      return { specifier, isTypeOnly: true };
    case "ImportExpression":
      return { specifier, isTypeOnly: false };
    default:
      return null;
  }
}

/** True if each of `{ type A, type B }` is a type. An import without names runs the file, so it is none. */
const areTypes = (specifiers: unknown, kind: "importKind" | "exportKind"): boolean =>
  Array.isArray(specifiers) &&
  specifiers.length > 0 &&
  specifiers.every((specifier) => isNode(specifier) && specifier[kind] === "type");

function textOf(node: Node): string | null {
  if (node.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node.type !== "TemplateLiteral" || !Array.isArray(node["quasis"])) return null;
  return node["quasis"]
    .map((part: { value: { cooked: string | null } }) => part.value.cooked ?? "")
    .join("…");
}
