import { describe, expect, it } from "vitest";
import { ClaimSchedule } from "../../../../src/webhooks/delivery/claimer.ts";
import { aConnection } from "../../../support/claims.ts";

/** A schedule with these connections waiting, each of which gets a claim of its own. */
function scheduleOf(...connectionIds: string[]): ClaimSchedule {
  const schedule = new ClaimSchedule(1);
  for (const id of connectionIds) schedule.add(aConnection(id));
  return schedule;
}

/** Begins the next claim, and returns the id of its connection. */
const begin = (schedule: ClaimSchedule): string | null => schedule.begin()[0]?.connectionId ?? null;

describe("the schedule of claims", () => {
  it("begins claims in the order in which connections were added, each once", () => {
    const schedule = scheduleOf("a", "b", "a");
    expect([begin(schedule), begin(schedule), begin(schedule)]).toEqual(["a", "b", null]);
  });

  it("puts a connection that is added again after its claim began behind all others", () => {
    const schedule = scheduleOf("a", "b");
    begin(schedule);
    schedule.add(aConnection("a"));
    schedule.end([aConnection("a")]);
    expect([begin(schedule), begin(schedule)]).toEqual(["b", "a"]);
  });

  it("never runs two claims of one connection at a time, and skips it for the next one", () => {
    const schedule = scheduleOf("a");
    begin(schedule);
    schedule.add(aConnection("a"));
    schedule.add(aConnection("b"));
    expect([begin(schedule), begin(schedule)]).toEqual(["b", null]);
    schedule.end([aConnection("a")]);
    expect(begin(schedule)).toBe("a");
  });

  it("runs at most four claims at a time", () => {
    const schedule = scheduleOf("a", "b", "c", "d", "e");
    const begun = Array.from({ length: 5 }, () => begin(schedule));
    expect(begun).toEqual(["a", "b", "c", "d", null]);
    schedule.end([aConnection("c")]);
    expect(begin(schedule)).toBe("e");
  });

  it("reports for which connections claims run", () => {
    const schedule = scheduleOf("a", "b");
    begin(schedule);
    expect([schedule.isClaiming(aConnection("a")), schedule.isClaiming(aConnection("b"))]).toEqual([
      true,
      false,
    ]);
    schedule.end([aConnection("a")]);
    expect(schedule.isClaiming(aConnection("a"))).toBe(false);
  });

  it("is idle when nothing waits and nothing runs", () => {
    const schedule = new ClaimSchedule();
    expect(schedule.isIdle).toBe(true);
    schedule.add(aConnection("a"));
    expect(schedule.isIdle).toBe(false);
    begin(schedule);
    expect(schedule.isIdle).toBe(false);
    schedule.end([aConnection("a")]);
    expect(schedule.isIdle).toBe(true);
  });

  it("begins nothing after it was closed, and becomes idle when the running claims end", () => {
    const schedule = scheduleOf("a", "b");
    begin(schedule);
    schedule.close();
    schedule.add(aConnection("c"));
    expect([begin(schedule), schedule.isIdle]).toEqual([null, false]);
    schedule.end([aConnection("a")]);
    expect([begin(schedule), schedule.isIdle]).toEqual([null, true]);
  });

  it("begins one claim for all connections that wait, up to its size, except those for which one runs", () => {
    const schedule = new ClaimSchedule(3);
    schedule.add(aConnection("a"));
    const alone = schedule.begin();
    for (const id of ["a", "b", "c", "d", "e"]) schedule.add(aConnection(id));
    const ids = (connections: readonly { connectionId: string }[]) =>
      connections.map(({ connectionId }) => connectionId);
    expect([ids(alone), ids(schedule.begin()), ids(schedule.begin()), schedule.begin()]).toEqual([
      ["a"],
      ["b", "c", "d"],
      ["e"],
      [],
    ]);
    schedule.end(alone);
    expect(ids(schedule.begin())).toEqual(["a"]);
  });
});
