import type { TSchema } from "typebox";
import { PROBLEMS, type ProblemCode } from "../../platform/wire/problems.ts";
import { isBodyRequired } from "./body.ts";
import { type RouteDescription, SHARED_PROBLEMS } from "./route.ts";

type Json = Record<string, unknown>;

type DescribedApi = {
  /** Address that the routes' paths are under. */
  serverUrl: string;
  routes: readonly RouteDescription[];
  /** Name of the security scheme, or several of which one is enough. */
  security: readonly string[];
  /** Problems that every route of this API may answer, beyond `SHARED_PROBLEMS`. */
  problems: readonly ProblemCode[];
};

const DESCRIPTION = `Merchants open products to partners; partners place orders, cancel them inside the acceptance window,
rehearse the life of an order with test orders, and hear of every step. Errors are problem documents (RFC 9457).`;

const SECURITY_SCHEMES = {
  connectionKey: { type: "http", scheme: "bearer", description: "A connection's key." },
  connectionKeyHeader: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "The same key, in a header of its own.",
  },
  operatorToken: {
    type: "http",
    scheme: "bearer",
    description: "The operator's token, for the back office.",
  },
};

/** The OpenAPI 3.1 description, made from the very schemas that validate and serialise. */
export function describeApis(apis: readonly DescribedApi[], version: string, errorsBaseUrl: string): Json {
  const schemas: Json = { Problem: problemSchema(errorsBaseUrl) };
  const paths: Record<string, Json> = {};
  for (const api of apis) {
    for (const route of api.routes) {
      const path = paths[route.path] ?? { servers: [{ url: api.serverUrl }] };
      paths[route.path] = { ...path, [route.method.toLowerCase()]: operation(route, api, schemas) };
    }
  }
  const tags = [...new Set(apis.flatMap(({ routes }) => routes.map(({ tag }) => tag)))];
  return {
    openapi: "3.1.0",
    info: {
      title: "Partner Orders",
      version,
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: apis.map(({ serverUrl }) => ({ url: serverUrl })),
    tags: tags.map((name) => ({ name, description: `${name}.` })),
    paths,
    components: { schemas, securitySchemes: SECURITY_SCHEMES },
  };
}

function operation(route: RouteDescription, api: DescribedApi, schemas: Json): Json {
  const named = (schema: TSchema) => nameSchemas(schema, schemas);
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description && { description: route.description }),
    tags: [route.tag],
    security: api.security.map((scheme) => ({ [scheme]: [] })),
    parameters: [
      ...parametersOf(route.params, "path", named),
      ...parametersOf(route.query, "query", named),
      ...parametersOf(route.headers, "header", named),
    ],
    ...(route.body && {
      requestBody: {
        required: isBodyRequired(route.body),
        content: { "application/json": { schema: named(route.body) } },
      },
    }),
    ...(route.upload && {
      requestBody: {
        required: true,
        content: { [route.upload.mediaType]: { schema: { type: "string" } } },
      },
    }),
    responses: { ...answersOf(route, named), ...problemsOf(route, api) },
  };
}

function parametersOf(
  schema: TSchema | undefined,
  place: string,
  named: (schema: TSchema) => unknown,
): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = named(property) as Json;
    return {
      name: place === "header" ? (HEADER_NAMES[name] ?? name) : name,
      in: place,
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

// Header names are compared without regard to case; the description shows them as people write them.
const HEADER_NAMES: Readonly<Record<string, string>> = { "idempotency-key": "Idempotency-Key" };

function answersOf(route: RouteDescription, named: (schema: TSchema) => unknown): Json {
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, { description, schema, headers }]) => [
      status,
      {
        description,
        headers: headersOf({ ...REQUEST_ID_HEADER, ...headers }),
        ...(schema && { content: { "application/json": { schema: named(schema) } } }),
      },
    ]),
  );
}

const REQUEST_ID_HEADER = { "X-Request-Id": "Names the request in the service's logs." };

const RETRY_AFTER = "Seconds to wait before the next try.";
const PROBLEM_HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "WWW-Authenticate": "How to authenticate; with `error` when a key was sent." },
  429: {
    "Retry-After": RETRY_AFTER,
    RateLimit: "What is left of the allowance, and in how many seconds it is whole again.",
    "RateLimit-Policy": "Requests allowed, and in how many seconds.",
  },
  503: { "Retry-After": RETRY_AFTER },
};

const headersOf = (headers: Readonly<Record<string, string>>): Json =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
  );

/** Problems by status: codes that share a status share a response. */
function problemsOf(route: RouteDescription, api: DescribedApi): Json {
  const codes = new Set([...route.problems, ...SHARED_PROBLEMS, ...api.problems, ...bodyProblems(route)]);
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      String(status),
      {
        description: group.map((code) => `\`${code}\`: ${PROBLEMS[code].meaning}`).join(" "),
        headers: headersOf({ ...REQUEST_ID_HEADER, ...PROBLEM_HEADERS[status] }),
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    ]),
  );
}

/** A body is read, and may be too large, even where it is ignored; only the one of a GET is not. */
function bodyProblems({ method, body, upload }: RouteDescription): ProblemCode[] {
  if (body !== undefined || upload !== undefined) return ["payload-too-large", "unsupported-media-type"];
  return method === "GET" ? [] : ["payload-too-large"];
}

function problemSchema(errorsBaseUrl: string): Json {
  const codes = Object.keys(PROBLEMS);
  return {
    type: "object",
    description: "A problem document (RFC 9457). Some problems add members.",
    required: ["type", "code", "title", "status", "detail", "instance"],
    properties: {
      type: {
        type: "string",
        description: "Address of the page about this problem; `code` is its last segment.",
        enum: codes.map((code) => `${errorsBaseUrl}/${code}`),
      },
      code: {
        type: "string",
        description: "The problem, by a name that is the same in every deployment. Programs decide by it.",
        enum: codes,
      },
      title: { type: "string" },
      status: { type: "integer" },
      detail: { type: "string" },
      instance: { type: "string", description: "The request's path." },
      errors: {
        type: "array",
        description: "Of `validation-failed`: every fault and its place.",
        items: {
          type: "object",
          required: ["detail"],
          properties: {
            pointer: { type: "string", description: "JSON Pointer into the body." },
            parameter: { type: "string" },
            header: { type: "string" },
            line: { type: "integer", description: "Of a file: the line on which its row begins." },
            column: { type: "string", description: "Of a file: the column, as the header names it." },
            detail: { type: "string" },
          },
        },
      },
      errorCount: {
        type: "integer",
        description: "Of a file: how many faults it has; `errors` lists the first of them.",
      },
      orderStatus: { type: "string", description: "Status the order had at the request." },
      orderId: { type: "string" },
      externalOrderId: { type: "string" },
      transition: { type: "string" },
      rule: { type: "string", description: "Of `transition-refused`: why." },
    },
  };
}

/** Copies a schema; parts that have a title move to `components.schemas` and leave a reference behind. */
function nameSchemas(schema: unknown, schemas: Json): unknown {
  if (Array.isArray(schema)) return schema.map((part) => nameSchemas(part, schemas));
  if (typeof schema !== "object" || schema === null) return schema;
  const { title, ...rest } = schema as Json;
  const copy = Object.fromEntries(
    Object.entries(rest).map(([key, part]) => [key, nameSchemas(part, schemas)]),
  );
  if (typeof title !== "string") return copy;
  schemas[title] = copy;
  return { $ref: `#/components/schemas/${title}` };
}
