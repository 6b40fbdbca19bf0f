import type { Span } from "@opentelemetry/api";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { failSpan, isTracing, linksTo, startSpan } from "../platform/telemetry/tracing.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Null without tracing, and for requests of monitoring. */
    span: Span | null;
  }
}

/** Methods that OpenTelemetry's conventions name. Node accepts others too. */
const METHODS = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "CONNECT",
  "OPTIONS",
  "TRACE",
  "PATCH",
  "QUERY",
]);

/**
 * A server span for each request, named after its route, if traces are exported. A caller's trace context is linked and not
 * continued: partners decide neither our trace ids nor what is sampled (docs/design/dependencies.md, "OpenTelemetry").
 * @param membersOf the members of a log line that name the caller, as JSON
 */
export function addRequestSpans(
  app: FastifyInstance,
  listener: string,
  membersOf: (caller: object) => string,
): void {
  app.decorateRequest("span", null);
  if (!isTracing()) return;

  app.addHook("onRequest", (request, _reply, done) => {
    const { config, url } = request.routeOptions;
    if (config.isMonitoring !== true) request.span = begin(request, listener, request.is404 ? null : url);
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    end(request, membersOf, reply);
    done();
  });
  app.addHook("onRequestAbort", (request, done) => {
    end(request, membersOf, null);
    done();
  });
}

function begin({ method, id, headers }: FastifyRequest, listener: string, url: string | null = null) {
  const known = METHODS.has(method) ? method : "_OTHER";
  const route = url?.replace(/:(\w+)/g, "{$1}") ?? null;
  return startSpan({
    name: route === null ? known : `${known} ${route}`,
    kind: "server",
    attributes: {
      "http.request.method": known,
      "url.scheme": "http",
      ...(route !== null && { "http.route": route }),
      "partner_orders.listener": listener,
      "partner_orders.request.id": id,
    },
    // Node joins repeated fields, and then it is invalid.
    links: linksTo(headers["traceparent"]?.toString()),
    parent: null,
  });
}

/** @param reply null: the client closed the connection before the response */
function end(
  request: FastifyRequest,
  membersOf: (caller: object) => string,
  reply: FastifyReply | null,
): void {
  const { span, caller, problemCode } = request;
  if (span === null) return;
  request.span = null;
  if (span.isRecording()) {
    const connection = caller === null ? undefined : connectionOf(membersOf(caller));
    if (connection !== undefined) span.setAttribute("partner_orders.connection.id", connection);
    if (problemCode !== null) span.setAttribute("error.type", problemCode);
    if (reply === null) span.setAttribute("error.type", "client-closed");
    else {
      span.setAttribute("http.response.status_code", reply.statusCode);
      if (reply.statusCode >= 500) failSpan(span, problemCode ?? String(reply.statusCode));
    }
  }
  span.end();
}

/** The other members, such as the name of a person, are for the log only. */
const connectionOf = (members: string): string | undefined => JSON.parse(`{${members}}`).connection?.id;
