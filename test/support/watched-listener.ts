import { randomInt } from "node:crypto";
import { Writable } from "node:stream";
import fc from "fast-check";
import { expect } from "vitest";
import { describePartnerApi } from "../../src/partner-api/description.ts";
import { createLog } from "../../src/platform/log.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { answerCheckOf } from "./answer-check.ts";
import { readStoredOrders } from "./orders.ts";
import { type PartnerListener, type RequestHeaders, startPartnerListener } from "./partner-listener.ts";
import { exchange, type RawAnswer, requestText } from "./sockets.ts";

/** A failure is reported with its seed; add the case to the examples by name once it is fixed. */
const RUNS = { numRuns: 300, interruptAfterTimeLimit: 3_000 };

/** A listener of which every response is checked, whatever was sent. */
export type WatchedListener = PartnerListener & {
  /** Sends a request as bytes; the response must be described, and not an internal error. */
  send(method: string, target: string, headers: RequestHeaders, body?: string | Buffer): Promise<RawAnswer>;
  postOrder(body: string | Buffer, headers?: RequestHeaders): Promise<RawAnswer>;
  /** Orders must be stored for responses of 201 and for nothing else, and the service must keep running. */
  expectStoredFor(work: () => Promise<RawAnswer[] | RawAnswer>): Promise<void>;
  /** Runs the request over all cases, and counts the orders at the end. */
  fuzz<T>(arbitrary: fc.Arbitrary<T>, request: (value: T) => Promise<RawAnswer>): Promise<void>;
  /** Also holds that the service has logged no failure and counted none. */
  close(): Promise<void>;
};

export async function startWatchedListener(): Promise<WatchedListener> {
  const metrics = createMetrics();
  const logged: string[] = [];
  const lines = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  const listener = await startPartnerListener({ log: createLog("warn", lines), metrics });
  const { test, partner, url, authorized, authorizedJson } = listener;
  const check = answerCheckOf(JSON.stringify(describePartnerApi(test.context.config)));

  async function send(
    method: string,
    target: string,
    headers: RequestHeaders,
    body?: string | Buffer,
  ): Promise<RawAnswer> {
    const answer = await exchange(url, requestText(`${method} ${target} HTTP/1.1`, headers, body));
    expect(answer.status, answer.body).toBeLessThan(500);
    // A request that Node's parser rejects never reached a route; its problem names no path.
    const unread = answer.status === 400 && JSON.parse(answer.body).instance === "/";
    if (!unread) check(method, target, answer);
    return answer;
  }

  async function expectStoredFor(work: () => Promise<RawAnswer[] | RawAnswer>, seed?: number): Promise<void> {
    const before = (await readStoredOrders(test, partner)).length;
    const answers = [await work()].flat();
    const created = answers.filter(({ status }) => status === 201).length;
    const stored = await readStoredOrders(test, partner);
    expect(stored.length - before, seed === undefined ? undefined : `with the seed ${seed}`).toBe(created);
    for (const { lines, events } of stored) {
      expect(lines).toBeGreaterThan(0);
      expect(events[0]).toBe("order.created");
    }
    expect((await send("GET", "/v1/me", authorized())).status).toBe(200);
  }

  async function fuzz<T>(
    arbitrary: fc.Arbitrary<T>,
    request: (value: T) => Promise<RawAnswer>,
  ): Promise<void> {
    const seed = randomInt(2 ** 31);
    await expectStoredFor(async () => {
      const answers: Promise<RawAnswer>[] = [];
      await fc.assert(
        fc.asyncProperty(arbitrary, async (value) => {
          const answer = request(value);
          answers.push(answer);
          await answer;
        }),
        { ...RUNS, seed },
      );
      // When its time is up, fast-check does not wait for the request under way; its order counts all the same.
      return Promise.all(answers);
    }, seed);
  }

  return {
    ...listener,
    send,
    postOrder: (body, headers = {}) => send("POST", "/v1/orders", { ...authorizedJson(), ...headers }, body),
    expectStoredFor,
    fuzz,
    close: async () => {
      await listener.close();
      // A wrong key is a failure of the client, which the service reports.
      const failures = logged.filter((line) => JSON.parse(line).msg !== "authentication failed");
      expect(failures, "nothing that a client sends is a failure of the service").toEqual([]);
      expect(await metrics.registry.metrics()).not.toMatch(/status="5/);
    },
  };
}
