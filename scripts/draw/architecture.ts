import { folderOf, LAYERS } from "../architecture/layers.ts";
import { readSourceFiles } from "../architecture/source-files.ts";

type Graph = ReadonlyMap<string, readonly string[]>;

/** The folders of src in their layers, with the imports between them. */
export async function architecture(): Promise<string> {
  const graph = await readGraph();
  const rows = LAYERS.toReversed().map((layer) => `{ rank=same; ${layer.map(boxOf).join("; ")} }`);
  const arrows = [...graph].flatMap(([from, targets]) =>
    targets.filter((to) => !isImplied(graph, from, to)).map((to) => `"${from}" -> "${to}"`),
  );
  return `digraph "The folders of src" {
    rankdir=TB; bgcolor=white; nodesep=0.4; ranksep=0.35;
    node [shape=box, style="rounded,filled", fillcolor="#eef3f8", fontname="Helvetica", fontsize=13, margin="0.2,0.1"];
    edge [color="#55606e", arrowsize=0.7];
    ${rows.join("\n    ")}
    ${arrows.join("\n    ")}
  }`;
}

const boxOf = ({ folder, purpose }: { folder: string; purpose: string }): string =>
  `"${folder}" [label=<<b>${folder}</b><br/><font point-size="10">${wrap(purpose)}</font>>]`;

/** Breaks a text into lines of about 30 characters. */
const wrap = (text: string): string => text.replace(/(.{22,30}) (?=.{6})/g, "$1<br/>");

/** Which folder imports which, from the highest layer to the lowest. */
async function readGraph(): Promise<Graph> {
  const files = await readSourceFiles("src");
  const folders = LAYERS.flat().map(({ folder }) => folder);
  const importedBy = (from: string): string[] =>
    files
      .filter(({ path }) => folderOf(path) === from)
      .flatMap(({ imports }) => imports.flatMap(({ file }) => (file === null ? [] : folderOf(file))));
  const sorted = folders.toReversed();
  return new Map(
    sorted.map((from) => {
      const imported = importedBy(from);
      return [from, sorted.filter((to) => to !== from && imported.includes(to))];
    }),
  );
}

/** True if `from` reaches `to` by way of another folder as well, so that the arrow follows from others. */
function isImplied(graph: Graph, from: string, to: string): boolean {
  const reaches = (folder: string): boolean => folder === to || (graph.get(folder) ?? []).some(reaches);
  return (graph.get(from) ?? []).some((other) => other !== to && reaches(other));
}
