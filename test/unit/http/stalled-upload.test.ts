import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readUpload } from "../../../src/http/upload.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const KIB = 1_024;

/** An upload whose pieces are counted as they arrive, until it ends or is rejected. */
function begin(read: () => Promise<void> | null = () => null) {
  const payload = new PassThrough();
  const result = { received: 0, ended: false, problem: null as string | null };
  const reading = (async () => {
    for await (const piece of readUpload(payload, 1024 * KIB * KIB, read)) result.received += piece.length;
    result.ended = true;
  })().catch((error: { problem: { code: string } }) => {
    result.problem = error.problem.code;
  });
  const after = async (seconds: number, bytes = 0) => {
    await vi.advanceTimersByTimeAsync(seconds * 1_000);
    if (bytes > 0) payload.write(Buffer.alloc(bytes));
    await vi.advanceTimersByTimeAsync(0);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    return { ...result };
  };
  return { payload, after, reading };
}

describe("an upload", () => {
  it("is rejected when nothing arrives for 30 s", async () => {
    const { after } = begin();
    await after(0, 64 * KIB);
    expect(await after(29.9)).toMatchObject({ received: 64 * KIB, problem: null });
    expect(await after(0.2)).toMatchObject({ problem: "malformed-request" });
  });

  it("is rejected when a byte arrives now and then", async () => {
    const { after } = begin();
    expect(await after(29, 1)).toMatchObject({ received: 1, problem: null });
    expect(await after(29, 1)).toMatchObject({ problem: "malformed-request" });
  });

  it("is not rejected when it arrives at 16 KiB a second, for as long as it takes", async () => {
    const { payload, after, reading } = begin();
    for (let seconds = 0; seconds < 100; seconds += 10)
      expect((await after(10, 160 * KIB)).problem).toBe(null);
    payload.end();
    await after(0);
    await reading;
    expect(await after(0)).toEqual({ received: 1_600 * KIB, ended: true, problem: null });
  });

  it("is not rejected for the time in which its own rows are checked", async () => {
    const { promise: checked, resolve } = Promise.withResolvers<void>();
    const { payload, after, reading } = begin(() => checked);
    await after(0, 1);
    expect((await after(300)).problem).toBe(null);
    resolve();
    payload.end();
    await after(0);
    await reading;
    expect(await after(0)).toEqual({ received: 1, ended: true, problem: null });
  });
});
