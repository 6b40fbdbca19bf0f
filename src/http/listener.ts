import type { Socket } from "node:net";
import stringify from "fast-json-stringify";
import Fastify, {
  type FastifyInstance,
  type FastifyRequest,
  type FastifySerializerCompiler,
  LogController,
} from "fastify";
import type { Logger } from "pino";
import type { TSchema } from "typebox";
import type { Initiator } from "../audit/record-audit.ts";
import { type Actor, SERVICE } from "../lifecycle/applied-transition.ts";
import { type Owner, UNOWNED } from "../platform/database/fair-share.ts";
import { SECOND_MS } from "../platform/time.ts";
import { malformed, noRoute, PROBLEMS, ProblemError, pathOf } from "../platform/wire/problems.ts";
import { addRoute, type RouteOptions } from "./add-route.ts";
import { addBodyParsers, BODY_LIMIT_BYTES } from "./body.ts";
import { addBodyTimeout, announceStop, leftSignal, originForm, unparsedInput } from "./connections.ts";
import { type ProblemWriter, problemOf, problemWriter, requestIdOf, setCommonFields } from "./replies.ts";
import { addRequestLog, failureLog, type RequestLog, requestLog, UNREAD } from "./request-log.ts";
import { addRequestSpans } from "./request-spans.ts";
import type { Route } from "./route.ts";
import { compileValidator } from "./validator-compiler.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The caller; set before a handler of an authenticated route runs. */
    caller: object | null;
    /** The caller, the request and the operation, for the audit log. Made when it is read. */
    readonly by: Initiator;
    /** Aborted when the client closes its connection. Made when it is read. */
    readonly left: AbortSignal;
  }
  interface FastifyContextConfig {
    operationId?: string;
    /** It takes from the allowance of polls. */
    isPoll?: boolean;
  }
}

type ListenerOptions<Operations, Caller> = RouteOptions<Operations, Caller> & {
  routes: readonly Route<Operations>[];
  /** The caller as the audit log names it. Absent: no route of the table needs it. */
  actorOf?(caller: Caller): Actor;
  /** The caller as the request log names it: members of a line, as JSON. Absent: no caller has a name. */
  callerMembers?(caller: Caller): string;
  /** Whose large bodies are read in turn with those of others. Default: all callers' are in one line. */
  bodyOwner?(caller: Caller): Owner;
  errorsBaseUrl: string;
  /** Addresses and networks of proxies, whose `X-Forwarded-For` names the client. Default: none. */
  trustedProxies?: readonly string[];
  log: Logger;
  /** The part of the requests that is logged. Default: 1, all of them. */
  requestLogSample?: number;
  /** Timeout for the header fields of a request to arrive. Default: 20 s. */
  headersTimeoutMs?: number;
  /** Timeout for a request to arrive completely. Default: 30 s. */
  requestTimeoutMs?: number;
  /** A shorter timeout for requests other than uploads whose caller is admitted. */
  bodyTimeoutMs?: number;
  /** Aborted when the process begins to stop. */
  stopping?: AbortSignal | undefined;
};

// Room for 200 characters of four bytes, percent-encoded. No id is longer.
const PARAMETER_LENGTH_MAX = 16_384;
const HEADERS_TIMEOUT_MS = 20_000;
export const REQUEST_TIMEOUT_MS = 30_000;
/** Node looks for late requests at an interval. Its own, of 30 s, would double the timeouts. */
const TIMEOUT_CHECK_MS = SECOND_MS;

/** An HTTP listener for a route table, with authentication, validation, problems and request ids. */
export function createListener<Operations, Caller extends object>(
  options: ListenerOptions<Operations, Caller>,
): FastifyInstance {
  const { name, metrics } = options;
  const requests = requestLog(options.log, options.requestLogSample ?? 1);
  const problems = problemWriter(options.errorsBaseUrl, requests);
  const logFailure = failureLog(options.log);
  const app = createApp(options, problems, requests);
  app.decorateRequest("caller", null);
  app.decorateRequest("by", {
    getter() {
      const caller = this.caller as Caller; // Only handlers read it: the caller is set.
      return {
        actor: options.actorOf?.(caller) ?? SERVICE,
        requestId: this.id,
        action: this.routeOptions.config.operationId ?? "",
        notRecent: options.notRecent?.(caller) ?? null,
      };
    },
  });
  app.decorateRequest("left", {
    getter() {
      return leftSignal(this.raw.socket);
    },
  });
  const { callerMembers = () => "", bodyOwner = () => UNOWNED } = options;
  const membersOf = (caller: object): string => callerMembers(caller as Caller); // `authenticate` has returned it.
  addRequestSpans(app, name, membersOf);
  addRequestLog(app, requests, membersOf);
  addBodyParsers(app, (caller) => bodyOwner(caller as Caller)); // The same.
  if (options.bodyTimeoutMs !== undefined) addBodyTimeout(app, options.bodyTimeoutMs);
  const noteForwarded =
    options.trustedProxies?.length === 0 ? forwardedWarning(options.log) : () => undefined;
  // The hooks of every request create no promises, and use no objects that Fastify creates on demand.
  app.addHook("onRequest", (request, reply, done) => {
    setCommonFields(reply, request.id);
    noteForwarded(request);
    if (request.is404) problems.send(reply, noRoute(request.method, pathOf(request.raw.url ?? "/")));
    else done();
  });
  announceStop(app, options.stopping);
  app.addHook("onResponse", (request, reply, done) => {
    if (request.is404) metrics.observe(name, request.method, undefined, reply.statusCode, reply.elapsedTime);
    done();
  });
  app.setNotFoundHandler((request, reply) =>
    problems.send(reply, noRoute(request.method, pathOf(request.raw.url ?? "/"))),
  );
  app.setErrorHandler<Parameters<typeof problemOf>[0]>((error, request, reply) => {
    // A client that hung up while it sent its body is not an error of the service, in the log or in the metrics.
    const hungUp = request.raw.destroyed && !request.raw.complete;
    const { problem, logged } = problemOf(
      hungUp ? new ProblemError(malformed("The connection closed before the body was complete.")) : error,
    );
    if (logged) logFailure(error, request, problem.code === "unavailable");
    return problems.send(reply, problem);
  });
  for (const route of options.routes) addRoute(app, route, options, problems);
  return app;
}

/** Warns once of a proxy that is not trusted: limits by address then count all of its clients as one. */
function forwardedWarning(log: Logger): (request: FastifyRequest) => void {
  let isWarned = false;
  return ({ headers, socket }) => {
    if (isWarned || headers["x-forwarded-for"] === undefined) return;
    isWarned = true;
    log.warn(
      { address: socket.remoteAddress },
      "X-Forwarded-For arrives, and TRUSTED_PROXIES is empty: all clients of a proxy count as one",
    );
  };
}

function createApp<Operations, Caller>(
  options: ListenerOptions<Operations, Caller>,
  problems: ProblemWriter,
  requests: RequestLog,
): FastifyInstance {
  const { trustedProxies = [] } = options;
  const unparsed = unparsedInput(problems);
  const app = Fastify({
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    // Most requests log nothing, so requests have no logger of their own. Each log line names its request.
    childLoggerFactory: (logger) => logger,
    bodyLimit: BODY_LIMIT_BYTES,
    // It changes `host` and `protocol` of a request as well, which nothing here reads: only `ip`, by `clientAddress`.
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
    requestTimeout: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    rewriteUrl: ({ url = "/" }) => originForm(url),
    genReqId: (request) => requestIdOf(request.headers["x-request-id"]),
    // The Host header is checked here, so that its error is a problem document too.
    http: {
      requireHostHeader: false,
      headersTimeout: options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    // A path that cannot be decoded matches no route.
    frameworkErrors: (_error, request, reply) => {
      setCommonFields(reply, request.id);
      if (options.stopping?.aborted) reply.header("connection", "close");
      const { id: requestId, method } = request;
      const problem = noRoute(method, pathOf(request.raw.url ?? "/"));
      // No hook runs for it.
      requests.write({
        ...UNREAD,
        requestId,
        method,
        status: PROBLEMS[problem.code].status,
        problem: problem.code,
      });
      return problems.send(reply, problem);
    },
    // Fastify types the socket of HTTP/2 as well, and the error without what the parser adds.
    clientErrorHandler: (error, socket) => unparsed.reject(error, socket as Socket),
  });
  unparsed.watch(app.server);
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  // Node itself would respond to these two without a problem document.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  app.server.on("connect", (request, socket) => {
    const path = pathOf(request.url ?? "/");
    problems.sendRaw(socket as Socket, noRoute("CONNECT", path), path); // Node types it as the stream that it extends.
  });
  return app as unknown as FastifyInstance; // Only the logger's type parameter differs.
}

type Serialize = ReturnType<FastifySerializerCompiler<TSchema>>;

const compiled = new WeakMap<TSchema, Serialize>();

/**
 * Fastify would compile one serializer for each response of each route. Many routes, of both listeners, return objects of
 * the same schema.
 */
const compileSerializer: FastifySerializerCompiler<TSchema> = ({ schema }) => {
  const serialize = compiled.get(schema) ?? stringify(schema);
  compiled.set(schema, serialize);
  return serialize;
};
