import type { TSchema } from "typebox";
import type { ProblemCode } from "../../platform/wire/problems.ts";
import { isBodyRequired } from "../body.ts";
import type { RouteDescription } from "../route.ts";
import { uploadExamples } from "../upload.ts";
import { createComponents, type Json, type NameResponse, type NameSchema } from "./components.ts";
import { type ExampleTexts, examplesFrom, type MakeExample, problemExamples } from "./examples.ts";
import { type DescribedProblems, nameProblems, problemCodes, problemResponses } from "./problems.ts";

/** The contents of an OpenAPI document that do not come from routes. */
export type DescribedApi = CallerHeaders & {
  readonly title: string;
  readonly description: string;
  readonly version: string;
  /** The address of the listener. */
  readonly server: Json;
  readonly routes: readonly RouteDescription[];
  /** The descriptions of the tags. */
  readonly tags: Readonly<Record<string, string>>;
  /** By name. A request needs one of them. */
  readonly securitySchemes: Readonly<Record<string, Json>>;
  readonly problems: Omit<DescribedProblems, "ofFiles">;
  readonly examples: ExampleTexts;
  /** How clients may repeat requests: each class, and that of a route. */
  readonly retries?: { readonly classes: Json; of(route: RouteDescription): string };
  /** The requests that the service sends, by name. */
  readonly webhooks?: (name: NameSchema, example: MakeExample) => Json;
  /** Base address of the pages about problems. */
  readonly errorsBaseUrl: string;
};

/** The description of an operation of an API. */
type Describing = {
  readonly api: DescribedApi;
  readonly name: NameSchema;
  readonly nameResponse: NameResponse;
  readonly example: MakeExample;
};

/** The OpenAPI 3.1 document of an API, made from the schemas that validate its requests and serialize its responses. */
export function describeApi(api: DescribedApi): Json {
  const codes = problemCodes(api.routes, api.problems.codes);
  const ofFiles = api.routes.some(({ upload }) => upload !== undefined);
  const { schemas, name, responses, nameResponse } = createComponents();
  const example = examplesFrom(api.examples);
  const problems = nameProblems(codes, { ...api.problems, ofFiles }, name);
  const paths: Record<string, Json> = {};
  for (const route of api.routes) {
    const operations = paths[route.path] ?? {};
    paths[route.path] = {
      ...operations,
      [route.method.toLowerCase()]: operation(route, { api, name, nameResponse, example }),
    };
  }
  const webhooks = api.webhooks?.(name, example);
  return {
    openapi: "3.1.0",
    info: {
      title: api.title,
      version: api.version,
      description: api.description,
      contact: { name: "The operator of the service", url: api.errorsBaseUrl },
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0.html" },
    },
    servers: [api.server],
    ...(api.retries && { "x-retry": api.retries.classes }),
    security: securityOf(api),
    tags: Object.entries(api.tags).map(([tag, description]) => ({ name: tag, description })),
    paths,
    ...(webhooks && { webhooks }),
    components: {
      schemas,
      responses,
      headers: describedFields(sharedFields(api)),
      examples: problemExamples(problems, example, api.errorsBaseUrl),
      securitySchemes: api.securitySchemes,
    },
  };
}

const securityOf = ({ securitySchemes }: DescribedApi): Json[] =>
  Object.keys(securitySchemes).map((scheme) => ({ [scheme]: [] }));

function operation(route: RouteDescription, describing: Describing): Json {
  const { api, nameResponse } = describing;
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: route.description ?? `${route.summary}.`,
    tags: [route.tag],
    ...(route.roles && { "x-roles": route.roles }),
    ...(route.scope && { "x-scope": route.scope }),
    ...(api.retries && { "x-retry": api.retries.of(route) }),
    security: route.isOpen ? [] : securityOf(api),
    parameters: [
      ...parametersOf(route.params, "path", describing),
      ...parametersOf(route.query, "query", describing),
      ...parametersOf(route.headers, "header", describing),
    ],
    ...requestBodyOf(route, describing),
    responses: {
      ...successes(route, describing),
      ...problemResponses(
        route,
        api.problems.codes,
        (...problem) => problemHeaders(api, route, ...problem),
        // Those of open routes have other header fields, and are few.
        route.isOpen ? (_name, response) => response : nameResponse,
      ),
    },
  };
}

/** JSON content with an example. */
export const jsonContent = (schema: TSchema, name: NameSchema, example: MakeExample): Json => ({
  "application/json": { schema: name(schema), example: example(schema) },
});

function requestBodyOf({ body, upload }: RouteDescription, { name, example }: Describing): Json {
  if (body !== undefined)
    return { requestBody: { required: isBodyRequired(body), content: jsonContent(body, name, example) } };
  if (upload === undefined) return {};
  const content = uploadExamples(upload).map(([mediaType, text]) => [
    mediaType,
    { schema: { type: "string" }, ...(text !== undefined && { example: text }) },
  ]);
  return { requestBody: { required: true, content: Object.fromEntries(content) } };
}

function parametersOf(schema: TSchema | undefined, location: string, { name, example }: Describing): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([parameter, property]) => {
    const { description, ...rest } = name(property);
    const isRequired = required.includes(parameter);
    return {
      name: location === "header" ? (HEADER_NAMES[parameter] ?? parameter) : parameter,
      in: location,
      required: isRequired,
      ...(description === undefined ? {} : { description }),
      schema: rest,
      ...(isRequired && { example: example(property, parameter) }),
    };
  });
}

// Header names do not depend on case. The document shows them in their usual form.
const HEADER_NAMES: Readonly<Record<string, string>> = { "idempotency-key": "Idempotency-Key" };

type Files = NonNullable<RouteDescription["responses"][number]["file"]>;

const filesOf = (files: Files): Json =>
  Object.fromEntries(
    [files].flat().map(({ mediaType, example }) => [mediaType, { schema: { type: "string" }, example }]),
  );

const successes = (route: RouteDescription, { api, name, example }: Describing): Json =>
  Object.fromEntries(
    Object.entries(route.responses).map(([status, { description, schema, file, headers }]) => [
      status,
      {
        description,
        headers: headersOf(api, { ...fieldsOf(api, route), ...headers }),
        ...((schema ?? file) && {
          content: {
            ...(schema && jsonContent(schema, name, example)),
            ...(file && filesOf(file)),
          },
        }),
      },
    ]),
  );

/** The header fields of a response, including those of every response. Those of most responses are in the document once. */
function headersOf(api: CallerHeaders, headers: Readonly<Record<string, string>>): Json {
  const shared = sharedFields(api);
  const all = Object.entries({ ...EVERY_RESPONSE, ...headers });
  const own = all.filter(([name, description]) => shared[name] !== description);
  return {
    ...Object.fromEntries(all.map(([name]) => [name, { $ref: `#/components/headers/${name}` }])),
    ...describedFields(Object.fromEntries(own)),
  };
}

const describedFields = (fields: Readonly<Record<string, string>>): Json =>
  Object.fromEntries(
    Object.entries(fields).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
  );

const EVERY_RESPONSE: Readonly<Record<string, string>> = {
  "X-Request-Id": "Identifies the request in the service's logs.",
};

const UNAUTHORIZED: Readonly<Record<string, string>> = {
  "WWW-Authenticate": "How to authenticate. Contains `error` if a key was sent.",
};
const NOT_SIGNED_IN: Readonly<Record<string, string>> = {
  "WWW-Authenticate": "Always `Session`: only a session of the console helps, no token.",
};

const RETRY_AFTER = "Seconds to wait before the next attempt.";
const PROBLEM_HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  429: { "Retry-After": RETRY_AFTER },
  503: { "Retry-After": RETRY_AFTER },
};

const LIMIT_REACHED: Readonly<Record<string, string>> = {
  "Retry-After": "Seconds to wait if a limit is reached that ends with time. Absent otherwise.",
};

/** The header fields of most responses. */
const sharedFields = (api: CallerHeaders): Readonly<Record<string, string>> => ({
  ...EVERY_RESPONSE,
  ...api.headers,
  "Retry-After": RETRY_AFTER,
  ...UNAUTHORIZED,
});

/** The header fields of responses: to a caller who is known, and beside the challenge of 401 to one who is not. */
type CallerHeaders = {
  readonly headers: Readonly<Record<string, string>>;
  readonly rejectedHeaders: Readonly<Record<string, string>>;
};

/** An open route reads a session itself, and takes no token. */
const fieldsOf = ({ headers }: CallerHeaders, { isOpen }: RouteDescription): CallerHeaders["headers"] =>
  isOpen ? {} : headers;

/** The header fields of a problem. */
function problemHeaders(
  api: CallerHeaders,
  route: RouteDescription,
  status: number,
  codes: readonly ProblemCode[],
): Json {
  const own = codes.includes("limit-reached") ? LIMIT_REACHED : PROBLEM_HEADERS[status];
  if (status !== 401) return headersOf(api, { ...fieldsOf(api, route), ...own });
  return headersOf(api, route.isOpen ? NOT_SIGNED_IN : { ...UNAUTHORIZED, ...api.rejectedHeaders });
}
