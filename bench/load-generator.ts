import { readFile } from "node:fs/promises";
import autocannon from "autocannon";
import { type LoadRequest, sendSteadily } from "./steady-load.ts";

/**
 * Sends requests in its own process, and prints its results as one JSON line. Its argument is a file with a `Load` as JSON.
 */
export type Load = {
  url: string;
  method: "GET" | "POST";
  headers: Record<string, string>;
  /** For reads: the paths, requested in turn, so that no two concurrent requests have the same path. */
  paths?: string[];
  /** For creations: the body, with `{id}` where each request puts its own external id. */
  bodyTemplate?: string;
  idPrefix: string;
  /** Partners that send the creations in turn: a file with an array of `LoadPartner`. */
  partnersFile?: string;
  connections: number;
  seconds: number;
  /** Requests per second, evenly spread. Without it, as many as responses arrive. */
  perSecond?: number;
  /** Number of requests to send, instead of `seconds`. */
  amount?: number;
};

export type LoadResult = {
  requests: number;
  perSecond: number;
  ok: number;
  failed: number;
  p50Ms: number;
  p99Ms: number;
};

/** A partner's key and the body that it sends, with `{id}` where each request puts its own external id. */
export type LoadPartner = { key: string; body: string };

async function run(load: Load): Promise<LoadResult> {
  const next = requestsOf(load, load.partnersFile === undefined ? [] : await readPartners(load.partnersFile));
  if (load.perSecond !== undefined) {
    const { connections, seconds, perSecond } = load;
    return sendSteadily({ origin: new URL(load.url).origin, connections, seconds, perSecond, next });
  }
  const result = await autocannon({
    url: load.url,
    connections: load.connections,
    ...(load.amount === undefined ? { duration: load.seconds } : { amount: load.amount }),
    requests: [{ method: load.method, setupRequest: (request) => ({ ...request, ...next() }) }],
  });
  return {
    requests: result.requests.total,
    perSecond: result["2xx"] / result.duration,
    ok: result["2xx"],
    failed: result.non2xx + result.errors,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  };
}

/** The requests of a load, one after the other. */
function requestsOf(load: Load, partners: readonly LoadPartner[]): () => LoadRequest {
  const { method, headers, bodyTemplate, paths = [] } = load;
  const [head = "", tail = ""] = bodyTemplate?.split("{id}") ?? [];
  const { pathname, search } = new URL(load.url);
  const path = pathname + search;
  let sent = 0;
  return () => {
    sent += 1;
    const id = `${load.idPrefix}-${sent}`;
    const partner = partners[sent % partners.length];
    if (partner !== undefined) {
      const own = { ...headers, authorization: `Bearer ${partner.key}` };
      return { method, path, headers: own, body: partner.body.replace("{id}", id) };
    }
    if (bodyTemplate !== undefined) return { method, path, headers, body: head + id + tail };
    return { method, path: paths[sent % paths.length] ?? path, headers };
  };
}

const readPartners = async (file: string): Promise<LoadPartner[]> =>
  JSON.parse(await readFile(file, "utf8")) as LoadPartner[]; // Written by this benchmark.

const load = JSON.parse(await readFile(process.argv[2] ?? "", "utf8")) as Load; // Written by this benchmark.
process.stdout.write(`${JSON.stringify(await run(load))}\n`);
