import type { Problem } from "./problems.ts";

/** A problem as an error, for code that can only throw, such as a stream or a parser. */
export class ProblemError extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}
