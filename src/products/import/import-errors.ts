import type { Problem } from "../../platform/wire/problems.ts";
import type { ImportError } from "./import-row.ts";

/** Further errors are counted, but not listed. */
const ERRORS_LISTED_MAX = 1_000;

/** The errors of a file. */
export class ImportErrors {
  readonly #listed: ImportError[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(errors: readonly ImportError[]): void {
    this.#count += errors.length;
    this.#listed.push(...errors.slice(0, Math.max(0, ERRORS_LISTED_MAX - this.#listed.length)));
  }

  toProblem(): Problem {
    const count = this.#count;
    const many = this.#listed.length < count ? `the first ${this.#listed.length} of them` : "them";
    return {
      code: "validation-failed",
      detail:
        count === 1
          ? "Nothing was imported: the file has 1 error; see errors."
          : `Nothing was imported: the file has ${count} errors; errors lists ${many}.`,
      members: { errors: this.#listed.toSorted((a, b) => a.line - b.line), errorCount: count },
    };
  }
}
