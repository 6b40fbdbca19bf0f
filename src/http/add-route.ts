import { Socket } from "node:net";
import { finished, Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RequestMetrics } from "../platform/metrics.ts";
import { withinSpan } from "../platform/telemetry/tracing.ts";
import { SECOND_MS } from "../platform/time.ts";
import {
  forbidden,
  isProblem,
  malformed,
  noRoute,
  type Problem,
  ProblemError,
  pathOf,
  type ValidationError,
  validationFailed,
} from "../platform/wire/problems.ts";
import { errorsOf } from "../platform/wire/validation.ts";
import { bodyCheck, ignoreBody } from "./body.ts";
import { allowLongBody, messageError } from "./connections.ts";
import type { ProblemWriter } from "./replies.ts";
import type { Route, RouteDescription } from "./route.ts";
import { addUploadParser, uploadTypeCheck } from "./upload.ts";
import { closedQuery } from "./validator-compiler.ts";

/**
 * A promise only if there is something to wait for: most requests need none
 * (docs/design/performance.md, "Less work for a request").
 */
export type Authenticated<Caller> = Caller | Problem | Promise<Caller | Problem>;

/** Common to all routes of a listener. */
export type RouteOptions<Operations, Caller> = {
  name: "partner-api" | "back-office";
  /** What the handler of a route works with when this caller requests it: only this function gives it a database. */
  operationsFor(caller: Caller, route: RouteDescription): Operations;
  /** The caller, or an error. Runs after the route is matched and before the body is read. */
  authenticate(request: FastifyRequest, reply: FastifyReply): Authenticated<Caller>;
  /** The caller as a row that names roles sees it. Null: the row does not admit it. Absent: the listener has no roles. */
  admit?(caller: Caller, row: { readonly admits?: readonly string[] }): Caller | null;
  /** The problem of a token that lacks the scope of a row. Absent: the listener has no scopes. */
  outOfScope?(caller: Caller, row: RouteDescription): Problem | null;
  /** The problem of a caller who must prove again who it is before some effects, and some routes. Absent: no caller must. */
  notRecent?(caller: Caller): Problem | null;
  /** The response to a caller that a route does not admit. Default: its role does not allow the operation. */
  notAdmitted?: Problem;
  metrics: RequestMetrics;
};

const JSON_TYPE = "application/json; charset=utf-8";

/** Adds a row of a route table. An upload has a scope of its own: its parser must not read the bodies of other routes. */
export function addRoute<Operations, Caller extends object>(
  app: FastifyInstance,
  route: Route<Operations>,
  options: RouteOptions<Operations, Caller>,
  problems: ProblemWriter,
): void {
  const { upload } = route;
  if (upload === undefined) addInScope(app, route, options, problems);
  else
    app.register(async (scope) => {
      addUploadParser(scope, upload);
      addInScope(scope, route, options, problems);
    });
}

function addInScope<Operations, Caller extends object>(
  app: FastifyInstance,
  route: Route<Operations>,
  options: RouteOptions<Operations, Caller>,
  problems: ProblemWriter,
): void {
  const { name, metrics } = options;
  const respond = responder(route, options, problems);
  app.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ":$1"),
    config: { operationId: route.operationId, ...(route.isPoll && { isPoll: true }) },
    schema: {
      ...(route.params && { params: route.params }),
      ...(route.query && {
        querystring: route.ignoresUnknownParameters ? route.query : closedQuery(route.query),
      }),
      ...(route.headers && { headers: route.headers }),
      ...(route.body && { body: route.body }),
      response: responseSchemas(route),
    },
    onRequest: [admission(route, options), ...bodyHooks(route)],
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

/** Admits a request to a row: its exact path, its form, its key and the role of its caller. */
function admission<Operations, Caller extends object>(
  route: Route<Operations>,
  {
    authenticate,
    admit = (caller) => caller,
    outOfScope = () => null,
    notRecent = () => null,
    notAdmitted = forbidden,
  }: RouteOptions<Operations, Caller>,
) {
  // Matches the raw path: a percent-encoded `/v1/%6De` is not `/v1/me` (specification, part 7, notes).
  const exactPath = new RegExp(`^${route.path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`);
  function enter(request: FastifyRequest, caller: Caller | Problem): void {
    if (isProblem(caller)) throw new ProblemError(caller);
    const admitted = admit(caller, route);
    if (admitted === null) throw new ProblemError(notAdmitted);
    const narrow = outOfScope(admitted, route);
    if (narrow !== null) throw new ProblemError(narrow);
    const stale = route.needsRecentAuthentication ? notRecent(admitted) : null;
    if (stale !== null) throw new ProblemError(stale);
    request.caller = admitted;
  }

  /** Null: the caller has entered. */
  function tryToEnter(request: FastifyRequest, reply: FastifyReply): Promise<void> | null {
    request.row = route.path;
    const path = pathOf(request.raw.url ?? "/");
    if (!exactPath.test(path)) throw new ProblemError(noRoute(request.method, path));
    const error = messageError(request.raw);
    if (error !== null) throw new ProblemError(malformed(error));
    const caller = withinSpan(request.span, () => authenticate(request, reply));
    if (caller instanceof Promise) return caller.then((found) => enter(request, found));
    enter(request, caller);
    return null;
  }

  return (request: FastifyRequest, reply: FastifyReply, done: () => void): Promise<void> | undefined => {
    try {
      const entering = tryToEnter(request, reply);
      if (entering !== null) return entering;
    } catch (error) {
      // Not at once: Node's parser may find an error in the rest of the packet, and that one is reported.
      return Promise.reject(error);
    }
    done();
    return undefined;
  };
}

function responder<Operations, Caller extends object>(
  route: Route<Operations>,
  { operationsFor }: RouteOptions<Operations, Caller>,
  problems: ProblemWriter,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const operations = operationsFor(request.caller as Caller, route); // `admission` has set it.
    // The row's schemas have validated the request, so it has the type that the row expects.
    const invalid = route.bodyErrors === undefined ? null : await bodyProblem(route, request, operations);
    const answer = invalid ?? (await route.handle(request as never, operations));
    if (isProblem(answer)) return problems.send(reply, answer);
    if (answer.isLost) return cutOff(reply);
    if (answer.headers !== undefined) reply.headers(answer.headers);
    reply.code(answer.status);
    if (answer.ended !== undefined) finished(reply.raw, answer.ended);
    if (answer.body instanceof Readable) endIfStalled(reply);
    return answer.json === undefined ? reply.send(answer.body) : reply.type(JSON_TYPE).send(answer.json);
  };
}

function cutOff(reply: FastifyReply): FastifyReply {
  reply.hijack();
  reply.raw.destroy();
  return reply;
}

/** A client that reads nothing of a file for this long is cut off. What was not sent would be kept for it. */
const STALLED_MS = 30 * SECOND_MS;

/** Node destroys a socket that makes no progress within its timeout, and sets it again when the response is sent. */
function endIfStalled(reply: FastifyReply): void {
  const { socket } = reply.raw;
  if (socket instanceof Socket) socket.setTimeout(STALLED_MS); // Requests of tests have none.
}

/** Fastify reads no body of a GET. */
function bodyHooks({ method, body, upload }: RouteDescription) {
  if (upload !== undefined) return [uploadTypeCheck(upload), allowLongBody];
  return body === undefined && method !== "GET" ? [ignoreBody] : [];
}

/**
 * All errors of a body at once: those of the schema, and those of the route in fields that the schema accepts.
 */
async function bodyProblem<Operations>(
  { bodyErrors }: Route<Operations>,
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
