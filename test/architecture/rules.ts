import { folderOf, layerOf } from "../../scripts/architecture/layers.ts";
import type { SourceFile } from "../../scripts/architecture/source-files.ts";

/** Each rule returns its violations, as sentences for the person who has to fix them. */
type Violations = string[];

const isInSrc = (path: string): boolean => path.startsWith("src/");

/** All imports of one file by another. */
const importsOf = (files: readonly SourceFile[]) =>
  files.flatMap(({ path, imports }) =>
    imports.flatMap(({ file, isTypeOnly }) => (file === null ? [] : [{ from: path, to: file, isTypeOnly }])),
  );

/** Every folder of src has its position in the layers. */
export function findUnknownFolders(files: readonly SourceFile[]): Violations {
  const folders = new Set(
    files
      .map(({ path }) => path)
      .filter(isInSrc)
      .map(folderOf),
  );
  return [...folders]
    .filter((folder) => layerOf(folder) === -1)
    .map((folder) => `src/${folder} has no layer: add it to scripts/architecture/layers.ts`);
}

/** Imports between the folders of src point to a lower layer. */
export const findUpwardImports = (files: readonly SourceFile[]): Violations =>
  importsOf(files)
    .filter(({ from, to }) => isInSrc(from) && isInSrc(to) && folderOf(from) !== folderOf(to))
    .filter(({ from, to }) => layerOf(folderOf(to)) >= layerOf(folderOf(from)))
    .map(({ from, to }) => `${from} imports ${to}, which is not in a lower layer`);

/** No file imports itself by way of others. Each cycle is reported once. */
export function findCycles(files: readonly SourceFile[]): Violations {
  const targets = new Map(files.map(({ path, imports }) => [path, imports.map(({ file }) => file)]));
  const cycles: string[] = [];
  const finished = new Set<string>();
  const follow = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) cycles.push([...trail.slice(start), path].join(" -> "));
    if (start !== -1 || finished.has(path)) return;
    for (const target of targets.get(path) ?? []) if (target !== null) follow(target, [...trail, path]);
    finished.add(path);
  };
  for (const { path } of files) follow(path, []);
  return cycles;
}

/** The lifecycle is pure: of the rest of the project, and of packages, it knows types at most. */
export const findImpureImports = (files: readonly SourceFile[]): Violations =>
  files
    .filter(({ path }) => path.startsWith("src/lifecycle/"))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ file, isTypeOnly }) => !isTypeOnly && !file?.startsWith("src/lifecycle/"))
        .map(({ specifier }) => `${path} imports ${specifier}; src/lifecycle may import types only`),
    );

const isHttp = (specifier: string, file: string | null): boolean =>
  file === null ? /^(@?fastify(\/|$)|node:https?$)/.test(specifier) : file.startsWith("src/http/");

const LISTENERS = /^src\/(http|partner-api|back-office)\//;

/** Only the two listeners and what they share know HTTP: the framework, Node's server, and src/http. */
export const findHttpImports = (files: readonly SourceFile[]): Violations =>
  files
    .filter(({ path }) => isInSrc(path) && !LISTENERS.test(path))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier, file }) => isHttp(specifier, file))
        .map(({ specifier }) => `${path} imports ${specifier}; only the listeners know HTTP`),
    );

/** SQL files that slices open to higher layers, by the reason. */
export type OpenSqlFiles = Readonly<Record<string, readonly string[]>>;

/** A slice's `-sql.ts` files are imported within the slice only, unless the slice opens them. Types are free. */
export function findForeignSql(files: readonly SourceFile[], open: OpenSqlFiles): Violations {
  const listed = Object.values(open).flat();
  const foreign = importsOf(files)
    .filter(({ from, to, isTypeOnly }) => !isTypeOnly && isInSrc(from) && to.endsWith("-sql.ts"))
    .filter(({ from, to }) => folderOf(from) !== folderOf(to));
  return [
    ...foreign
      .filter(({ to }) => !listed.includes(to))
      .map(
        ({ from, to }) => `${from} imports ${to}: call an operation of src/${folderOf(to)}, or list the file`,
      ),
    ...listed
      .filter((path) => !foreign.some(({ to }) => to === path))
      .map(
        (path) => `${path} is listed as open to other slices, but none imports it: remove it from the list`,
      ),
  ];
}

/** Tables with several writing slices, each slice with the reason. */
export type SharedTables = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Each table is written by one slice. */
export function findSharedTables(
  files: readonly SourceFile[],
  tables: readonly string[],
  shared: SharedTables,
): Violations {
  const writes = new RegExp(
    String.raw`\b(?:insert\s+into|update(?=\s+\w+(?:\s+(?:as\s+)?\w+)?\s+set\b)|delete\s+from|merge\s+into|truncate)\s+(${tables.join("|")})\b`,
    "gi",
  );
  const writers = new Map(tables.map((table) => [table, new Set<string>()]));
  for (const { path, texts } of files)
    for (const text of isInSrc(path) ? texts : [])
      for (const [, table = ""] of text.matchAll(writes))
        writers.get(table.toLowerCase())?.add(folderOf(path));
  return [...writers].flatMap(([table, slices]) => {
    const found = [...slices].sort().join(" and ");
    const listed = Object.keys(shared[table] ?? {})
      .sort()
      .join(" and ");
    if (listed === "")
      return slices.size <= 1 ? [] : `${table} is written by ${found}; one slice writes a table`;
    return found === listed ? [] : `${table} is written by ${found}; listed are ${listed}`;
  });
}

/** `packages/*` and `web` know the service by its API alone, and the service knows nothing of them. */
export const findImportsAcrossWalls = (files: readonly SourceFile[]): Violations =>
  importsOf(files)
    .filter(({ from, to }) => isInSrc(from) !== isInSrc(to))
    .filter(({ from, to }) => [from, to].some((path) => /^(packages|web)\//.test(path)))
    // The service may use what its partners use. Only `web` is built, and is served as files.
    .filter(({ from, to }) => !(isInSrc(from) && /^packages\/(?!dev\/)/.test(to)))
    // It starts the service for tests. No file of the service imports it, so no service in production has its routes.
    .filter(({ from }) => !from.startsWith("packages/dev/"))
    .map(({ from, to }) => `${from} imports ${to}; packages and web know only the HTTP API`);
