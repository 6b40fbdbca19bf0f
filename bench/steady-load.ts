import { setTimeout as pause } from "node:timers/promises";
import { Agent, type Dispatcher } from "undici";
import { quantiles } from "./report.ts";

/** A request of a load. */
export type LoadRequest = {
  method: "GET" | "POST";
  path: string;
  headers: Record<string, string>;
  body?: string;
};

export type SteadyLoad = {
  origin: string;
  connections: number;
  seconds: number;
  perSecond: number;
  next: () => LoadRequest;
};

/** The code of this process is compiled and its connections are opened in this time, which would else count as waiting. */
const WARM_UP_SECONDS = 1;

/**
 * Sends requests at fixed times, evenly spread, whatever the responses take. A time is measured from the moment at which
 * the request was due, so that a request that waits for a free connection counts in full. Requests of a first second are
 * sent and counted, but not timed.
 */
export async function sendSteadily({ origin, connections, seconds, perSecond, next }: SteadyLoad) {
  const agent = new Agent({ connections, pipelining: 1 });
  const warmUp = Math.round(WARM_UP_SECONDS * perSecond);
  const amount = warmUp + Math.max(1, Math.round(seconds * perSecond));
  const times: number[] = [];
  const counts = { sent: 0, ok: 0, failed: 0 };
  const ended = Promise.withResolvers<void>();
  async function send(dueAt: number, isTimed: boolean): Promise<void> {
    const { method, path, headers, body } = next();
    try {
      const status = await request(agent, { origin, method, path, headers, ...(body && { body }) });
      if (status < 200 || status >= 300) throw new Error("The request failed.");
      counts.ok += 1;
      if (isTimed) times.push(performance.now() - dueAt);
    } catch {
      counts.failed += 1;
    }
    if (counts.ok + counts.failed === amount) ended.resolve();
  }
  const startedAt = performance.now();
  while (counts.sent < amount) {
    const dueAt = startedAt + (counts.sent * 1_000) / perSecond;
    if (dueAt > performance.now()) await pause(1);
    else {
      void send(dueAt, counts.sent >= warmUp);
      counts.sent += 1;
    }
  }
  await ended.promise;
  const elapsed = (performance.now() - startedAt) / 1_000 - WARM_UP_SECONDS;
  await agent.close();
  return {
    requests: amount,
    perSecond: times.length / Math.max(elapsed, seconds),
    ok: counts.ok,
    failed: counts.failed,
    ...quantiles(times),
  };
}

/** The status of a response that was read to its end. A stream for each would make the collector stop this process longer. */
export function request(agent: Agent, options: Dispatcher.DispatchOptions): Promise<number> {
  const ended = Promise.withResolvers<number>();
  let status = 0;
  agent.dispatch(options, {
    onRequestStart: () => undefined,
    onResponseStart: (_controller, statusCode) => {
      status = statusCode;
    },
    onResponseData: () => undefined,
    onResponseEnd: () => ended.resolve(status),
    onResponseError: (_controller, error) => ended.reject(error),
  });
  return ended.promise;
}
