import { expect, it } from "vitest";
import { Pace } from "../../../../src/webhooks/dispatch/send/pace.ts";

const nextTurn = (): Promise<void> => new Promise(setImmediate);

/** A pace, and the queues that it has resumed. */
function start(): { pace: Pace<string>; resumed: string[] } {
  const resumed: string[] = [];
  return { pace: new Pace((queue) => resumed.push(queue)), resumed };
}

it("admits 32 requests before the event loop reads responses, and resumes the delayed ones afterwards", async () => {
  const { pace, resumed } = start();
  for (let count = 0; count < 32; count += 1) {
    expect(pace.admits("a")).toBe(true);
    pace.begun();
  }
  expect([pace.admits("a"), pace.admits("b"), pace.admits("a")]).toEqual([false, false, false]);
  expect(resumed).toEqual([]);
  await nextTurn();
  expect(resumed).toEqual(["a", "b"]);
  expect(pace.admits("a")).toBe(true);
});

it("admits nothing while 512 outcomes wait to be stored, and resumes a queue as soon as one is stored", () => {
  const { pace, resumed } = start();
  for (let count = 0; count < 512; count += 1) pace.ended();
  expect(pace.admits("a")).toBe(false);
  pace.stored();
  expect(resumed).toEqual(["a"]);
  expect(pace.admits("a")).toBe(true);
});

it("counts no request that waits for its receiver", async () => {
  const { pace } = start();
  for (let count = 0; count < 1_000; count += 1) {
    expect(pace.admits("slow")).toBe(true);
    pace.begun();
    if (count % 32 === 31) await nextTurn();
  }
});

it("a queue that is delayed again goes behind the others", () => {
  const resumed: string[] = [];
  const pace: Pace<string> = new Pace((queue) => {
    resumed.push(queue);
    pace.ended(); // Each uses up what has become free, and asks for more.
    pace.admits(queue);
  });
  for (let count = 0; count < 512; count += 1) pace.ended();
  for (const queue of ["a", "b", "c"]) pace.admits(queue);
  for (let count = 0; count < 4; count += 1) pace.stored();
  expect(resumed).toEqual(["a", "b", "c", "a"]);
});
