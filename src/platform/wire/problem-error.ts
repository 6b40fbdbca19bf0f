import type { Problem } from "./problems.ts";

/** Carries a problem through code that can only throw, such as a stream or a parser, to where the reply is made. */
export class ProblemError extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}
