import { describe, expect, it } from "vitest";
import { FairShare, WaitingQueues } from "../../../../src/webhooks/delivery/admission.ts";

/** Takes one after the other for as long as there is room; returns how much that was. */
function takeAll(share: FairShare, key: string): number {
  let count = 0;
  for (; share.admits(key); count += 1) share.take(key, 1);
  return count;
}

describe("room that is shared", () => {
  it("is eight ninths of all for one that is alone, at once or little by little", () => {
    expect(new FairShare(900).freeFor("a")).toBe(800);
    const share = new FairShare(900);
    share.take("a", 300);
    expect(share.freeFor("a")).toBe(500);
    expect(takeAll(share, "a")).toBe(500);
  });

  it("is always left for newcomers", () => {
    const share = new FairShare(900);
    takeAll(share, "attacker");
    for (const victim of ["b", "c", "d"]) {
      expect(share.freeFor(victim)).toBeGreaterThan(0);
      share.take(victim, 1);
    }
    expect(share.freeFor("attacker")).toBe(0);
  });

  it("goes to the last unit for one that holds nothing", () => {
    const share = new FairShare(1);
    expect(share.freeFor("a")).toBe(1);
    share.take("a", 1);
    expect([share.freeFor("a"), share.freeFor("b")]).toEqual([0, 0]);
    share.giveBack("a", 1);
    expect([share.isUnused, share.freeFor("b")]).toEqual([true, 1]);
  });

  it("ends as equal shares: who holds more gets nothing until others have as much", () => {
    const share = new FairShare(1_700);
    const held = new Map([["attacker", takeAll(share, "attacker")]]);
    for (let round = 0; round < 2_000; round += 1) {
      for (const key of ["victim", "attacker"]) {
        if (share.admits(key)) {
          share.take(key, 1);
          held.set(key, (held.get(key) ?? 0) + 1);
        }
        if (key === "victim" && (held.get("attacker") ?? 0) > 0) {
          share.giveBack("attacker", 1);
          held.set("attacker", (held.get("attacker") ?? 0) - 1);
        }
      }
    }
    expect([held.get("victim"), held.get("attacker")]).toEqual([800, 800]);
  });
});

describe("a rotation", () => {
  it("gives turns to keys, whatever the number of their items", () => {
    const rotation = new WaitingQueues<string>((thing) => thing.slice(0, 1));
    for (const thing of ["a1", "a2", "a2", "a3", "b1", "c1"]) rotation.add(thing);
    expect(rotation.size).toBe(5);
    const order = Array.from({ length: 6 }, () => rotation.next());
    expect(order).toEqual(["a1", "b1", "c1", "a2", "a3", null]);
    expect(rotation.size).toBe(0);
  });

  it("passes over keys that are not admitted", () => {
    const rotation = new WaitingQueues<string>((thing) => thing.slice(0, 1));
    for (const thing of ["a1", "b1"]) rotation.add(thing);
    expect(rotation.next((key) => key === "b")).toBe("b1");
    expect(rotation.next((key) => key === "b")).toBeNull();
    expect(rotation.next()).toBe("a1");
  });
});
