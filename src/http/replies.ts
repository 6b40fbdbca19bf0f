import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import { isIP, type Socket } from "node:net";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import ipaddr from "ipaddr.js";
import { isUnavailable } from "../platform/database/database.ts";
import {
  internalError,
  malformed,
  PROBLEMS,
  type Problem,
  ProblemError,
  pathOf,
  problemDocument,
  unavailable,
  validationFailed,
} from "../platform/wire/problems.ts";
import { errorsOf, type RequestPart } from "../platform/wire/validation.ts";
import { type RequestLog, UNREAD } from "./request-log.ts";

const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

/**
 * Fields of every response. Responses contain keys, secrets and addresses, so no proxy or browser may store one
 * (RFC 9111, section 5.2.2.5), and no browser may show a partner's text as a page.
 */
const PROTECTIVE_FIELDS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** Sets the fields of every response that begins as a request. */
export function setCommonFields(reply: FastifyReply, requestId: string): void {
  reply.header("x-request-id", requestId);
  reply.headers(PROTECTIVE_FIELDS);
}

/** Writes all problem documents. */
export type ProblemWriter = {
  send(reply: FastifyReply, problem: Problem): FastifyReply;
  /** For input that never became a request: the response is written to the bare socket, which is then closed. */
  sendRaw(socket: Socket, problem: Problem, instance: string): void;
};

/** @param requests logs the responses to input that never became a request */
export function problemWriter(errorsBaseUrl: string, requests?: RequestLog): ProblemWriter {
  return {
    send(reply, problem) {
      reply.request.problemCode = problem.code;
      const document = problemDocument(problem, errorsBaseUrl, pathOf(reply.request.raw.url ?? "/"));
      if (problem.headers !== undefined) reply.headers(problem.headers);
      return reply.code(PROBLEMS[problem.code].status).type(PROBLEM_TYPE).send(JSON.stringify(document));
    },
    sendRaw(socket, problem, instance) {
      if (!socket.writable) return;
      releaseSocket(socket);
      const { status } = PROBLEMS[problem.code];
      const body = JSON.stringify(problemDocument(problem, errorsBaseUrl, instance));
      const requestId = randomUUID();
      requests?.write({ ...UNREAD, requestId, status, problem: problem.code });
      socket.end(
        [
          `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
          `content-type: ${PROBLEM_TYPE}`,
          `content-length: ${Buffer.byteLength(body)}`,
          `x-request-id: ${requestId}`,
          ...Object.entries(PROTECTIVE_FIELDS).map(([name, value]) => `${name}: ${value}`),
          "connection: close",
          "",
          body,
        ].join("\r\n"),
      );
    },
  };
}

/** Closes a connection after what was written to it. */
export function endConnection(socket: Socket): void {
  if (!socket.writable) return;
  releaseSocket(socket);
  socket.end();
}

/** A client that still sends, or never closes its side, is cut off after this time. */
const LINGER_MS = 2_000;

/**
 * Reads until the client has received the response and closed. Closing at once could lose the response. What is read is
 * dropped: the rest of a rejected request must not let it begin.
 */
function releaseSocket(socket: Socket): void {
  // Node has released the sockets it hands out; a reset without a listener would end the process.
  socket.on("error", () => socket.destroy());
  socket.removeAllListeners("data").on("data", () => undefined);
  const cutOff = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once("close", () => clearTimeout(cutOff));
}

/** Turns every error into a problem. `logged` is true if an operator must know about it. */
export function problemOf(error: FastifyError | ProblemError): { problem: Problem; logged: boolean } {
  if (error instanceof ProblemError) return { problem: error.problem, logged: false };
  if (error.validation !== undefined) {
    const part = (error.validationContext ?? "body") as RequestPart; // Fastify names the part it validated.
    // Fastify types a subset of what its validator, ours, returns.
    const errors = errorsOf(error.validation as Parameters<typeof errorsOf>[0], part);
    return { problem: validationFailed(errors), logged: false };
  }
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return {
        problem: {
          code: "payload-too-large",
          detail: "The body is larger than 256 KiB.",
          members: { maxBytes: 262_144 },
        },
        logged: false,
      };
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return {
        problem: {
          code: "unsupported-media-type",
          detail: "Content-Type must be application/json.",
        },
        logged: false,
      };
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return { problem: malformed("The length of the body does not match Content-Length."), logged: false };
    default:
      return isUnavailable(error)
        ? { problem: unavailable, logged: true }
        : { problem: internalError, logged: true };
  }
}

export const UNSUPPORTED_VERSION = "The HTTP version is not supported; use HTTP/1.1.";

/**
 * The id of a request in logs and responses; a client's own is kept if it is short and has only permitted characters.
 */
export function requestIdOf(sent: string | string[] | undefined): string {
  return typeof sent === "string" && /^[A-Za-z0-9._-]{1,100}$/.test(sent) ? sent : randomUUID();
}

/**
 * The address of the client: behind trusted proxies, the last entry of `X-Forwarded-For` that is none of them
 * (docs/design/people.md, "Attempts"). An entry that is no address cannot be told from others, so the connection's own address
 * stands for it.
 */
export const clientAddress = ({ ip, socket }: Pick<FastifyRequest, "ip" | "socket">): string =>
  isIP(ip) === 0 ? (socket.remoteAddress ?? "") : ip;

/** An IPv6 address counts as its network of 64 bits, because one caller has all of it. */
export function networkOf(request: Pick<FastifyRequest, "ip" | "socket">): string {
  const text = clientAddress(request);
  if (!ipaddr.isValid(text)) return text;
  const address = ipaddr.process(text);
  return address.kind() === "ipv6"
    ? address.toNormalizedString().split(":").slice(0, 4).join(":")
    : address.toString();
}
