import { expect, it } from "vitest";
import { Throttle } from "../../../../src/webhooks/delivery/admission.ts";

const nextTurn = (): Promise<void> => new Promise(setImmediate);

/** A throttle, and the queues that it has resumed. */
function start(): { throttle: Throttle<string>; resumed: string[] } {
  const resumed: string[] = [];
  return { throttle: new Throttle((queue) => resumed.push(queue)), resumed };
}

it("admits 32 requests before the event loop reads responses, and resumes the delayed ones afterwards", async () => {
  const { throttle, resumed } = start();
  for (let count = 0; count < 32; count += 1) {
    expect(throttle.admits("a")).toBe(true);
    throttle.begun();
  }
  expect([throttle.admits("a"), throttle.admits("b"), throttle.admits("a")]).toEqual([false, false, false]);
  expect(resumed).toEqual([]);
  await nextTurn();
  expect(resumed).toEqual(["a", "b"]);
  expect(throttle.admits("a")).toBe(true);
});

it("admits nothing while 512 outcomes wait to be stored, and resumes a queue as soon as one is stored", () => {
  const { throttle, resumed } = start();
  for (let count = 0; count < 512; count += 1) throttle.ended();
  expect(throttle.admits("a")).toBe(false);
  throttle.stored();
  expect(resumed).toEqual(["a"]);
  expect(throttle.admits("a")).toBe(true);
});

it("counts no request that waits for its receiver", async () => {
  const { throttle } = start();
  for (let count = 0; count < 1_000; count += 1) {
    expect(throttle.admits("slow")).toBe(true);
    throttle.begun();
    if (count % 32 === 31) await nextTurn();
  }
});

it("a queue that is delayed again goes behind the others", () => {
  const resumed: string[] = [];
  const throttle: Throttle<string> = new Throttle((queue) => {
    resumed.push(queue);
    throttle.ended(); // Each uses up what has become free, and asks for more.
    throttle.admits(queue);
  });
  for (let count = 0; count < 512; count += 1) throttle.ended();
  for (const queue of ["a", "b", "c"]) throttle.admits(queue);
  for (let count = 0; count < 4; count += 1) throttle.stored();
  expect(resumed).toEqual(["a", "b", "c", "a"]);
});
