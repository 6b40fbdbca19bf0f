import { describe, expect, it } from "vitest";
import { checkJobs, checkKeys, checkProcesses, checkVersions } from "../../../src/operations/checks.ts";
import { JobNotes, type JobRuns, processStatus, sumUpJobs } from "../../../src/operations/processes-sql.ts";

const at = (seconds: number): Date => new Date(seconds * 1_000);
const runsOf = (runs: Partial<JobRuns>): JobRuns => ({
  job: "route-orders",
  runningSince: null,
  last: null,
  failureCount: 0,
  nextRunAt: null,
  ...runs,
});

describe("the status of a process", () => {
  it.each([
    [60, null, "running"],
    [60.001, null, "missing"],
    [0, 0, "stopped"],
    [3_600, 0, "stopped"],
  ] as const)("%s s after it was seen, stopped at %s: %s", (seconds, stopped, status) => {
    const process = { seenAt: at(0), stoppedAt: stopped === null ? null : at(stopped) };
    expect(processStatus(process, at(seconds))).toBe(status);
  });
});

describe("the sum of a job over processes", () => {
  it("has the last run of all, the next one, and the most failures", () => {
    const last = (seconds: number) => ({
      startedAt: at(seconds),
      durationMs: seconds,
      itemCount: 1,
      error: null,
    });
    expect(
      sumUpJobs([
        runsOf({ last: last(5), nextRunAt: at(30), failureCount: 3 }),
        runsOf({ last: last(9), nextRunAt: at(20) }),
        runsOf({ runningSince: at(10) }),
        runsOf({ job: "accept-orders" }),
      ]),
    ).toEqual([
      { ...runsOf({ job: "accept-orders" }), runningCount: 0 },
      {
        ...runsOf({ last: last(9), nextRunAt: at(20), runningSince: at(10), failureCount: 3 }),
        runningCount: 1,
      },
    ]);
  });

  it("is empty without a worker", () => expect(sumUpJobs([])).toEqual([]));
});

describe("what a worker notes of its jobs", () => {
  it("keeps the last run while the next is in progress, and counts failures until a success", () => {
    let now = at(1);
    const notes = new JobNotes({ now: () => now });
    notes.started("a");
    expect(notes.list()).toEqual([runsOf({ job: "a", runningSince: at(1) })]);
    now = at(3);
    notes.ended("a", { error: new Error(`no\0 database ${"x".repeat(600)}`) }, 500);
    const [failed] = notes.list();
    expect(failed).toMatchObject({ failureCount: 1, runningSince: null, nextRunAt: at(3.5) });
    expect(failed?.last).toMatchObject({ startedAt: at(1), durationMs: 2_000, itemCount: null });
    expect(failed?.last?.error).toMatch(/^no database x+$/);
    expect(failed?.last?.error).toHaveLength(500);
    notes.started("a");
    expect(notes.list()).toMatchObject([{ failureCount: 1, nextRunAt: null, last: { startedAt: at(1) } }]);
    notes.ended("a", { error: "again" }, 500);
    expect(notes.list()).toMatchObject([{ failureCount: 2, last: { error: "again" } }]);
    notes.started("a");
    notes.ended("a", { itemCount: 7 }, 500);
    expect(notes.list()).toMatchObject([{ failureCount: 0, last: { itemCount: 7, error: null } }]);
  });

  it("has no negative duration when the clock is set back", () => {
    let now = at(9);
    const notes = new JobNotes({ now: () => now });
    notes.started("a");
    now = at(1);
    notes.ended("a", { itemCount: 0 }, 0);
    expect(notes.list()).toMatchObject([{ last: { durationMs: 0 } }]);
  });
});

describe("the checks of processes and jobs", () => {
  it("warn of what is missing or fails, by name", () => {
    expect(checkProcesses(0, [])).toMatchObject({ status: "ok" });
    expect(checkProcesses(2, ["a (process 1)", "b (process 2)"])).toMatchObject({
      status: "warn",
      message: expect.stringContaining("a (process 1), b (process 2)"),
    });
    expect(checkJobs([])).toMatchObject({ status: "ok" });
    expect(checkJobs(["send-mails"])).toMatchObject({
      status: "warn",
      message: expect.stringContaining("send-mails"),
    });
  });
});

describe("processes that differ", () => {
  const process = (pid: number, version: string, ...keyIds: string[]) => ({
    host: "h",
    pid,
    version,
    startedAt: at(pid),
    keyIds,
  });

  it.each<
    [name: string, newest: string | null, running: ReturnType<typeof process>[], lacking: string | null]
  >([
    ["none runs", "new", [], null],
    ["all have the newest key", "new", [process(1, "1", "new")], null],
    [
      "a new key waits behind the old one",
      "old",
      [process(1, "1", "old", "new"), process(2, "1", "old")],
      null,
    ],
    ["one lacks the key of the configuration", "new", [process(1, "1", "old")], "h (process 1): new"],
    [
      "one lacks the key with which another one encrypts",
      "old",
      [process(1, "1", "old"), process(2, "1", "new", "old")],
      "h (process 1): new",
    ],
    ["the configuration has no key", null, [process(1, "1", "old")], null],
  ])("%s: lacking are the keys of %s", (_name, newest, running, lacking) => {
    const { status, values } = checkKeys(running, newest);
    expect([status, values["processes"] ?? null]).toEqual([lacking === null ? "ok" : "warn", lacking]);
  });

  it("are measured by the version that started last, also after a step back", () => {
    expect(checkVersions([])).toMatchObject({ status: "ok" });
    expect(checkVersions([process(1, "2.0.0"), process(2, "2.0.0")])).toMatchObject({ status: "ok" });
    expect(checkVersions([process(1, "2.0.0"), process(2, "1.9.0")])).toMatchObject({
      status: "warn",
      values: { processes: "h (process 1): 2.0.0", version: "1.9.0" },
    });
  });
});
