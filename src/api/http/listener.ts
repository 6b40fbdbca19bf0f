import type { Socket } from "node:net";
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { Logger } from "pino";
import type { Initiator } from "../../audit/initiator.ts";
import { type Actor, SERVICE } from "../../lifecycle/applied-transition.ts";
import type { RequestMetrics } from "../../platform/metrics.ts";
import { withinSpan } from "../../platform/telemetry/tracing.ts";
import { ProblemError } from "../../platform/wire/problem-error.ts";
import {
  forbidden,
  isProblem,
  malformed,
  noRoute,
  PROBLEMS,
  type Problem,
  pathOf,
  type ValidationError,
  validationFailed,
} from "../../platform/wire/problems.ts";
import { errorsOf } from "../../platform/wire/validation.ts";
import type { RouteDescription } from "../route-description.ts";
import { addBodyParsers, BODY_LIMIT_BYTES, bodyCheck, ignoreBody } from "./body.ts";
import { addBodyTimeout, allowLongBody } from "./body-timeout.ts";
import { addRequestLog } from "./log/add-request-log.ts";
import { failureLog } from "./log/failure-log.ts";
import { type RequestLog, requestLog, UNREAD } from "./log/request-log.ts";
import { type ProblemWriter, problemOf, problemWriter, requestIdOf, setCommonFields } from "./replies.ts";
import { addRequestSpans } from "./request-spans.ts";
import type { Route } from "./route.ts";
import { compileSerializer } from "./serializer-compiler.ts";
import { messageError, unparsedInput } from "./unparsed.ts";
import { addUploadParser, uploadTypeCheck } from "./upload.ts";
import { closedQuery, compileValidator } from "./validator-compiler.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The caller; set before a handler of an authenticated route runs. */
    caller: object | null;
    /** The caller, the request and the operation, for the audit log. Made when it is asked for. */
    readonly by: Initiator;
  }
  interface FastifyContextConfig {
    operationId?: string;
  }
}

type ListenerOptions<Operations, Caller> = {
  name: "partner-api" | "back-office";
  routes: readonly Route<Operations, Caller>[];
  /** What the handler of a route works with when this caller requests it: the only place that gives it a database. */
  operationsFor(caller: Caller, route: RouteDescription): Operations;
  /** The caller, or an error. Runs after the route is matched and before the body is read. */
  authenticate(request: FastifyRequest, reply: FastifyReply): Promise<Caller | Problem>;
  /** The caller as the audit log names it. Absent: no route of the table needs it. */
  actorOf?(caller: Caller): Actor;
  /** The caller as the request log names it: members of a line, as JSON. Absent: no caller has a name. */
  callerMembers?(caller: Caller): string;
  /** Whose large bodies are read in turn with those of others. Default: all callers' are in one line. */
  bodyOwner?(caller: Caller): string;
  /** The response to a caller that a route does not admit. Default: its role does not allow the operation. */
  notAdmitted?: Problem;
  errorsBaseUrl: string;
  log: Logger;
  /** The part of the requests that is logged. Default: 1, all of them. */
  requestLogSample?: number;
  metrics: RequestMetrics;
  /** Timeout for a request to arrive completely. Default: 30 s. */
  requestTimeoutMs?: number;
  /** A shorter timeout for requests other than uploads whose caller is admitted. */
  bodyTimeoutMs?: number;
};

// Room for 200 characters of four bytes, percent-encoded. No id is longer.
const PARAMETER_LENGTH_MAX = 16_384;
const JSON_TYPE = "application/json; charset=utf-8";
const HEADERS_TIMEOUT_MS = 20_000;
export const REQUEST_TIMEOUT_MS = 30_000;

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
      const actor = options.actorOf?.(this.caller as Caller) ?? SERVICE; // Only handlers ask: the caller is set.
      return { actor, requestId: this.id, action: this.routeOptions.config.operationId ?? "" };
    },
  });
  const { callerMembers = () => "", bodyOwner = () => "" } = options;
  const membersOf = (caller: object): string => callerMembers(caller as Caller); // `authenticate` has returned it.
  addRequestSpans(app, name, membersOf);
  addRequestLog(app, requests, membersOf);
  addBodyParsers(app, (caller) => bodyOwner(caller as Caller)); // The same.
  if (options.bodyTimeoutMs !== undefined) addBodyTimeout(app, options.bodyTimeoutMs);
  // The hooks of every request create no promises, and use no objects that Fastify creates on demand.
  app.addHook("onRequest", (request, reply, done) => {
    setCommonFields(reply, request.id);
    if (request.is404) problems.send(reply, noRoute(request.method, pathOf(request.raw.url ?? "/")));
    else done();
  });
  // A client that still sends on its connection would keep a stopping process from ending until it is cut off.
  let stopping = false;
  app.addHook("preClose", async () => {
    stopping = true;
  });
  app.addHook("onSend", (_request, reply, _payload, done) => {
    if (stopping) reply.header("connection", "close");
    done();
  });
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
  for (const route of options.routes) addInScope(app, route, options, problems);
  return app;
}

function createApp<Operations, Caller>(
  options: ListenerOptions<Operations, Caller>,
  problems: ProblemWriter,
  requests: RequestLog,
): FastifyInstance {
  const unparsed = unparsedInput(problems);
  const app = Fastify({
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    // Most requests log nothing, so requests have no logger of their own. Each log line names its request.
    childLoggerFactory: (logger) => logger,
    bodyLimit: BODY_LIMIT_BYTES,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
    requestTimeout: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    genReqId: (request) => requestIdOf(request.headers["x-request-id"]),
    // The Host header is checked here, so that its error is a problem document too.
    http: { requireHostHeader: false, headersTimeout: HEADERS_TIMEOUT_MS },
    // A path that cannot be decoded matches no route.
    frameworkErrors: (_error, request, reply) => {
      setCommonFields(reply, request.id);
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

/** The parser of an upload must not read the bodies of other routes. */
function addInScope<Operations, Caller extends object>(
  app: FastifyInstance,
  route: Route<Operations, Caller>,
  options: ListenerOptions<Operations, Caller>,
  problems: ProblemWriter,
): void {
  const { upload } = route;
  if (upload === undefined) addRoute(app, route, options, problems);
  else
    app.register(async (scope) => {
      addUploadParser(scope, upload);
      addRoute(scope, route, options, problems);
    });
}

function addRoute<Operations, Caller extends object>(
  app: FastifyInstance,
  route: Route<Operations, Caller>,
  {
    name,
    authenticate,
    metrics,
    operationsFor,
    notAdmitted = forbidden,
  }: ListenerOptions<Operations, Caller>,
  problems: ProblemWriter,
): void {
  // Matches the raw path: a percent-encoded `/v1/%6De` is not `/v1/me` (specification, part 7, notes).
  const exactPath = new RegExp(`^${route.path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`);

  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    request.row = route.path;
    const path = pathOf(request.raw.url ?? "/");
    if (!exactPath.test(path)) throw new ProblemError(noRoute(request.method, path));
    const error = messageError(request.raw);
    if (error !== null) throw new ProblemError(malformed(error));
    const caller = await withinSpan(request.span, () => authenticate(request, reply));
    if (isProblem(caller)) throw new ProblemError(caller);
    if (route.admits?.(caller) === false) throw new ProblemError(notAdmitted);
    request.caller = caller;
  }

  async function respond(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const operations = operationsFor(request.caller as Caller, route); // `admit` has set it.
    // The row's schemas have validated the request, so it has the type that the row expects.
    const answer =
      (await bodyProblem(route, request, operations)) ?? (await route.handle(request as never, operations));
    if (isProblem(answer)) return problems.send(reply, answer);
    if (answer.headers !== undefined) reply.headers(answer.headers);
    reply.code(answer.status);
    return answer.json === undefined ? reply.send(answer.body) : reply.type(JSON_TYPE).send(answer.json);
  }

  app.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ":$1"),
    config: { operationId: route.operationId },
    schema: {
      ...(route.params && { params: route.params }),
      ...(route.query && {
        querystring: route.ignoresUnknownParameters ? route.query : closedQuery(route.query),
      }),
      ...(route.headers && { headers: route.headers }),
      ...(route.body && { body: route.body }),
      response: responseSchemas(route),
    },
    onRequest: [admit, ...bodyHooks(route)],
    ...(route.body && { preValidation: bodyCheck(route.body) }),
    // The schema's error then waits until the route has reported its own errors.
    attachValidation: route.bodyErrors !== undefined,
    handler: (request, reply) => withinSpan(request.span, () => respond(request, reply)),
    onResponse: (request, reply, done) => {
      metrics.observe(name, request.method, route.path, reply.statusCode, reply.elapsedTime);
      done();
    },
  });
}

function bodyHooks({ body, upload }: RouteDescription) {
  if (upload !== undefined) return [uploadTypeCheck(upload), allowLongBody];
  return body === undefined ? [ignoreBody] : [];
}

/**
 * All errors of a body at once: those of the schema, and those of the route in fields that the schema accepts.
 */
async function bodyProblem<Operations, Caller>(
  { bodyErrors }: Route<Operations, Caller>,
  request: FastifyRequest,
  operations: Operations,
): Promise<Problem | null> {
  if (bodyErrors === undefined) return null;
  const { validationError } = request;
  if (validationError !== undefined && validationError.validationContext !== "body") throw validationError;
  const fromSchema = validationError === undefined ? [] : errorsOf(validationError.validation, "body");
  const pointers = new Set(fromSchema.map(pointerOf));
  const further = (await bodyErrors(request as never, operations)).filter(
    (error) => !pointers.has(pointerOf(error)),
  );
  const errors = [...fromSchema, ...further];
  return errors.length === 0 ? null : validationFailed(errors);
}

const pointerOf = (error: ValidationError): string => ("pointer" in error ? error.pointer : "");

function responseSchemas(route: RouteDescription): Record<string, unknown> {
  const entries = Object.entries(route.responses).filter(([, { schema }]) => schema !== undefined);
  return Object.fromEntries(entries.map(([status, { schema }]) => [status, schema]));
}
