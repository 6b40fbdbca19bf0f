import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { MINUTE_MS } from "../../platform/time.ts";
import { UnavailableError } from "../failure.ts";
import { OutputError } from "../output.ts";
import type { BackOfficeRequest } from "../requests/command.ts";
import { type BackOffice, type BackOfficeResponse, readResponse } from "./back-office.ts";
import { faultOf, hintOf, isOurs, notBackOffice, notOurs } from "./http-faults.ts";
import type { ServiceAddress } from "./service-address.ts";

/** How long each may take, in milliseconds. */
export type TimeLimits = {
  readonly responseMs: number;
  readonly uploadMs: number;
  /** Between two parts of a file. */
  readonly partMs: number;
};
/** No statement of the service takes a minute. It gives an import ten minutes to arrive, and then stores it. */
const TIME_LIMITS: TimeLimits = { responseMs: MINUTE_MS, uploadMs: 15 * MINUTE_MS, partMs: MINUTE_MS };
/** A page of the API is far smaller. It bounds the memory for an address that is not the service. */
const RESPONSE_BYTES_MAX = 64 * 1_024 * 1_024;

type Sending = {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly mediaType?: string;
  readonly body?: string | Readable;
};

/** The back office of a running service, over HTTP with a token. Redirects are not followed, so that the token stays. */
export function openOverHttp(address: ServiceAddress, limits: TimeLimits = TIME_LIMITS): BackOffice {
  return {
    send: async (request) => {
      const deadline = deadlineOf(limits.responseMs);
      return guarded(address, request.method, deadline, async () =>
        read(address, await send(address, sendingOf(request), deadline)),
      );
    },
    upload: async (path, mediaType, bytes) => {
      const deadline = deadlineOf(limits.uploadMs);
      return guarded(address, "POST", deadline, async () =>
        read(address, await send(address, { method: "POST", path, mediaType, body: bytes }, deadline)),
      );
    },
    download: async (request, write) => {
      const deadline = deadlineOf(limits.partMs);
      return guarded(address, request.method, deadline, async () => {
        const response = await send(address, sendingOf(request), deadline);
        if (response.status >= 400 || !isOurs(response)) return read(address, response);
        const decoder = new TextDecoder();
        for await (const part of partsOf(response)) {
          deadline.stop();
          await write(decoder.decode(part, { stream: true }));
          deadline.restart();
        }
        return { status: response.status, text: "", body: {} };
      });
    },
    close: async () => undefined,
  };
}

const sendingOf = ({ method, path, query, body }: BackOfficeRequest): Sending => ({
  method,
  path: Object.keys(query).length === 0 ? path : `${path}?${new URLSearchParams(query)}`,
  ...(body !== null && { mediaType: "application/json", body: JSON.stringify(body) }),
});

async function send(
  { url, token }: ServiceAddress,
  { method, path, mediaType, body }: Sending,
  { signal }: Deadline,
): Promise<Response> {
  return fetch(`${url.origin}${url.pathname.replace(/\/+$/, "")}${path}`, {
    method,
    redirect: "manual",
    signal,
    headers: {
      accept: "application/json, text/csv, application/x-ndjson",
      authorization: `Bearer ${token}`,
      ...(mediaType !== undefined && { "content-type": mediaType }),
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : streamOf(body), duplex: "half" }),
  });
}

// Node declares the stream of the web twice: for fetch and for node:stream.
const streamOf = (body: Readable) => Readable.toWeb(body) as ReadableStream & globalThis.ReadableStream;

async function read(address: ServiceAddress, response: Response): Promise<BackOfficeResponse> {
  if (!isOurs(response)) throw notOurs(address.url, response);
  const decoder = new TextDecoder();
  let [text, byteCount] = ["", 0];
  for await (const part of partsOf(response)) {
    byteCount += part.length;
    if (byteCount > RESPONSE_BYTES_MAX) throw notOurs(address.url, response);
    text += decoder.decode(part, { stream: true });
  }
  const nextCursor = response.headers.get("next-cursor");
  const shown = readResponse(response.status, response.headers.get("content-type") ?? "", nextCursor, text);
  const fault = notBackOffice(address.url, shown);
  if (fault !== null) throw fault;
  const hint = hintOf(address.url, shown);
  return hint === null ? shown : { ...shown, hint };
}

/** The body of a response without one is null. */
async function* partsOf({ body }: Response): AsyncGenerator<Uint8Array> {
  if (body !== null) yield* body;
}

/** Aborts what uses `signal` after a time, unless it is stopped. */
type Deadline = { readonly signal: AbortSignal; stop(): void; restart(): void };

function deadlineOf(timeoutMs: number): Deadline {
  const controller = new AbortController();
  const start = () => setTimeout(() => controller.abort(new TimeoutError(timeoutMs)), timeoutMs);
  let timer = start();
  return {
    signal: controller.signal,
    stop: () => clearTimeout(timer),
    restart: () => {
      clearTimeout(timer);
      timer = start();
    },
  };
}

class TimeoutError extends Error {
  readonly code = "ETIMEDOUT";
  constructor(timeoutMs: number) {
    super(`no response within ${timeoutMs / 1_000} s`);
  }
}

/** Reports in one sentence why no response came. */
async function guarded(
  { url }: ServiceAddress,
  method: string,
  deadline: Deadline,
  work: () => Promise<BackOfficeResponse>,
): Promise<BackOfficeResponse> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnavailableError || error instanceof OutputError) throw error;
    throw faultOf(url, method, error);
  } finally {
    deadline.stop();
  }
}
