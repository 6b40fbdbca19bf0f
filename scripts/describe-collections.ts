import { describePartnerApi } from "../src/partner-api/description.ts";
import type { readConfig } from "../src/platform/config.ts";
import { type Description, type Route, routesOf } from "./docs/generated/description.ts";

/** A collection of requests that Postman opens; Insomnia and Hoppscotch import it. */
export const POSTMAN_FILE = "openapi/partner.postman_collection.json";
/** The same requests for Bruno, as an OpenCollection in one file. */
export const BRUNO_FILE = "openapi/partner.opencollection.json";

const NAME = "Partner Orders";

/** What a reader with a test key may send, and what a request must not repeat. */
const FIELDS: Readonly<Record<string, object>> = {
  createOrder: { testMode: true, externalOrderId: "try-{{$timestamp}}" },
  createWebhookEndpoint: { mode: "test" },
};

/** After a response: the next requests use what it has. A deployment that offers no keys leaves the key as it is. */
const KEPT: Readonly<Record<string, { variable: string; path: string }>> = {
  createTestKey: { variable: "key", path: "key" },
  listProducts: { variable: "product", path: "data?.[0]?.id" },
  createOrder: { variable: "orderId", path: "id" },
  createWebhookEndpoint: { variable: "endpointId", path: "id" },
  listDeliveries: { variable: "deliveryId", path: "data?.[0]?.id" },
  listEvents: { variable: "eventId", path: "data?.[0]?.id" },
};

/** Before each request. An outage has begun in the past. */
const AN_HOUR_AGO = '"anHourAgo", new Date(Date.now() - 3600000).toISOString()';

/** A request of the partner API, as both collections have it. */
type Request = {
  readonly tag: string;
  readonly name: string;
  readonly description: string;
  readonly method: string;
  /** Without the first slash. A parameter is `:name`. */
  readonly path: string;
  readonly pathParameters: readonly { readonly name: string; readonly value: string }[];
  readonly query: readonly Optional[];
  readonly header: readonly Optional[];
  readonly body: string | null;
  readonly isWithoutKey: boolean;
  readonly kept: { readonly variable: string; readonly path: string } | null;
};
type Optional = { readonly name: string; readonly description: string };

type Group = { readonly name: string; readonly description: string; readonly requests: readonly Request[] };

/** The texts of both collections by their files. @param address the default of `baseUrl` */
export function collectionFiles(
  config: ReturnType<typeof readConfig>,
  address: string,
): { path: string; text: string }[] {
  // The document as JSON is what pages are made of, too.
  const description = JSON.parse(JSON.stringify(describePartnerApi(config))) as Description;
  const requests = routesOf(description).map(requestOf);
  const groups = description.tags
    .map(({ name, description: meaning }) => ({
      name,
      description: meaning,
      requests: requests.filter(({ tag }) => tag === name),
    }))
    .filter((group) => group.requests.length > 0);
  const variables = [
    ...new Set(
      requests.flatMap(({ pathParameters }) => pathParameters.map(({ value }) => value.slice(2, -2))),
    ),
  ].sort();
  const toText = (collection: object) => `${JSON.stringify(collection, null, 2)}\n`;
  return [
    { path: POSTMAN_FILE, text: toText(postmanCollection(groups, variables, address)) },
    { path: BRUNO_FILE, text: toText(brunoCollection(groups, variables, address)) },
  ];
}

function requestOf({ method, path, operation }: Route): Request {
  const { operationId, summary, description = "", parameters = [], requestBody, security, tags } = operation;
  const optional = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, description: meaning = "" }) => ({ name, description: meaning }));
  const example = requestBody?.content["application/json"]?.example as object | undefined;
  return {
    tag: tags[0] ?? "",
    name: summary,
    description,
    method,
    path: path.slice(1).replaceAll(/\{(\w+)\}/g, ":$1"),
    pathParameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
      name,
      value: `{{${variableOf(name)}}}`,
    })),
    query: optional("query"),
    header: optional("header"),
    body: example === undefined ? null : bodyOf({ ...example, ...FIELDS[operationId] }),
    isWithoutKey: security?.length === 0,
    kept: KEPT[operationId] ?? null,
  };
}

/** The `id` of a path without another name is that of a product. */
const variableOf = (parameter: string): string => (parameter === "id" ? "product" : parameter);

/** Its product is one that the reader's connection can order, and its time was an hour ago. */
const bodyOf = (example: object): string =>
  JSON.stringify(example, null, 2)
    .replace(/("productId": ")[^"]*/g, "$1{{product}}")
    .replace(/("since": ")[^"]*/g, "$1{{anHourAgo}}");

/** Postman Collection Format 2.1. */
function postmanCollection(groups: readonly Group[], variables: readonly string[], address: string): object {
  const script = (text: string) => ({ type: "text/javascript", exec: [text] });
  const withKeys = (optional: readonly Optional[]) =>
    optional.map(({ name, description }) => ({ key: name, value: "", description, disabled: true }));
  const itemOf = (request: Request) => ({
    name: request.name,
    ...(request.kept !== null && {
      event: [
        {
          listen: "test",
          script: script(
            `const found = pm.response.json()?.${request.kept.path};\nif (found) pm.collectionVariables.set("${request.kept.variable}", found);`,
          ),
        },
      ],
    }),
    request: {
      ...(request.isWithoutKey && { auth: { type: "noauth" } }),
      method: request.method,
      description: request.description,
      header: [
        ...withKeys(request.header),
        ...(request.body === null ? [] : [{ key: "Content-Type", value: "application/json" }]),
      ],
      url: {
        raw: `{{baseUrl}}/${request.path}`,
        host: ["{{baseUrl}}"],
        path: request.path.split("/"),
        query: withKeys(request.query),
        variable: request.pathParameters.map(({ name, value }) => ({ key: name, value })),
      },
      ...(request.body !== null && {
        body: { mode: "raw", raw: request.body, options: { raw: { language: "json" } } },
      }),
    },
  });
  return {
    info: {
      name: NAME,
      description:
        "Set baseUrl and key in the variables of the collection. Get the products first, then create an order.",
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    event: [{ listen: "prerequest", script: script(`pm.variables.set(${AN_HOUR_AGO});`) }],
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{key}}", type: "string" }] },
    variable: [
      { key: "baseUrl", value: address },
      { key: "key", value: "" },
      ...variables.map((key) => ({ key, value: "" })),
    ],
    item: groups.map(({ name, description, requests }) => ({
      name,
      description,
      item: requests.map(itemOf),
    })),
  };
}

/** OpenCollection 1.0.0. The key is a secret of its environment: Bruno writes the other variables into files that people share. */
function brunoCollection(groups: readonly Group[], variables: readonly string[], address: string): object {
  const optionalOf = (optional: readonly Optional[]) =>
    optional.map(({ name, description }) => ({ name, value: "", description, disabled: true }));
  const itemOf = (request: Request, index: number) => ({
    info: { name: request.name, type: "http", seq: index + 1 },
    http: {
      method: request.method,
      url: `{{baseUrl}}/${request.path}`,
      headers: optionalOf(request.header),
      params: [
        ...request.pathParameters.map(({ name, value }) => ({ name, value, type: "path" })),
        ...optionalOf(request.query).map((parameter) => ({ ...parameter, type: "query" })),
      ],
      ...(request.body !== null && { body: { type: "json", data: request.body } }),
      ...(!request.isWithoutKey && { auth: "inherit" }),
    },
    ...(request.kept !== null && {
      runtime: {
        scripts: [
          {
            type: "after-response",
            code: `const found = res.body?.${request.kept.path};\nif (found) bru.setVar("${request.kept.variable}", found);`,
          },
        ],
      },
    }),
    docs: request.description,
  });
  return {
    opencollection: "1.0.0",
    info: { name: NAME },
    config: {
      environments: [
        {
          name: NAME,
          variables: [
            { name: "baseUrl", value: address },
            { name: "key", secret: true },
          ],
        },
      ],
    },
    request: {
      auth: { type: "bearer", token: "{{key}}" },
      variables: variables.map((name) => ({ name, value: "" })),
      scripts: [{ type: "before-request", code: `bru.setVar(${AN_HOUR_AGO});` }],
    },
    items: groups.map(({ name, description, requests }, index) => ({
      info: { name, type: "folder", seq: index + 1 },
      items: requests.map(itemOf),
      docs: description,
    })),
    docs: "Choose the environment, and set its baseUrl and key. Get the products first, then create an order.",
    bundled: true,
  };
}
