import { readFile } from "node:fs/promises";
import autocannon from "autocannon";

/**
 * Sends requests as fast as responses arrive, in its own process, and prints its results as one JSON line.
 * Its argument is a `Load` as JSON.
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
  /** Requests per second at most. */
  perSecondMax?: number;
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
  const [head = "", tail = ""] = load.bodyTemplate?.split("{id}") ?? [];
  const partners = load.partnersFile === undefined ? [] : await readPartners(load.partnersFile);
  let sent = 0;
  function next(request: autocannon.Request): autocannon.Request {
    sent += 1;
    const partner = partners[sent % partners.length];
    if (partner !== undefined) {
      const headers = { ...load.headers, authorization: `Bearer ${partner.key}` };
      return { ...request, headers, body: partner.body.replace("{id}", `${load.idPrefix}-${sent}`) };
    }
    if (load.bodyTemplate !== undefined)
      return { ...request, body: `${head}${load.idPrefix}-${sent}${tail}` };
    const path = load.paths?.[sent % load.paths.length];
    return path === undefined ? request : { ...request, path };
  }
  const result = await autocannon({
    url: load.url,
    connections: load.connections,
    ...(load.amount === undefined ? { duration: load.seconds } : { amount: load.amount }),
    ...(load.perSecondMax === undefined ? {} : { overallRate: load.perSecondMax }),
    requests: [{ method: load.method, headers: load.headers, setupRequest: next }],
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

const readPartners = async (file: string): Promise<LoadPartner[]> =>
  JSON.parse(await readFile(file, "utf8")) as LoadPartner[]; // Written by this benchmark.

const load = JSON.parse(process.argv[2] ?? "{}") as Load; // Written by this benchmark.
process.stdout.write(`${JSON.stringify(await run(load))}\n`);
