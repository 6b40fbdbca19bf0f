import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Problem } from "../../../platform/wire/problems.ts";
import type { RequestLog } from "./request-log.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The path of the row of the route table that matched. Null for other routes. */
    row: string | null;
    /** The code of the problem that the response contains. Null if it contains none. */
    problemCode: Problem["code"] | null;
  }
  interface FastifyContextConfig {
    /** Successful requests are not logged: monitoring sends them every few seconds. */
    isMonitoring?: boolean;
  }
}

/**
 * Logs each request of a listener once, when its response was sent or its client has closed the connection.
 * @param membersOf the members of a line that name the caller, as JSON
 */
export function addRequestLog(
  app: FastifyInstance,
  requests: RequestLog,
  membersOf: (caller: object) => string,
): void {
  app.decorateRequest("row", null);
  app.decorateRequest("problemCode", null);

  const log = (request: FastifyRequest, status: number | null, durationMs: number | null): void =>
    requests.write({
      requestId: request.id,
      method: request.method,
      // Fastify makes the options of a route when they are read, so only rare routes read them.
      route: request.row ?? request.routeOptions?.url ?? null,
      status,
      durationMs,
      caller: request.caller === null ? "" : membersOf(request.caller),
      problem: request.problemCode,
    });

  app.addHook("onResponse", (request, reply, done) => {
    if (!isQuiet(request, reply)) log(request, reply.statusCode, reply.elapsedTime);
    done();
  });
  app.addHook("onRequestAbort", (request, done) => {
    log(request, null, null);
    done();
  });
  app.addHook("onClose", async () => requests.close());
}

const isQuiet = (request: FastifyRequest, { statusCode }: FastifyReply): boolean =>
  request.row === null && statusCode < 400 && request.routeOptions.config.isMonitoring === true;
