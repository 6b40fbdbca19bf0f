import { EventEmitter } from "node:events";
import { expect, it, onTestFinished, vi } from "vitest";
import { MissingClusterError } from "../../../src/platform/embedded-postgres/cluster.ts";
import { keepRunning } from "../../../src/platform/embedded-postgres/embedded-postgres.ts";
import type { Server } from "../../../src/platform/embedded-postgres/server.ts";

/** A server whose connection ends when the test says so. Nothing else of a connection is used. */
function aServer(pid: number): { server: Server; end: () => void } {
  const connection = new EventEmitter();
  return {
    server: { pid, port: 5_000 + pid, connection: connection as Server["connection"] },
    end: () => connection.emit("end"),
  };
}

/**
 * Keeps a first server. Each attempt to restart it takes the next of `outcomes`: a server, or an error.
 * @param pauses before the attempts, in milliseconds; or the number of those that take no time
 */
function keep(outcomes: (Server | Error)[], pauses: number | number[]) {
  const first = aServer(1);
  const messages: string[] = [];
  const givenUp = Promise.withResolvers<Error>();
  let attempts = 0;
  const provide = async (): Promise<Server> => {
    const outcome = outcomes[attempts];
    attempts += 1;
    if (outcome instanceof Error || outcome === undefined)
      throw outcome ?? new Error("There is no outcome left.");
    return outcome;
  };
  const guard = { warn: (_: object, message: string) => messages.push(message), onGivenUp: givenUp.resolve };
  const pausesMs = typeof pauses === "number" ? Array<number>(pauses).fill(0) : pauses;
  const kept = keepRunning(first.server, provide, guard, pausesMs);
  return { first, kept, messages, givenUp: givenUp.promise, attempts: () => attempts };
}

it("uses the restarted server, and has none until then", async () => {
  const { first, kept, messages } = keep([new Error("not yet"), aServer(2).server], 5);
  expect(await kept.servers.find()).toEqual({ host: "127.0.0.1", port: 5_001 });
  first.end();
  await expect(kept.servers.find()).rejects.toThrow("is being restarted");
  await expect.poll(() => messages.at(-1)).toBe("embedded PostgreSQL runs again");
  expect(await kept.servers.find()).toEqual({ host: "127.0.0.1", port: 5_002 });
  expect(messages).toEqual([
    "embedded PostgreSQL lost, restarting it",
    "embedded PostgreSQL not restarted, will try again",
    "embedded PostgreSQL runs again",
  ]);
});

it("tries a server that does not start again, however often it has failed", async () => {
  const failures = Array.from({ length: 20 }, () => new Error("No space left on device"));
  const { first, kept, messages, attempts } = keep([...failures, aServer(2).server], 3);
  first.end();
  await expect.poll(() => messages.at(-1)).toBe("embedded PostgreSQL runs again");
  expect(attempts()).toBe(21);
  expect(await kept.servers.find()).toEqual({ host: "127.0.0.1", port: 5_002 });
});

it("repeats the last pause once it has failed as often as there are pauses", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { first, attempts } = keep([], [0, 1_000, 60_000]);
  first.end();
  for (const [passedMs, made] of [
    [0, 1],
    [1_000, 2],
    [59_999, 2],
    [1, 3],
    [60_000, 4],
    [60_000, 5],
  ] as const) {
    await vi.advanceTimersByTimeAsync(passedMs);
    expect(attempts()).toBe(made);
  }
});

it("gives up a server whose data has disappeared", async () => {
  const { first, givenUp, attempts } = keep([new MissingClusterError("It has disappeared.")], 3);
  first.end();
  expect(await givenUp).toEqual(new MissingClusterError("It has disappeared."));
  expect(attempts()).toBe(1);
});

it("restarts a server as often as it ends, if it can be started", async () => {
  const others = Array.from({ length: 6 }, (_, index) => aServer(index + 2));
  const { first, messages, attempts } = keep(
    others.map(({ server }) => server),
    2,
  );
  for (const [index, { end }] of [first, ...others.slice(0, 5)].entries()) {
    end();
    await expect.poll(() => messages.filter((each) => each.endsWith("runs again"))).toHaveLength(index + 1);
  }
  expect(attempts()).toBe(6);
});

it("makes no pause for a server that recovers from the crash of a session on its own", async () => {
  const others = Array.from({ length: 4 }, () => aServer(1));
  const { first, messages } = keep(
    others.map(({ server }) => server),
    [0, 3_600_000],
  );
  for (const [index, { end }] of [first, ...others.slice(0, 3)].entries()) {
    end();
    await expect.poll(() => messages.filter((each) => each.endsWith("runs again"))).toHaveLength(index + 1);
  }
});

it("restarts nothing once it has been released", async () => {
  const { first, kept, attempts } = keep([], 5);
  expect(await kept.release()).toBe(first.server);
  first.end();
  expect(attempts()).toBe(0);
  expect(await kept.release()).toBeNull();
});
