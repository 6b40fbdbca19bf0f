import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Ends a run with a line for each failure, and one line that people and machines can read. */
export default class CountReporter implements Reporter {
  readonly #counts = { passed: 0, failed: 0, skipped: 0 };
  readonly #failures: string[] = [];

  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    if (state === "pending") return;
    this.#counts[state] += 1;
    if (state === "failed")
      this.#failures.push(failure(`${test.module.relativeModuleId} > ${test.fullName}`, errors[0]));
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly { message: string }[]): void {
    // What fails before or after the tests of a file or a suite is no test's failure.
    for (const module of modules)
      for (const part of [module, ...module.children.allSuites()])
        for (const error of part.errors()) this.#failures.push(failure(module.relativeModuleId, error));
    for (const error of unhandledErrors) this.#failures.push(failure("outside of the tests", error));
    const { passed, skipped } = this.#counts;
    const counts = `${passed} passed, ${this.#failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    process.stdout.write(["", ...this.#failures, counts, ""].join("\n"));
  }
}

const failure = (place: string, error: { message: string } | undefined): string =>
  `failed: ${place}: ${error?.message.split("\n")[0]}`;
