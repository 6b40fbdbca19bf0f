import { describe, expect, it } from "vitest";
import { SendWindow } from "../../../../src/webhooks/delivery/endpoint-queue.ts";

const sizes = ({ inFlightMax, aheadMax }: SendWindow) => ({ inFlightMax, aheadMax });

describe("the window of an endpoint", () => {
  it.each([
    ["a healthy endpoint", 8, false, 2],
    ["a failing endpoint", 8, true, 1],
    ["a limit of one request", 1, false, 1],
  ])("starts small: %s", (_title, limit, isFailing, size) => {
    expect(sizes(new SendWindow(limit, isFailing))).toEqual({ inFlightMax: size, aheadMax: size });
  });

  it("doubles with each success up to the limit", () => {
    const window = new SendWindow(10, false);
    const grown = Array.from({ length: 4 }, () => {
      window.succeeded();
      return window.inFlightMax;
    });
    expect(grown).toEqual([4, 8, 10, 10]);
  });

  it("halves with each failure down to one, and claims no further ahead than that", () => {
    const window = new SendWindow(8, false);
    for (let count = 0; count < 3; count += 1) window.succeeded();
    window.ranDry();
    const shrunk = Array.from({ length: 4 }, () => {
      window.failed();
      return sizes(window);
    });
    expect(shrunk).toEqual([4, 2, 1, 1].map((size) => ({ inFlightMax: size, aheadMax: size })));
  });

  it("claims twice as far ahead each time it is empty, up to 32 times the limit", () => {
    const window = new SendWindow(1, false);
    const ahead = Array.from({ length: 6 }, () => {
      window.ranDry();
      return window.aheadMax;
    });
    expect(ahead).toEqual([2, 4, 8, 16, 32, 32]);
  });

  it("applies a changed limit: a lower one at once, a higher one with further successes", () => {
    const window = new SendWindow(8, false);
    for (let count = 0; count < 3; count += 1) window.succeeded();
    window.limitTo(3);
    expect(window.inFlightMax).toBe(3);
    window.limitTo(100);
    expect(window.inFlightMax).toBe(3);
    window.succeeded();
    expect(window.inFlightMax).toBe(6);
  });
});
