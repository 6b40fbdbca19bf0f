import { mkdir, readFile, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";

/** A row of the table: what was measured, against what reference, and the required minimum. */
export type Figure = {
  name: string;
  perSecond?: number;
  referencePerSecond?: number;
  ratio?: number;
  ratioMin?: number;
  p50Ms?: number;
  p99Ms?: number;
  p99MaxMs?: number;
  /** What is counted, such as index entries of an order. */
  count?: number;
  countMax?: number;
  note?: string;
};

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

/** Of times in milliseconds. */
export function quantiles(times: readonly number[]): { p50Ms: number; p99Ms: number } {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** A time or a size against its limit: as for other figures, 1 or more is good. */
export const against = (limit: number, measured: number) => ({ ratio: limit / measured, ratioMin: 1 });

/** True if a figure reaches what it should. Empty if nothing is required of it. */
function verdict({ ratio, ratioMin, p99Ms, p99MaxMs, count, countMax }: Figure): string {
  const reached = [
    ...(count === undefined || countMax === undefined ? [] : [count <= countMax]),
    ...(ratio === undefined || ratioMin === undefined ? [] : [ratio >= ratioMin]),
    ...(p99Ms === undefined || p99MaxMs === undefined ? [] : [p99Ms <= p99MaxMs]),
  ];
  return reached.length === 0 ? "" : reached.every(Boolean) ? "ok" : "NOT REACHED";
}

const COLUMNS: readonly [title: string, cell: (figure: Figure) => string][] = [
  ["measured", ({ name }) => name],
  ["per second", ({ perSecond }) => number(perSecond)],
  ["reference", ({ referencePerSecond }) => number(referencePerSecond)],
  ["ratio", ({ ratio }) => ratio?.toFixed(2) ?? ""],
  ["at least", ({ ratioMin }) => ratioMin?.toFixed(2) ?? ""],
  ["p50 ms", ({ p50Ms }) => number(p50Ms)],
  ["p99 ms", ({ p99Ms }) => number(p99Ms)],
  ["count", ({ count }) => (count === undefined ? "" : count < 1_000 ? count.toFixed(1) : number(count))],
  ["at most", ({ p99MaxMs, countMax }) => number(p99MaxMs ?? countMax)],
  ["", verdict],
  ["note", ({ note }) => note ?? ""],
];

export const number = (value: number | undefined): string =>
  value === undefined ? "" : Math.round(value).toLocaleString("en");

/** Without columns that no figure fills. */
export function table(figures: readonly Figure[]): string {
  const columns = COLUMNS.filter(([, cell]) => figures.some((figure) => cell(figure) !== ""));
  return aligned([
    columns.map(([title]) => title),
    ...figures.map((figure) => columns.map(([, cell]) => cell(figure))),
  ]);
}

/** Figures beside those of an earlier run with the same names. A ratio is comparable between machines, a speed is not. */
export function comparison(figures: readonly Figure[], earlier: readonly Figure[]): string {
  const rows = figures.flatMap((figure) => {
    const before = earlier.find(({ name }) => name === figure.name);
    return before === undefined ? [] : [comparedRow(figure, before)];
  });
  const title = ["measured", "before", "now", "change", "ratio before", "now", "p99 ms before", "now"];
  return aligned([title, ...rows]);
}

const comparedRow = (now: Figure, before: Figure): string[] => [
  now.name,
  number(before.perSecond ?? before.count),
  number(now.perSecond ?? now.count),
  change(before.perSecond ?? before.count, now.perSecond ?? now.count),
  before.ratio?.toFixed(2) ?? "",
  now.ratio?.toFixed(2) ?? "",
  number(before.p99Ms),
  number(now.p99Ms),
];

function change(before: number | undefined, now: number | undefined): string {
  if (before === undefined || now === undefined) return "";
  const percent = Math.round((now / before - 1) * 100);
  return `${percent < 0 ? "" : "+"}${percent} %`;
}

/** The figures of the report of an earlier run. */
export async function readReport(file: string): Promise<Figure[]> {
  const report = JSON.parse(await readFile(file, "utf8")) as { figures?: Figure[] }; // `writeReport` has written it.
  if (!Array.isArray(report.figures)) throw new Error(`${file} is not a report of the benchmark.`);
  return report.figures;
}

export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export async function writeReport(figures: readonly Figure[], settings: object): Promise<string> {
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
  const folder = new URL("results/", import.meta.url);
  await mkdir(folder, { recursive: true });
  const file = new URL("latest.json", folder);
  await writeFile(
    file,
    `${JSON.stringify({ at: new Date().toISOString(), machine, settings, figures }, null, 2)}\n`,
  );
  return file.pathname;
}
