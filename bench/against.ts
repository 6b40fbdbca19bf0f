import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { aligned, type Figure, median, number, readReport } from "./report.ts";

type Round = { readonly there: Figure[]; readonly here: Figure[] };

/**
 * Runs the benchmark of another checkout and this one in turn, a round of each at a time, so that a machine whose speed drifts
 * moves both. Each knows its own schema. Returns a table of the figures that both have.
 */
export async function measureAgainst(
  directory: string,
  parameters: readonly string[],
  { rounds, say }: { rounds: number; say: (text: string) => void },
): Promise<string> {
  const here = join(import.meta.dirname, "..");
  const measured: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    say(`round ${round} of ${rounds}`);
    // The first of a round is not always the same.
    const first = round % 2 === 0 ? await runBenchmark(here, parameters) : undefined;
    const there = await runBenchmark(directory, parameters);
    measured.push({ there, here: first ?? (await runBenchmark(here, parameters)) });
  }
  return pairedTable(measured);
}

async function runBenchmark(directory: string, parameters: readonly string[]): Promise<Figure[]> {
  const script = [join(directory, "bench/main.ts"), ...parameters, "--rounds", "1"];
  const child = spawn(process.execPath, script, { cwd: directory, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`The benchmark in ${directory} ended with ${code}.`);
  return readReport(join(directory, "bench/results/latest.json"));
}

/** Medians, and the median, the lowest and the highest of the ratios of the rounds. */
export function pairedTable(rounds: readonly Round[]): string {
  const names = (rounds[0]?.here ?? []).map(({ name }) => name);
  const rows = names.flatMap((name) => {
    const pairs = rounds.flatMap((round) => {
      const [there, here] = [round.there, round.here].map((all) =>
        all.find((figure) => figure.name === name),
      );
      return there === undefined || here === undefined ? [] : [{ there, here }];
    });
    if (pairs.length === 0) return [];
    const values = pairs.map(({ there, here }) => ({ there: measureOf(there), here: measureOf(here) }));
    const ratios = values.map((pair) => pair.here / pair.there);
    const medianOf = (side: "there" | "here"): string => numberOf(values.map((pair) => pair[side]));
    const p99Of = (side: "there" | "here"): string =>
      numberOf(pairs.map((pair) => pair[side].p99Ms ?? Number.NaN));
    const [ratio, lowest, highest] = [median(ratios), Math.min(...ratios), Math.max(...ratios)].map(
      (value) => (Number.isNaN(value) ? "" : value.toFixed(2)),
    );
    return [
      [
        name,
        medianOf("there"),
        medianOf("here"),
        ratio ?? "",
        lowest ?? "",
        highest ?? "",
        p99Of("there"),
        p99Of("here"),
      ],
    ];
  });
  return aligned([
    ["measured", "there", "here", "ratio", "lowest", "highest", "p99 ms there", "here"],
    ...rows,
  ]);
}

const measureOf = ({ perSecond, count }: Figure): number => perSecond ?? count ?? Number.NaN;

const numberOf = (values: readonly number[]): string => {
  const value = median(values);
  return Number.isNaN(value) ? "" : number(value);
};
