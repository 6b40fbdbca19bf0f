import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest. Without their times of a run before, vitest begins with those that have the most bytes. */
const LONGEST = ["test/release/docs/image.test.ts", "test/release/console/pages.test.ts"];

/**
 * Begins with the longest files, so that no process waits for one that another began last
 * (docs/design/testing.md, "What makes a run short").
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const index = LONGEST.findIndex((path) => moduleId.endsWith(path));
  return index < 0 ? LONGEST.length : index;
}
