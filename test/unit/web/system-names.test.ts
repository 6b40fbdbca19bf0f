import { describe, expect, it } from "vitest";
import { REASONS } from "../../../src/operations/checks.ts";
import { QUEUES } from "../../../src/operations/metrics.ts";
import { DAY_TABLES } from "../../../src/platform/database/day-partitions.ts";
import { JOBS } from "../../../src/service/jobs.ts";
import { de } from "../../../web/src/text/texts.de.ts";
import { en } from "../../../web/src/text/texts.en.ts";

const namesOf = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name).toSorted();

/** The console has a text for each name that the service reports. That German has all of them, the compiler checks. */
describe.each([
  ["English", en],
  ["German", de],
])("in %s", (_language, { systemNames }) => {
  it("each job has a name", () =>
    expect(Object.keys(systemNames.jobs).toSorted()).toEqual(
      [...namesOf(JOBS), "find-due-deliveries"].toSorted(), // It runs beside them.
    ));

  it("each queue has a name", () =>
    expect(Object.keys(systemNames.queues).toSorted()).toEqual(namesOf(QUEUES)));

  it("each reason of a check has a sentence", () =>
    expect(Object.keys(systemNames.reasons).toSorted()).toEqual([...REASONS].toSorted()));

  it("each partitioned table has a name", () =>
    expect(Object.keys(systemNames.checks)).toEqual(
      expect.arrayContaining(DAY_TABLES.map((table) => `partitions of ${table}`)),
    ));
});
