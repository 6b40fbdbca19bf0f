import { describe, expect, it } from "vitest";
import { JOBS } from "../../../src/app/jobs.ts";
import { REASONS } from "../../../src/monitoring/checks/rules.ts";
import { QUEUES } from "../../../src/monitoring/queues.ts";
import { DAY_TABLES } from "../../../src/platform/database/day-partitions.ts";
import { de } from "../../../web/src/text/de/index.ts";
import { en } from "../../../web/src/text/en/index.ts";

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
