import fc from "fast-check";
import { inject } from "vitest";

/**
 * Property tests choose the same histories in every run, so that a change is not rejected for one that was never tried
 * before. `HISTORIES_SEED=random` looks for new ones, and a number repeats those of a failure.
 */
const DEFAULT_SEED = 20_261_122;

const given = process.env["HISTORIES_SEED"];
const seed = given === "random" ? Date.now() % 2 ** 31 : Number(given ?? DEFAULT_SEED);
fc.configureGlobal({ seed });

/** How many histories a property is tested with: a part of them for a change, all of them for a release. */
export const histories = ({ change, release }: { change: number; release: number }): { numRuns: number } => ({
  numRuns: inject("suite") === "release" ? release : change,
});
