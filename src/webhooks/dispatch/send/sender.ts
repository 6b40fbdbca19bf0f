import { Agent } from "undici";
import { NameLookup, type Resolve } from "../names/name-lookup.ts";
import { Deadline } from "./deadline.ts";
import { Exchange, type SendResult } from "./exchange.ts";
import { createGuardedConnector } from "./guarded-connector.ts";
import { InFlight } from "./in-flight.ts";
import { COMMON_HEADERS } from "./request-headers.ts";

/** A receiver may request to keep a socket open, but not for longer. */
const KEEP_ALIVE_MAX_MS = 10_000;

export type SendRequest = {
  /** The connection that it is sent for. Absent if there is none. */
  connectionId?: string;
  url: Readonly<Pick<URL, "origin" | "pathname" | "search">>;
  /** In addition to `content-type` and `user-agent`, which every request has. */
  headers: Readonly<Record<string, string>>;
  /** Text is sent in UTF-8. */
  body: string | Buffer;
};

export type Sender = {
  /** Sends one POST and reads the response. Never rejects, and always ends by the deadline. */
  send(request: SendRequest): Promise<SendResult>;
  /** The number of origins with open connections. These close some seconds after their last use. */
  originCount(): number;
  /** Ends all requests in flight, as `canceled`. */
  cancelAll(): void;
  /** Accepts no more requests, waits for those in flight, and closes all connections. */
  close(): Promise<void>;
};

type SenderSettings = {
  /** One deadline for lookup, connection, request and response. */
  timeoutMs: number;
  allowPrivateNetworks: boolean;
  /** While so many sockets are open, none is kept for a further request. */
  socketsKeptMax?: number;
  /** For tests. Default: the DNS. */
  lookup?: Resolve;
};

/**
 * Sends webhooks over connections that are reused. It follows no redirects, uses no proxy, and verifies certificates. The
 * number of concurrent requests to an origin is not limited here: many endpoints may share an origin, and the limit is one
 * of the endpoint.
 */
export function createSender(settings: SenderSettings): Sender {
  const { timeoutMs } = settings;
  const client = openClient(settings);
  const commonHeaders = Object.entries(COMMON_HEADERS).flat();

  const inFlight = new InFlight<Exchange>();
  const deadline = new Deadline(inFlight, timeoutMs);
  let whenIdle: (() => void) | null = null;
  let closing: Promise<void> | null = null;

  function send({ connectionId = "", url, headers, body }: SendRequest): Promise<SendResult> {
    return new Promise((resolve) => {
      const finish = (result: SendResult) => {
        inFlight.remove(exchange);
        if (inFlight.isEmpty) whenIdle?.();
        resolve(result);
      };
      const exchange = new Exchange(finish);
      inFlight.add(exchange);
      deadline.watch();
      if (closing !== null) return exchange.end("canceled");
      const { origin, pathname, search } = url;
      const allHeaders = commonHeaders.slice();
      for (const name in headers) allHeaders.push(name, headers[name] ?? "");
      client.dispatch(connectionId, exchange, { origin, path: pathname + search, headers: allHeaders, body });
    });
  }

  async function end(): Promise<void> {
    await new Promise<void>((resolve) => {
      whenIdle = resolve;
      if (inFlight.isEmpty) resolve();
    });
    await client.close();
  }

  function close(): Promise<void> {
    closing ??= end();
    return closing;
  }

  function cancelAll(): void {
    for (const exchange of inFlight.all()) exchange.end("canceled");
  }

  return { send, cancelAll, originCount: client.originCount, close };
}

type Posted = { origin: string; path: string; headers: string[]; body: string | Buffer };

/** The HTTP client of a sender. It knows for which connection it opens a socket. */
function openClient({
  timeoutMs,
  allowPrivateNetworks,
  socketsKeptMax = Number.POSITIVE_INFINITY,
  lookup,
}: SenderSettings) {
  const names = new NameLookup({ allowPrivateNetworks });
  const resolve = lookup ?? names.resolve;
  /** The connection whose request is being dispatched: the agent opens a socket for it within that call. */
  let dispatchingFor = "";
  const { connect, socketCount } = createGuardedConnector({
    timeoutMs,
    allowPrivateNetworks,
    lookup: (name) => resolve(name, dispatchingFor),
  });
  const agent = new Agent({
    connect,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    allowH2: false,
    pipelining: 1,
    // The deadline takes their place. They start again with every byte, so a slow response would never end.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  function dispatch(connectionId: string, exchange: Exchange, { origin, path, headers, body }: Posted): void {
    dispatchingFor = connectionId;
    const reset = socketCount() >= socketsKeptMax;
    agent.dispatch({ origin, path, method: "POST", headers, body, reset }, exchange);
    dispatchingFor = "";
  }

  async function close(): Promise<void> {
    names.close();
    await agent.destroy(); // `close` would wait for idle connections.
  }

  return { dispatch, close, originCount: () => Object.keys(agent.stats).length };
}
