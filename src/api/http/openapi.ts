import type { TSchema } from "typebox";
import type { ProblemCode } from "../../platform/wire/problems.ts";
import type { RouteDescription } from "../route-description.ts";
import { isBodyRequired } from "./body.ts";
import { componentsOf, type Json, type NameSchema } from "./openapi-components.ts";
import { headersOf, problemCodes, problemResponses, problemSchemas } from "./openapi-problems.ts";

/** The contents of an OpenAPI document that do not come from routes. */
export type DescribedApi = {
  readonly title: string;
  readonly description: string;
  readonly version: string;
  /** Base address of the paths. */
  readonly serverUrl: string;
  readonly routes: readonly RouteDescription[];
  /** The descriptions of the tags. */
  readonly tags: Readonly<Record<string, string>>;
  /** By name. A request needs one of them. */
  readonly securitySchemes: Readonly<Record<string, Json>>;
  /** Problems that every route of this API can return, in addition to `SHARED_PROBLEMS`. */
  readonly problems: readonly ProblemCode[];
  /** Base address of the pages about problems. */
  readonly errorsBaseUrl: string;
};

/** The OpenAPI 3.1 document of an API, made from the schemas that validate its requests and serialize its responses. */
export function describeApi(api: DescribedApi): Json {
  const codes = problemCodes(api.routes, api.problems);
  const takesFiles = api.routes.some(({ upload }) => upload !== undefined);
  const components = componentsOf(problemSchemas(codes, api.errorsBaseUrl, takesFiles));
  const paths: Record<string, Json> = {};
  for (const route of api.routes) {
    const operations = paths[route.path] ?? {};
    paths[route.path] = {
      ...operations,
      [route.method.toLowerCase()]: operation(route, api, components.name),
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: api.title,
      version: api.version,
      description: api.description,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: api.serverUrl }],
    security: Object.keys(api.securitySchemes).map((scheme) => ({ [scheme]: [] })),
    tags: Object.entries(api.tags).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: components.schemas, securitySchemes: api.securitySchemes },
  };
}

function operation(route: RouteDescription, api: DescribedApi, name: NameSchema): Json {
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description && { description: route.description }),
    tags: [route.tag],
    security: Object.keys(api.securitySchemes).map((scheme) => ({ [scheme]: [] })),
    parameters: [
      ...parametersOf(route.params, "path", name),
      ...parametersOf(route.query, "query", name),
      ...parametersOf(route.headers, "header", name),
    ],
    ...(route.body && {
      requestBody: {
        required: isBodyRequired(route.body),
        content: { "application/json": { schema: name(route.body) } },
      },
    }),
    ...(route.upload && {
      requestBody: {
        required: true,
        content: { [route.upload.mediaType]: { schema: { type: "string" } } },
      },
    }),
    responses: { ...successes(route, name), ...problemResponses(route, api.problems) },
  };
}

function parametersOf(schema: TSchema | undefined, location: string, name: NameSchema): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([parameter, property]) => {
    const { description, ...rest } = name(property);
    return {
      name: location === "header" ? (HEADER_NAMES[parameter] ?? parameter) : parameter,
      in: location,
      required: required.includes(parameter),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

// Header names do not depend on case. The document shows them in their usual form.
const HEADER_NAMES: Readonly<Record<string, string>> = { "idempotency-key": "Idempotency-Key" };

const successes = (route: RouteDescription, name: NameSchema): Json =>
  Object.fromEntries(
    Object.entries(route.responses).map(([status, { description, schema, headers }]) => [
      status,
      {
        description,
        headers: headersOf(headers),
        ...(schema && { content: { "application/json": { schema: name(schema) } } }),
      },
    ]),
  );
