import { type IncomingMessage, METHODS, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { malformed, noRoute, type Problem, pathOf } from "../platform/wire/problems.ts";
import { endConnection, type ProblemWriter, UNSUPPORTED_VERSION } from "./replies.ts";

/**
 * From the beginning of a stop on, each response says that its connection will be closed. Otherwise a client could send its
 * next request on a connection at the moment at which it is cut off (docs/design/database.md, "Starting and stopping").
 * @param stopping is aborted when the process begins to stop. Without it, a stop begins when the listener closes.
 */
export function announceStop(app: FastifyInstance, stopping: AbortSignal | undefined): void {
  let announced = false;
  const closeUnused = watchUnused(app.server);
  stopping?.addEventListener("abort", () => {
    announced = true;
  });
  app.addHook("preClose", async () => {
    announced = true;
    setTimeout(closeUnused, UNUSED_MS).unref();
  });
  app.addHook("onSend", (_request, reply, _payload, done) => {
    if (announced) reply.header("connection", "close");
    done();
  });
}

/** How long the first request of a connection may take to arrive when the listener is closed. */
const UNUSED_MS = 250;

/**
 * Returns a function that closes the connections on which nothing has arrived. Clients open some in advance. Node does not
 * take them for idle, so they would delay the end of a listener until they are cut off.
 */
function watchUnused(server: Server): () => void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return () => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
}

/** One for a connection, whatever requests it has had: each would add a listener. */
const LEFT = new WeakMap<Socket, AbortController>();

/** Aborted when the client closes the connection. */
export function leftSignal(socket: Socket): AbortSignal {
  const known = LEFT.get(socket);
  if (known !== undefined) return known.signal;
  const left = new AbortController();
  LEFT.set(socket, left);
  if (socket.destroyed) left.abort();
  else socket.once("close", () => left.abort());
  return left.signal;
}

/** The timer of each request whose body is still arriving. */
const TIMERS = new WeakMap<FastifyRequest["raw"], NodeJS.Timeout>();

/**
 * Ends requests whose bodies do not arrive in time. Node's own timeout is one for the whole listener, so a listener with
 * an upload, which takes long, would grant its time to every caller.
 */
export function addBodyTimeout(app: FastifyInstance, timeoutMs: number): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const { raw } = request;
    if (raw.complete) return done();
    const timer = setTimeout(() => {
      const error = Object.assign(new Error("The body did not arrive in time."), { code: TIMED_OUT });
      // As Node reports its own timeout.
      if (!raw.complete) app.server.emit("clientError", error, raw.socket);
    }, timeoutMs).unref();
    TIMERS.set(raw, timer);
    raw.once("end", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
    done();
  });
}

const TIMED_OUT = "ERR_HTTP_REQUEST_TIMEOUT";

/** An `onRequest` hook of an upload, after its caller is admitted: only the timeout of the listener is left. */
export function allowLongBody(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  clearTimeout(TIMERS.get(request.raw));
  done();
}

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
