import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { Logger } from "pino";
import type { RequestMetrics } from "../metrics.ts";
import { addBodyParsers, BODY_LIMIT_BYTES, ProblemError } from "./body.ts";
import { isProblem, malformed, noRoute, type Problem, pathOf } from "./problems.ts";
import { type ProblemWriter, parserProblem, problemOf, problemWriter, requestIdOf } from "./replies.ts";
import type { Route } from "./route.ts";
import { createValidatorCompiler } from "./validation.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Matches the raw path: a percent-encoded `/v1/%6De` is not `/v1/me` (specification, part 7, notes). */
    exactPath?: RegExp;
  }
}

export type ListenerOptions<Caller> = {
  name: "partner-api" | "back-office";
  routes: readonly Route<Caller>[];
  /** Who is asking, or the refusal. Runs after the route is matched and before the body is read. */
  authenticate(request: FastifyRequest, reply: FastifyReply): Promise<Caller | Problem>;
  errorsBaseUrl: string;
  log: Logger;
  metrics: RequestMetrics;
};

// Room for 200 characters of four bytes, percent-encoded; longer ones are no id of ours.
const PARAMETER_LENGTH_MAX = 16_384;
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** An HTTP listener over a table of routes: authentication, validation, problems and request ids for all alike. */
export function createListener<Caller extends object>(options: ListenerOptions<Caller>): FastifyInstance {
  const problems = problemWriter(options.errorsBaseUrl);
  const app = createApp(options, problems);
  addBodyParsers(app);
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
    const exactPath = request.routeOptions.config.exactPath;
    const path = pathOf(request.raw.url ?? "/");
    if (request.is404 || exactPath?.test(path) === false)
      return problems.send(reply, noRoute(request.method, path));
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") {
      return problems.send(reply, malformed("The Host header field is missing."));
    }
  });
  app.addHook("onResponse", async (request, reply) => {
    options.metrics.observe(
      options.name,
      request.method,
      request.routeOptions.url,
      reply.statusCode,
      reply.elapsedTime,
    );
  });
  app.setNotFoundHandler((request, reply) =>
    problems.send(reply, noRoute(request.method, pathOf(request.raw.url ?? "/"))),
  );
  app.setErrorHandler<Parameters<typeof problemOf>[0]>((error, request, reply) => {
    const { problem, logged } = problemOf(error);
    if (logged)
      request.log.error(
        { err: error, method: request.method, route: request.routeOptions.url },
        "request failed",
      );
    return problems.send(reply, problem);
  });
  for (const route of options.routes) addRoute(app, route, options.authenticate, problems);
  return app;
}

function createApp<Caller>(options: ListenerOptions<Caller>, problems: ProblemWriter): FastifyInstance {
  const app = Fastify({
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    genReqId: (request) => requestIdOf(request.headers["x-request-id"]),
    // The Host check is ours, so that its refusal is a problem document as well.
    http: { requireHostHeader: false, headersTimeout: HEADERS_TIMEOUT_MS },
    // A path that cannot be decoded names nothing: it matches no route.
    frameworkErrors: (_error, request, reply) => {
      reply.header("x-request-id", request.id);
      return problems.send(reply, noRoute(request.method, pathOf(request.raw.url ?? "/")));
    },
    clientErrorHandler: (error, socket) => {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ECONNRESET") socket.destroy();
      else problems.sendRaw(socket, parserProblem(code ?? ""), "/");
    },
  });
  app.setValidatorCompiler(createValidatorCompiler());
  // Node would answer these two by itself, without a problem document.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  app.server.on("connect", (request, socket) => {
    problems.sendRaw(
      socket as import("node:net").Socket,
      noRoute("CONNECT", request.url ?? "/"),
      request.url ?? "/",
    );
  });
  return app as unknown as FastifyInstance; // Only the logger's type parameter differs.
}

function addRoute<Caller extends object>(
  app: FastifyInstance,
  route: Route<Caller>,
  authenticate: ListenerOptions<Caller>["authenticate"],
  problems: ProblemWriter,
): void {
  const callers = new WeakMap<FastifyRequest, Caller>();
  app.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ":$1"),
    config: { exactPath: new RegExp(`^${route.path.replace(/\{\w+\}/g, "[^/]+")}$`) },
    schema: {
      ...(route.params && { params: route.params }),
      ...(route.query && { querystring: route.query }),
      ...(route.headers && { headers: route.headers }),
      ...(route.body && { body: route.body }),
      response: responseSchemas(route),
    },
    onRequest: async (request, reply) => {
      const caller = await authenticate(request, reply);
      if (isProblem(caller)) throw new ProblemError(caller);
      callers.set(request, caller);
    },
    handler: async (request, reply) => {
      const answer = await route.handle({
        caller: callers.get(request),
        params: request.params,
        query: request.query,
        headers: request.headers,
        body: request.body,
      });
      if (isProblem(answer)) return problems.send(reply, answer);
      if (answer.headers !== undefined) reply.headers(answer.headers);
      return reply.code(answer.status).send(answer.body);
    },
  });
}

function responseSchemas<Caller>(route: Route<Caller>): Record<string, unknown> {
  const entries = Object.entries(route.answers).filter(([, { schema }]) => schema !== undefined);
  return Object.fromEntries(entries.map(([status, { schema }]) => [status, schema]));
}
