import { mkdir, writeFile } from "node:fs/promises";
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
  note?: string;
};

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

const COLUMNS: readonly [title: string, cell: (figure: Figure) => string][] = [
  ["measured", ({ name }) => name],
  ["per second", ({ perSecond }) => number(perSecond)],
  ["reference", ({ referencePerSecond }) => number(referencePerSecond)],
  ["ratio", ({ ratio }) => ratio?.toFixed(2) ?? ""],
  ["at least", ({ ratioMin }) => ratioMin?.toFixed(2) ?? ""],
  [
    "",
    ({ ratio, ratioMin }) =>
      ratio === undefined || ratioMin === undefined ? "" : ratio >= ratioMin ? "ok" : "BELOW",
  ],
  ["p50 ms", ({ p50Ms }) => number(p50Ms)],
  ["p99 ms", ({ p99Ms }) => number(p99Ms)],
  ["note", ({ note }) => note ?? ""],
];

const number = (value: number | undefined): string =>
  value === undefined ? "" : Math.round(value).toLocaleString("en");

export function table(figures: readonly Figure[]): string {
  const rows = [
    COLUMNS.map(([title]) => title),
    ...figures.map((figure) => COLUMNS.map(([, cell]) => cell(figure))),
  ];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
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
