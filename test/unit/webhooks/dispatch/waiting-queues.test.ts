import { describe, expect, it } from "vitest";
import { WaitingQueues } from "../../../../src/webhooks/delivery/admission.ts";

const keyOf = (thing: string): string => thing.slice(0, 1);

describe("queues that wait", () => {
  it("lets the keys take turns, however many items one of them has", () => {
    const rotation = new WaitingQueues<string>(keyOf);
    for (const thing of ["a1", "a2", "a3", "b1"]) rotation.add(thing);
    expect([rotation.next(), rotation.next(), rotation.next(), rotation.next(), rotation.next()]).toEqual([
      "a1",
      "b1",
      "a2",
      "a3",
      null,
    ]);
  });

  it("skips keys that are not admitted", () => {
    const rotation = new WaitingQueues<string>(keyOf);
    for (const thing of ["a1", "b1"]) rotation.add(thing);
    expect(rotation.next((key) => key === "b")).toBe("b1");
    expect(rotation.next((key) => key === "b")).toBeNull();
    expect(rotation.size).toBe(1);
  });

  it("looks at a bounded number of keys in each call, and reaches all of them in further calls", () => {
    const rotation = new WaitingQueues<number>(String);
    for (let thing = 0; thing < 300; thing += 1) rotation.add(thing);
    let lookedAt = 0;
    const admitsLast = (key: string): boolean => {
      lookedAt += 1;
      return key === "299";
    };
    expect(rotation.next(admitsLast)).toBeNull();
    expect(lookedAt).toBe(128);
    expect([rotation.next(admitsLast), rotation.next(admitsLast)]).toEqual([null, 299]);
    expect(rotation.size).toBe(299);
  });
});
