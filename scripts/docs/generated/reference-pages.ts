import type { StagedPage } from "../pages.ts";
import {
  type Description,
  type Operation,
  problemCodesOf,
  type Route,
  readDescription,
  routesOf,
  type Schema,
  slugOf,
} from "./description.ts";
import { fieldsTable, limitsOf, OBJECTS_PAGE, resolve, typeOf } from "./fields.ts";

/** The reference of the partner API: a page for each group of routes, and one for the objects. */
export function referencePages(): StagedPage[] {
  const description = readDescription("partner");
  const groups = description.tags.map((tag) => ({
    path: `api/${slugOf(tag.name)}`,
    title: tag.name,
    summary: `Reference: ${tag.description}`,
    text: groupPage(tag, description),
  }));
  const objects = {
    path: `api/${OBJECTS_PAGE.slice(2, -3)}`,
    title: "Objects",
    summary: "Reference: every object of the API with its fields.",
    text: objectsPage(description),
  };
  return [...groups, objects];
}

function groupPage(tag: Description["tags"][number], description: Description): string {
  const routes = routesOf(description).filter(({ operation }) => operation.tags.includes(tag.name));
  const parts = routes.map((route) => routePart(route, description));
  return `# ${tag.name}\n\n${tag.description}\n\n${parts.join("\n")}`;
}

function routePart({ method, path, operation }: Route, description: Description): string {
  return [
    `## ${operation.summary}\n`,
    "```http",
    `${method} ${path}`,
    "```\n",
    ...(operation.description === undefined ? [] : [`${operation.description}\n`]),
    ...parametersPart(operation),
    ...bodyPart(operation, description),
    `### Example {#${operation.operationId}-example}\n`,
    `\`\`\`sh\n${curlOf({ method, path, operation })}\n\`\`\`\n`,
    ...responsesPart(operation),
  ].join("\n");
}

function parametersPart({ parameters = [], operationId }: Operation): string[] {
  if (parameters.length === 0) return [];
  const rows = parameters.map((parameter) => {
    const { name, in: position, required, schema } = parameter;
    const meaning = [parameter.description ?? schema.description, limitsOf(schema)].filter(Boolean).join(" ");
    return `| \`${name}\`${required ? "" : " *(optional)*"} | ${position} | ${typeOf(schema)} | ${meaning} |`;
  });
  return [
    `### Parameters {#${operationId}-parameters}\n`,
    `| Name | In | Type | Meaning |\n|---|---|---|---|\n${rows.join("\n")}\n`,
  ];
}

function bodyPart({ requestBody, operationId }: Operation, description: Description): string[] {
  const json = requestBody?.content["application/json"];
  if (json === undefined) return [];
  const optional = requestBody?.required === false ? " The body can be left out." : "";
  return [
    `### Body {#${operationId}-body}\n`,
    `${typeOf(json.schema)}, as JSON.${optional}\n`,
    fieldsTable(resolve(json.schema, description), description),
  ];
}

/** What a reader with a test key may send. The examples of the description are those of a real shop. */
const WITH_TEST_KEY: Readonly<Record<string, object>> = {
  createOrder: { testMode: true },
  createWebhookEndpoint: { mode: "test" },
};

/** The request of a route with its example, as the pages for partners write it, with the variables of the first of them. */
function curlOf({ method, path, operation }: Route): string {
  const described = operation.requestBody?.content["application/json"]?.example;
  const example =
    described === undefined ? undefined : { ...described, ...WITH_TEST_KEY[operation.operationId] };
  const variables = path.replace(/\{(\w+)\}/g, (_all, name: string) => `$${variableOf(name)}`);
  const lines = [`curl ${method === "GET" || example !== undefined ? "" : `-X ${method} `}$API${variables}`];
  if (example !== undefined && method !== "POST") lines[0] = `curl -X ${method} $API${variables}`;
  if (operation.security?.length !== 0) lines.push(`  -H "Authorization: Bearer $KEY"`);
  if (example !== undefined) lines.push("  -H 'Content-Type: application/json'", `  -d '${bodyOf(example)}'`);
  return lines.join(" \\\n");
}

/**
 * JSON within the quotes of a shell. Its product is one that the reader's connection can order, its day is today, and the id of
 * an order is not used yet, so that the reader gets a new one each time.
 */
const bodyOf = (example: object): string =>
  JSON.stringify(example, null, 2)
    .replace(/("productId": ")[^"]*(")/g, "$1'$PRODUCT'$2")
    .replace(/("endpointId": ")[^"]*(")/g, "$1'$ENDPOINT_ID'$2")
    .replace(/("externalOrderId": ")[^"]*(")/g, "$1try-'$(date +%s)'$2")
    .replace(/("since": ")[^"]*(")/g, "$1'$(date -u +%Y-%m-%d)'T00:00:00Z$2");

/** `orderId` becomes `ORDER_ID`. */
const variableOf = (parameter: string): string => parameter.replace(/[A-Z]/g, "_$&").toUpperCase();

function responsesPart(operation: Operation): string[] {
  const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
  const rows = successes.map(([status, { description, content }]) => {
    const schema = content?.["application/json"]?.schema;
    return `| ${status} | ${description} | ${schema === undefined ? "no body" : typeOf(schema)} |`;
  });
  const codes = [...new Set(problemCodesOf(operation))];
  const problems = codes.map((code) => `[\`${code}\`](../errors/${code}/index.md)`).join(", ");
  const [[, first] = []] = successes;
  const example = first?.content?.["application/json"]?.example;
  return [
    `### Responses {#${operation.operationId}-responses}\n`,
    `| Status | Meaning | Body |\n|---|---|---|\n${rows.join("\n")}\n`,
    ...(example === undefined ? [] : [`\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\`\n`]),
    `Problems: ${problems}.\n`,
  ];
}

/** Problems have their own pages, and events are in the catalog. */
const isShown = ([name]: [string, Schema]): boolean => !/(?:Problem|Event)$/.test(name);

function objectsPage(description: Description): string {
  const parts = Object.entries(description.components.schemas)
    .filter(isShown)
    .sort(([one], [other]) => one.localeCompare(other, "en"))
    .map(
      ([name, schema]) => `## ${name}\n\n${schema.description ?? ""}\n\n${detailsOf(schema, description)}`,
    );
  return `# Objects\n\nEvery object of the API, by its name in the OpenAPI document.\n\n${parts.join("\n")}`;
}

function detailsOf(schema: Schema, description: Description): string {
  const table = fieldsTable(schema, description);
  if (table !== "") return table;
  const values = schema.enum?.map((value) => `\`${value}\``).join(", ");
  if (values !== undefined) return `One of ${values}.\n`;
  return schema.anyOf === undefined && schema.oneOf === undefined ? "" : `${typeOf(schema)}.\n`;
}
