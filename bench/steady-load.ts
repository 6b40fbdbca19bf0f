import { setTimeout as pause } from "node:timers/promises";
import { Agent } from "undici";
import { quantiles } from "./report.ts";

/** What a request of a load is made of. */
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

/**
 * Sends requests at fixed times, evenly spread, whatever the responses take. A time is measured from the moment at which
 * the request was due, so that a request that waits for a free connection counts in full.
 */
export async function sendSteadily({ origin, connections, seconds, perSecond, next }: SteadyLoad) {
  const agent = new Agent({ connections, pipelining: 1 });
  const times: number[] = [];
  let failed = 0;
  async function send(dueAt: number): Promise<void> {
    const { method, path, headers, body } = next();
    try {
      const response = await agent.request({ origin, method, path, headers, ...(body && { body }) });
      await response.body.dump();
      if (response.statusCode >= 200 && response.statusCode < 300) times.push(performance.now() - dueAt);
      else failed += 1;
    } catch {
      failed += 1;
    }
  }
  const amount = Math.max(1, Math.round(seconds * perSecond));
  const sending: Promise<void>[] = [];
  const startedAt = performance.now();
  while (sending.length < amount) {
    const dueAt = startedAt + (sending.length * 1_000) / perSecond;
    if (dueAt <= performance.now()) sending.push(send(dueAt));
    else await pause(1);
  }
  await Promise.all(sending);
  const elapsed = (performance.now() - startedAt) / 1_000;
  await agent.close();
  return {
    requests: amount,
    perSecond: times.length / Math.max(elapsed, seconds),
    ok: times.length,
    failed,
    ...quantiles(times),
  };
}
