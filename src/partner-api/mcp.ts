import type { IncomingHttpHeaders } from "node:http";
import type { InjectOptions } from "fastify";
import { Type } from "typebox";
import type { ApiDocument } from "../../packages/mcp/schemas.ts";
import type { McpSession } from "../../packages/mcp/server.ts";
import { PartnerOrders } from "../../packages/sdk/src/index.ts";
import { apiKeyOf } from "../http/credentials.ts";
import { readConnection } from "../merchants/connections-sql.ts";
import type { Config } from "../platform/config.ts";
import type { Problem } from "../platform/wire/problems.ts";
import type { AnswerMcp } from "./operations.ts";
import { type PartnerRoute, route } from "./partner-route.ts";

/** What a listener sends to itself. */
type Inject = (request: InjectOptions) => Promise<{
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly payload: string;
}>;

const FOREIGN_ORIGIN: Problem = {
  code: "forbidden",
  detail: "Pages of other origins may not use this address from a browser. Send no Origin header.",
};
const TEST_KEYS_ONLY: Problem = {
  code: "forbidden",
  detail:
    "Agents may not use live keys of this connection. Use a test key, or ask the merchant to permit it (liveAgents).",
};

/**
 * Serves agents over HTTP, without sessions (docs/design/api-conventions.md, "Agents"). A tool is a client of the partner API like any other: it sends
 * its requests to the listener itself with the key of the caller, so authentication, limits, validation and log are the same.
 */
export function mcpEndpoint(
  inject: Inject,
  { baseUrl }: Pick<Config, "baseUrl">,
  description: () => string,
): AnswerMcp {
  let loaded: ReturnType<typeof load> | undefined;
  /** With the first request of an agent: most processes serve none, and the library takes 30 MB. */
  const load = async () => {
    const [library, { mcpServers }] = await Promise.all([
      import("@modelcontextprotocol/server"),
      import("../../packages/mcp/server.ts"),
    ]);
    const serverFor = mcpServers(JSON.parse(description()) as ApiDocument); // The listener's own description.
    const current = library.createMcpHandler(
      ({ authInfo }) => serverFor(authInfo?.extra?.["session"] as McpSession),
      {
        legacy: "reject",
        maxSubscriptions: 1, // Tools never change, so a stream would have nothing to report, and would hold a connection.
        keepAliveMs: 0,
      },
    );
    return async (request: Request, parsedBody: unknown, session: McpSession): Promise<Response> => {
      if (!(await library.isLegacyRequest(request, parsedBody)))
        return current.fetch(request, {
          parsedBody,
          authInfo: { token: "", clientId: "", scopes: [], extra: { session } },
        });
      // A client of the protocol before 2026. It can read JSON as well as a stream of one event, which is the library's default.
      const server = serverFor(session);
      const transport = new library.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      await server.connect(transport);
      const response = await transport.handleRequest(request, { parsedBody });
      await server.close();
      return response;
    };
  };
  const { origin: ownOrigin } = new URL(baseUrl);

  return async ({ caller, headers, body, id }, db) => {
    if (headers.origin !== undefined && headers.origin !== ownOrigin) return FOREIGN_ORIGIN;
    const isLive = !caller.testOnly;
    if (isLive && !(await readConnection(db, caller))?.liveAgents) return TEST_KEYS_ONLY;
    loaded ??= load();
    const answer = await loaded;
    const api = new PartnerOrders({
      baseUrl,
      key: apiKeyOf(headers) ?? "", // The request has been authenticated by it.
      attemptsMax: 1,
      fetch: within(inject, id),
    });
    const response = await answer(requestOf(baseUrl, headers), body, { api, isLive });
    const type = response.headers.get("content-type");
    return {
      status: response.status,
      ...(type !== null && { headers: { "content-type": type } }),
      body: await response.text(),
    };
  };
}

const BOTH_TYPES = "application/json, text/event-stream";

/** The transport's own headers: keys and everything else stay outside. */
function requestOf(baseUrl: string, headers: IncomingHttpHeaders): Request {
  const own = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === "string" && /^(content-type|mcp-)/.test(name) ? [[name, value]] : [],
  );
  const { accept = "" } = headers;
  // A program without a client of the protocol need not know both types.
  const accepted = /json.*event-stream|event-stream.*json/.test(accept) ? accept : BOTH_TYPES;
  return new Request(new URL("/v1/mcp", baseUrl), {
    method: "POST",
    headers: [...own, ["accept", accepted]],
  });
}

/** `fetch` that reaches the listener itself, as a part of the same request in the log. */
const within =
  (inject: Inject, id: string): typeof fetch =>
  async (input, { method = "GET", headers, body } = {}) => {
    const { pathname, search } = new URL(String(input));
    const answer = await inject({
      method: method as "GET", // Of those that routes have.
      url: pathname + search,
      headers: { ...Object.fromEntries(new Headers(headers)), "x-request-id": id },
      ...(typeof body === "string" && { payload: body }),
    });
    const sent = Object.entries(answer.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    const isEmpty = answer.statusCode === 204;
    return new Response(isEmpty ? null : answer.payload, { status: answer.statusCode, headers: sent });
  };

const McpMessageSchema = Type.Object(
  {
    jsonrpc: Type.Literal("2.0", { description: "Version of JSON-RPC." }),
    method: Type.Optional(Type.String({ description: "What is requested.", examples: ["tools/call"] })),
  },
  {
    title: "McpMessage",
    description: "A message of the Model Context Protocol. It has further members.",
    additionalProperties: true,
  },
);

/** See docs/design/api-conventions.md, "Agents". */
export const mcpRoutes: readonly PartnerRoute[] = [
  route({
    method: "POST",
    path: "/v1/mcp",
    operationId: "callMcp",
    tag: "Agents",
    summary: "Serve an agent",
    description:
      "The Model Context Protocol over HTTP, without sessions: tools to find products, rehearse orders, and see why deliveries fail. Use the client of your agent with this address and a test key as bearer token. A live key needs the permission of the merchant.",
    body: McpMessageSchema,
    responses: {
      200: { description: "The response to the message.", schema: McpMessageSchema },
      202: { description: "The message needs no response." },
    },
    problems: ["forbidden", "validation-failed"],
    handle: (input, { context, answerMcp }) => answerMcp(input, context.db),
  }),
];

/**
 * Clients of the protocol before 2026 ask for a stream of messages of the server. There are none, and the protocol has this response for
 * it. Not described: an operation that always fails is none.
 */
export const NO_MCP_STREAM: PartnerRoute = route({
  method: "GET",
  path: "/v1/mcp",
  operationId: "refuseMcpStream",
  tag: "Agents",
  summary: "Say that there is no stream",
  responses: { 405: { description: "There is no stream." } },
  problems: [],
  handle: async () => ({ status: 405, headers: { allow: "POST" } }),
});
