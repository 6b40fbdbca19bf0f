import { isIP, type LookupFunction, type Socket } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { Agent, buildConnector } from "undici";
import { isPublicAddress, literalAddress } from "../endpoints/endpoint-request.ts";
import {
  AddressNotPublicError,
  COMMON_HEADERS,
  CutOffError,
  Deadline,
  Exchange,
  InFlight,
  NoPublicAddressError,
  NotHttpsError,
  PARSED_MAX_BYTES,
  ReadLimit,
  type SendResult,
} from "./exchange.ts";
import { NameLookup, NoSuchNameError, type Resolve } from "./public-lookup.ts";

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
  /** True: the connection is closed in the middle of the body (docs/design/deliveries.md, "Rehearsed faults"). */
  isCutOff?: boolean;
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

  function send({ connectionId = "", url, headers, body, isCutOff }: SendRequest): Promise<SendResult> {
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
      const posted = { origin, path: pathname + search, headers: allHeaders };
      if (isCutOff === true) client.dispatch(connectionId, exchange, cutOff(posted, body));
      else client.dispatch(connectionId, exchange, { ...posted, body });
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

type Posted = { origin: string; path: string; headers: string[]; body: string | Buffer | Readable };

/** The connection is closed so long after the first half of a body, which should have arrived by then. */
const CUT_OFF_AFTER_MS = 100;

function cutOff(posted: Omit<Posted, "body">, text: string | Buffer): Posted {
  const body = Buffer.from(text);
  return {
    ...posted,
    headers: [...posted.headers, "content-length", String(body.length)],
    body: Readable.from(firstHalf(body), { objectMode: false }),
  };
}

async function* firstHalf(body: Buffer): AsyncIterable<Buffer> {
  yield body.subarray(0, Math.ceil(body.length / 2));
  await wait(CUT_OFF_AFTER_MS);
  throw new CutOffError();
}

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
    maxHeaderSize: 2 * PARSED_MAX_BYTES, // Never reached: the connection ends before.
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

type Connection = {
  timeoutMs: number;
  allowPrivateNetworks: boolean;
  /** Called during the call of the connector. */
  lookup: (name: string) => ReturnType<Resolve>;
};

/**
 * Opens the connections of the sender, to public addresses only. There are three checks, because each finds what the
 * others cannot: literal addresses, for which no lookup happens; all addresses of a name, of which none may be private,
 * because a partner could repeat the request until the private one comes first; and the address of the connection, before
 * a byte is sent.
 */
function createGuardedConnector(connection: Connection) {
  const { timeoutMs, allowPrivateNetworks } = connection;
  const isAllowed = (address: string) => allowPrivateNetworks || isPublicAddress(address);
  const connect = buildConnector({
    allowH2: false, // One request at a time on each connection, so that none waits for another.
    timeout: timeoutMs,
    lookup: guardedLookup(connection),
  });

  const readLimit = new ReadLimit();

  const open = (options: buildConnector.Options, callback: buildConnector.Callback): void => {
    const literal = literalAddress(options.hostname);
    if (literal !== null && !isAllowed(literal)) {
      // Called later, because the client does not expect a result during this call.
      queueMicrotask(() => callback(new AddressNotPublicError(), null));
      return;
    }
    // The connector returns the socket, although its type is wider.
    const socket = connect(options, callback) as unknown as Socket;
    readLimit.watch(socket, options.protocol === "https:" ? "secureConnect" : "connect");
    // Before the existing listeners: with TLS, the first of them begins the handshake.
    socket.prependOnceListener("connect", () => {
      if (!isAllowed(socket.remoteAddress ?? ""))
        socket.destroy(literal === null ? new NoPublicAddressError() : new AddressNotPublicError());
      // The endpoint may have been registered while private networks were allowed.
      else if (!allowPrivateNetworks && options.protocol !== "https:") socket.destroy(new NotHttpsError());
    });
  };
  return { connect: open, socketCount: () => readLimit.socketCount };
}

/**
 * Where private networks are not allowed, a name that does not exist and one with a private address are the same, because
 * the partner reads the error.
 */
function guardedLookup({ lookup, allowPrivateNetworks }: Connection): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname).then(
      (addresses) => {
        const [first] = addresses;
        const isAllowed = allowPrivateNetworks || addresses.every(({ address }) => isPublicAddress(address));
        if (first === undefined || !isAllowed) return callback(new NoPublicAddressError(), "");
        if (options.all) return callback(null, [...addresses]);
        callback(null, first.address, isIP(first.address));
      },
      (error) => {
        const isHidden = error instanceof NoSuchNameError && !allowPrivateNetworks;
        callback(isHidden ? new NoPublicAddressError() : error, "");
      },
    );
  };
}
