import { expect } from "vitest";
import { PROBLEMS, type ProblemCode } from "../../src/platform/wire/problems.ts";
import { type PartnerListener, type RequestHeaders, startPartnerListener } from "./partner-listener.ts";
import { exchange, requestText } from "./sockets.ts";

export const ERRORS_BASE_URL = "https://docs.example/errors";

export type Rejected = { status: number; headers: Record<string, string | undefined>; document: Document };
type Document = Record<string, unknown> & { type: string; detail: string };

/** A listener, and ways to send it requests that it must reject. */
export type Wire = PartnerListener & {
  /** Sends a request as bytes over a connection of its own. */
  sendRaw(bytes: string | Buffer): Promise<Rejected>;
  /** Sends a request by its method and path; without given header fields, it sends the key. */
  send(line: string, headers?: RequestHeaders, body?: string | Buffer): Promise<Rejected>;
  /** The same with a body in chunks, as they stand on the wire. */
  chunked(line: string, headers: Record<string, string>, chunks: string): Promise<Rejected>;
  postOrder(order: object, headers?: Record<string, string>): Promise<Rejected>;
};

export async function startWire(): Promise<Wire> {
  const listener = await startPartnerListener({ config: { errorsBaseUrl: ERRORS_BASE_URL } });
  const { url, authorized, authorizedJson } = listener;
  const sendRaw = async (bytes: string | Buffer): Promise<Rejected> => {
    const { status, headers, body } = await exchange(url, bytes);
    return { status, headers, document: JSON.parse(body) };
  };
  const send: Wire["send"] = (line, headers = authorized(), body) =>
    sendRaw(requestText(`${line} HTTP/1.1`, headers, body));
  return {
    ...listener,
    sendRaw,
    send,
    chunked: (line, headers, chunks) => {
      const head = requestText(`${line} HTTP/1.1`, { ...headers, "transfer-encoding": "chunked" });
      return sendRaw(`${head.toString("latin1")}${chunks}`);
    },
    postOrder: (order, headers = {}) =>
      send("POST /v1/orders", { ...authorizedJson(), ...headers }, JSON.stringify(order)),
  };
}

/** The response is this problem, complete and well-formed, and reveals nothing internal. */
export function expectRejection(answer: Rejected, code: ProblemCode, instance: string): void {
  const { status, headers, document } = answer;
  expect(document, JSON.stringify(document)).toMatchObject({
    type: `${ERRORS_BASE_URL}/${code}`,
    code,
    title: PROBLEMS[code].title,
    status: PROBLEMS[code].status,
    detail: expect.stringMatching(/^[A-Z].*\.$/),
    instance,
  });
  expect(status).toBe(PROBLEMS[code].status);
  expect(headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  expect(headers["x-request-id"]).toMatch(/^[A-Za-z0-9._-]{1,100}$/);
  expectNothingInternal(JSON.stringify({ ...document, instance: "" }));
  expectNothingInternal(JSON.stringify({ ...headers, "x-request-id": "" }));
}

/** Text that only the service itself contains: code, files, statements, tables, drivers and their messages. */
const INTERNAL = [
  /\bat .*:\d+|\.[jt]s\b|node_modules|\/src\/|stack/,
  /\b(select|insert|update|delete)\s+\w+\s+(from|into|set)\b|relation|column|constraint|_products|\bpg\b|postgres/i,
  /\bE(CONN|PIPE|TIMED|NOT|ADDR)[A-Z]*\b|\b(FST|HPE|ERR)_|SQLSTATE|\b\d{2}[A-Z]\d{2}\b/,
  /127\.0\.0\.1|undefined|\[object|NaN/,
];

function expectNothingInternal(text: string): void {
  for (const pattern of INTERNAL) expect(text).not.toMatch(pattern);
}
