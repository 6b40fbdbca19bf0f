import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Ends a run with one line that people and machines can read. */
export default class CountReporter implements Reporter {
  readonly #counts = { passed: 0, failed: 0, skipped: 0 };

  onTestCaseResult(test: TestCase): void {
    const { state } = test.result();
    if (state !== "pending") this.#counts[state] += 1;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const { passed, failed, skipped } = this.#counts;
    // What fails before or after the tests of a file or a suite is no test's failure.
    const around = modules.flatMap((module) =>
      [module, ...module.children.allSuites()].flatMap((part) => part.errors()),
    );
    const failures = failed + around.length + unhandledErrors.length;
    const line = `${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    process.stdout.write(`\n${line}\n`);
  }
}
