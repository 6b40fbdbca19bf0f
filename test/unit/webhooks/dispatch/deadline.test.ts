import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Deadline, InFlight } from "../../../../src/webhooks/delivery/exchange.ts";

type Exchange = { position: number; startedAt: number; end(error: string): void };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** Exchanges with a deadline of 1 000 ms, and those that reached it, as "name error at". */
function exchanges() {
  const inFlight = new InFlight<Exchange>();
  const deadline = new Deadline(inFlight, 1_000);
  const ended: string[] = [];
  const begin = (name: string): Exchange => {
    const end = (error: string) => {
      ended.push(`${name} ${error} at ${performance.now() - origin}`);
      inFlight.remove(exchange);
    };
    const exchange = { position: 0, startedAt: performance.now(), end };
    inFlight.add(exchange);
    deadline.watch();
    return exchange;
  };
  const origin = performance.now();
  return { begin, ended, inFlight };
}

describe("the deadline of exchanges", () => {
  it("ends each one after the same time, whenever it began", () => {
    const { begin, ended } = exchanges();
    begin("a");
    vi.advanceTimersByTime(300);
    begin("b");
    vi.advanceTimersByTime(500);
    begin("c");
    vi.advanceTimersByTime(5_000);
    expect(ended).toEqual(["a timeout at 1000", "b timeout at 1300", "c timeout at 1800"]);
  });

  it("does not concern one that has ended, and begins again for one that begins later", () => {
    const { begin, ended, inFlight } = exchanges();
    inFlight.remove(begin("a"));
    vi.advanceTimersByTime(5_000);
    begin("b");
    vi.advanceTimersByTime(999);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(ended).toEqual(["b timeout at 6000"]);
  });
});
