import { describePartnerApi } from "../src/partner-api/description.ts";
import type { readConfig } from "../src/platform/config.ts";
import { type Description, type Route, routesOf } from "./docs/generated/description.ts";

/** A collection of requests that Postman opens, and Bruno, Insomnia and Hoppscotch import. */
export const POSTMAN_FILE = "openapi/partner.postman_collection.json";

const SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";

/** What a reader with a test key may send, and what a request must not repeat. */
const FIELDS: Readonly<Record<string, object>> = {
  createOrder: { testMode: true, externalOrderId: "try-{{$timestamp}}" },
  createWebhookEndpoint: { mode: "test" },
};

/** After a response: the next requests use what it has. */
const KEPT: Readonly<Record<string, string>> = {
  listProducts: 'pm.collectionVariables.set("product", pm.response.json().data[0]?.id ?? "");',
  createOrder: 'pm.collectionVariables.set("orderId", pm.response.json().id);',
  createWebhookEndpoint: 'pm.collectionVariables.set("endpointId", pm.response.json().id);',
  listDeliveries: 'pm.collectionVariables.set("deliveryId", pm.response.json().data[0]?.id ?? "");',
  listEvents: 'pm.collectionVariables.set("eventId", pm.response.json().data[0]?.id ?? "");',
};

/** The requests of the partner API by its groups. @param address the default of `baseUrl` */
export function postmanCollection(config: ReturnType<typeof readConfig>, address: string): object {
  // The document as JSON is what pages are made of, too.
  const description = JSON.parse(JSON.stringify(describePartnerApi(config))) as Description;
  // A request without a key belongs to those who have none yet.
  const routes = routesOf(description).filter(({ operation }) => operation.security?.length !== 0);
  const variables = new Set(routes.flatMap(({ path }) => parametersOf(path).map(variableOf)));
  return {
    info: {
      name: "Partner Orders",
      description:
        "Set baseUrl and key in the variables of the collection. Get the products first, then create an order.",
      schema: SCHEMA,
    },
    event: [{ listen: "prerequest", script: { type: "text/javascript", exec: [BEFORE_EACH] } }],
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{key}}", type: "string" }] },
    variable: [
      { key: "baseUrl", value: address },
      { key: "key", value: "" },
      ...[...variables].sort().map((key) => ({ key, value: "" })),
    ],
    item: description.tags
      .map(({ name, description: meaning }) => ({
        name,
        description: meaning,
        item: routes.filter(({ operation }) => operation.tags.includes(name)).map(itemOf),
      }))
      .filter(({ item }) => item.length > 0),
  };
}

const parametersOf = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);

/** The `id` of a path without another name is that of a product. */
const variableOf = (parameter: string): string => (parameter === "id" ? "product" : parameter);

function itemOf({ method, path, operation }: Route) {
  const { operationId, summary, description = "", parameters = [], requestBody } = operation;
  const segments = path
    .slice(1)
    .split("/")
    .map((part) => part.replace(/^\{(\w+)\}$/, ":$1"));
  const query = parameters
    .filter((parameter) => parameter.in === "query")
    .map(({ name, description: meaning = "" }) => ({
      key: name,
      value: "",
      description: meaning,
      disabled: true,
    }));
  const header = parameters
    .filter((parameter) => parameter.in === "header")
    .map(({ name, description: meaning = "" }) => ({
      key: name,
      value: "",
      description: meaning,
      disabled: true,
    }));
  const example = requestBody?.content["application/json"]?.example as object | undefined;
  const kept = KEPT[operationId];
  return {
    name: summary,
    ...(kept !== undefined && {
      event: [{ listen: "test", script: { type: "text/javascript", exec: [kept] } }],
    }),
    request: {
      method,
      description,
      header: [
        ...header,
        ...(example === undefined ? [] : [{ key: "Content-Type", value: "application/json" }]),
      ],
      url: {
        raw: `{{baseUrl}}/${segments.join("/")}`,
        host: ["{{baseUrl}}"],
        path: segments,
        query,
        variable: parametersOf(path).map((key) => ({ key, value: `{{${variableOf(key)}}}` })),
      },
      ...(example !== undefined && {
        body: {
          mode: "raw",
          raw: bodyOf({ ...example, ...FIELDS[operationId] }),
          options: { raw: { language: "json" } },
        },
      }),
    },
  };
}

/** What a request needs before it is sent. An outage has begun in the past. */
const BEFORE_EACH = 'pm.variables.set("anHourAgo", new Date(Date.now() - 3600000).toISOString());';

/** Its product is one that the reader's connection can order, and its time was an hour ago. */
const bodyOf = (example: object): string =>
  JSON.stringify(example, null, 2)
    .replace(/("productId": ")[^"]*/g, "$1{{product}}")
    .replace(/("since": ")[^"]*/g, "$1{{anHourAgo}}");
