import { type IncomingMessage, METHODS, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { malformed, noRoute, type Problem, pathOf } from "../../../platform/wire/problems.ts";
import { endConnection, type ProblemWriter, UNSUPPORTED_VERSION } from "../replies.ts";

const LATE = "The request did not arrive in time.";
// By the error code of Node's parser. The details never repeat what was sent.
const PARSER_DETAILS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "The request has too many header fields, or they are too large.",
  HPE_INVALID_VERSION: UNSUPPORTED_VERSION,
  ERR_HTTP_REQUEST_TIMEOUT: LATE,
};

/** An error of Node's parser. */
type ParserError = Error & { code?: string; bytesParsed?: number; rawPacket?: unknown };

/** The response to the newest request of a socket: on the socket, because a map would be changed for each request. */
const NEWEST = Symbol("newest");
type WatchedSocket = Socket & { [NEWEST]?: ServerResponse };

/**
 * Responds to input that Node's parser could not read. A packet can contain several requests, and the parser can fail
 * after a valid one that is still in progress. The response to that request is sent first. Otherwise its order would be
 * placed, and the client would get only an error.
 */
export function unparsedInput(problems: ProblemWriter) {
  function watch(server: Server): void {
    server.on("request", ({ socket }: { socket: WatchedSocket }, response) => {
      socket[NEWEST] = response;
    });
  }

  function reject(error: ParserError, socket: WatchedSocket): void {
    const { problem, instance } = parserProblem(error);
    const newest = socket[NEWEST];
    if (error.code === "ECONNRESET") {
      socket.destroy();
    } else if (newest?.req.complete === false) {
      rejectBody(error, socket, newest);
    } else if (newest === undefined || newest.writableFinished) {
      problems.sendRaw(socket, problem, instance);
    } else {
      newest.once("finish", () => problems.sendRaw(socket, problem, instance));
    }
  }

  /** A request has one final response. It can have its own before its body has arrived, such as 401. */
  function rejectBody(error: ParserError, socket: Socket, response: ServerResponse): void {
    if (response.writableFinished) endConnection(socket);
    else if (response.writableEnded) response.once("finish", () => endConnection(socket));
    // Its turn comes after the response to the request before it.
    else if (response.socket === null) response.once("socket", () => rejectBody(error, socket, response));
    else if (response.headersSent) endConnection(socket);
    else problems.sendRaw(socket, bodyProblem(error), pathOf(response.req.url ?? "/"));
  }

  return { watch, reject };
}

const bodyProblem = ({ code }: ParserError): Problem =>
  malformed(code === "ERR_HTTP_REQUEST_TIMEOUT" ? LATE : "The request's body is not valid HTTP/1.1.");

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]+/i;
const SLASH = 47;

/**
 * The path and the query of a request target. A server accepts the absolute form, `http://host/path`, as clients send it to
 * proxies (RFC 9112, section 3.2.2). Other forms stay as they are.
 */
export function originForm(target: string): string {
  if (target.charCodeAt(0) === SLASH) return target;
  const [origin] = ABSOLUTE_FORM.exec(target) ?? [];
  if (origin === undefined) return target;
  const rest = target.slice(origin.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

const TARGET_LENGTH_MAX = 2_048;
/** A request line: a token, a target, a version (RFC 9112, section 3). */
const REQUEST_LINE = /(?:^|\n)([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e]+) HTTP\/\d\.\d\r?\n/g;

/**
 * The problem for input that is not a request. It belongs to the last request that starts before the position of the
 * error.
 */
function parserProblem({ code = "", rawPacket, bytesParsed = 0 }: ParserError): {
  problem: Problem;
  instance: string;
} {
  const line = requestLineBefore(
    rawPacket instanceof Buffer ? rawPacket.toString("latin1") : "",
    bytesParsed,
  );
  const isPath = line?.target.startsWith("/") === true && line.target.length <= TARGET_LENGTH_MAX;
  const path = line !== null && isPath ? pathOf(line.target) : "/";
  // Any method outside the table matches no route, whether or not Node knows it (specification, part 7).
  if (code === "HPE_INVALID_METHOD" && line !== null && !METHODS.includes(line.method))
    return { problem: noRoute(line.method, pathOf(line.target)), instance: pathOf(line.target) };
  return { problem: malformed(PARSER_DETAILS[code] ?? "The request is not valid HTTP/1.1."), instance: path };
}

function requestLineBefore(text: string, position: number): { method: string; target: string } | null {
  let line: { method: string; target: string } | null = null;
  for (const { index, 0: whole, 1: method = "", 2: target = "" } of text.matchAll(REQUEST_LINE)) {
    if (index + (whole.startsWith("\n") ? 1 : 0) > position) break;
    line = { method, target: originForm(target) };
  }
  return line;
}

/** Why a request is not a valid HTTP/1.1 message, or null. Node's parser accepts more than HTTP/1.1 allows. */
export function messageError({ httpVersion, rawHeaders }: IncomingMessage): string | null {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return UNSUPPORTED_VERSION;
  let hosts = 0;
  // Names and values alternate. RFC 9112, section 3.2: more than one Host is rejected, and HTTP/1.1 needs one.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  if (hosts > 1) return "There is more than one Host header field.";
  return hosts === 0 && httpVersion === "1.1" ? "The Host header field is missing." : null;
}
