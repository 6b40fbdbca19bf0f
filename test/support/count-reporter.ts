import type { Reporter, TestCase } from "vitest/node";

/** Ends a run with one line that people and machines can read. */
export default class CountReporter implements Reporter {
  readonly #counts = { passed: 0, failed: 0, skipped: 0 };

  onTestCaseResult(test: TestCase): void {
    const { state } = test.result();
    if (state !== "pending") this.#counts[state] += 1;
  }

  onTestRunEnd(_modules: unknown, unhandledErrors: readonly unknown[]): void {
    const { passed, failed, skipped } = this.#counts;
    const line = `${passed} passed, ${failed + unhandledErrors.length} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    process.stdout.write(`\n${line}\n`);
  }
}
