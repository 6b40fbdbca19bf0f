import fc from "fast-check";

/**
 * Property tests choose the same histories in every run, so that a change is not rejected for one that was never tried
 * before. `HISTORIES_SEED=random` looks for new ones, and a number repeats those of a failure.
 */
const DEFAULT_SEED = 20_261_122;

const given = process.env["HISTORIES_SEED"];
const seed = given === "random" ? Date.now() % 2 ** 31 : Number(given ?? DEFAULT_SEED);
fc.configureGlobal({ seed });
