import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { readDescription, routesOf } from "./description.ts";

/** openapi/partner.arazzo.yaml, as far as the page shows it. */
type Step = {
  readonly stepId: string;
  readonly description: string;
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly value: unknown }[];
  readonly requestBody?: { readonly payload: unknown };
  readonly successCriteria: readonly { readonly condition: string }[];
  readonly onFailure?: readonly { readonly type: string; readonly criteria: Step["successCriteria"] }[];
  readonly outputs?: Readonly<Record<string, string>>;
  readonly "x-heading"?: string;
  readonly "x-sdk"?: string;
  readonly "x-cli"?: string;
};
type Path = {
  readonly workflows: readonly [
    {
      readonly inputs: { readonly properties: { readonly prefix: { readonly default: string } } };
      readonly steps: readonly Step[];
    },
  ];
};

export const readSteps = (): readonly Step[] => readPath().workflows[0].steps;
const readPath = (): Path => parse(readFileSync("openapi/partner.arazzo.yaml", "utf8")); // Our own file.

/** The steps of the guided path, as requests in a terminal. */
export function guidedPath(): string {
  const [{ inputs, steps }] = readPath().workflows;
  const routes = routesOf(readDescription("partner"));
  const parts = steps.map((step) => {
    const { stepId, description, "x-heading": heading } = step;
    const route = routes.find(({ operation }) => operation.operationId === step.operationId);
    if (route === undefined) throw new Error(`${stepId} names an operation that does not exist.`);
    const code = requestOf(step, route, inputs.properties.prefix.default);
    return `${heading === undefined ? "" : `## ${heading}\n\n`}${description}\n\n\`\`\`sh\n${code}\`\`\`\n${shortcutsOf(step)}`;
  });
  return `\n${parts.join("\n")}`;
}

function shortcutsOf({ "x-sdk": sdk, "x-cli": cli }: Step): string {
  const shortcuts = [...(sdk ? [`SDK: \`${sdk}\``] : []), ...(cli ? [`command line: \`${cli}\``] : [])];
  return shortcuts.length === 0 ? "" : `\n${shortcuts.join(" · ")}\n`;
}

function requestOf(
  { stepId, parameters = [], requestBody, successCriteria, onFailure = [], outputs = {} }: Step,
  { method, path }: { method: string; path: string },
  prefix: string,
): string {
  const shown = (value: unknown): string => inShell(String(value), prefix);
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  const query = parameters
    .filter((parameter) => parameter.in === "query")
    .map(({ name, value }) => `${name}=${shown(value)}`);
  const headers = parameters
    .filter((parameter) => parameter.in === "header")
    .map(({ name, value }) => ` -H '${name}: ${shown(value)}'`);
  const target = inPath.reduce((url, { name, value }) => url.replace(`{${name}}`, shown(value)), path);
  const address = query.length === 0 ? `$API${target}` : `"$API${target}?${query.join("&")}"`;
  const verb = method === "GET" || (method === "POST" && requestBody) ? "" : ` -X ${method}`;
  const body =
    requestBody === undefined
      ? ""
      : ` \\\n  -H 'Content-Type: application/json' -d '${json(requestBody.payload, prefix)}'`;
  const curl = `curl${verb} ${address} -H "Authorization: Bearer $KEY"${headers.join("")}${body}`;
  const status = statusOf(successCriteria);
  const failure = onFailure.find(({ type }) => type === "retry");
  if (failure !== undefined) {
    const name = stepId.replaceAll("-", "_");
    return `${name}() {\n  ${curl}\n}\n\n${name} # ${statusOf(failure.criteria)}\n${name} # ${status}\n`;
  }
  const names = Object.entries(outputs);
  if (names.length === 0) return `${curl} # ${status}\n`;
  const reads = names.map(
    ([name, output]) =>
      `${variableOf(name)}=$(node -p 'JSON.parse(process.argv[1])${memberOf(output)}' "$RESPONSE")\n`,
  );
  return `RESPONSE=$(${curl}) # ${status}\necho "$RESPONSE"\n${reads.join("")}`;
}

/** A body in single quotes, in which variables of the terminal stand outside of them. What is short stands in one line. */
function json(payload: unknown, prefix: string): string {
  let text = JSON.stringify(payload, null, 2);
  for (const innermost of [/\{[^[\]{}]*\}/g, /\[[^[\]]*\]/g, /^\{.*\}$/gs])
    text = text.replaceAll(innermost, (part) => {
      const line = part.replaceAll(/\n */g, " ").replaceAll("[ ", "[").replaceAll(" ]", "]");
      return line.length > LINE_MAX ? part : line;
    });
  return text.replaceAll(/"((?:[^"\\]|\\.)*)"/g, (_all, quoted: string) => {
    const value = inShell(quoted, prefix);
    return value.startsWith("$") ? `"'${value}'"` : `"${value}"`;
  });
}

/** Longer parts of a body have a line for each member. */
const LINE_MAX = 90;

/** `$steps.find-product.outputs.productId` becomes `$PRODUCT_ID`. */
const inShell = (text: string, prefix: string): string =>
  text
    .replaceAll("{$inputs.prefix}", prefix)
    .replace(/^\$steps\.[\w-]+\.outputs\.(\w+)$/, (_all, name: string) => `$${variableOf(name)}`);

const variableOf = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

/** `$response.body#/data/0/id` becomes `.data[0].id`. */
const memberOf = (output: string): string =>
  output
    .replace("$response.body#", "")
    .replaceAll(/\/(\w+)/g, (_all, name: string) => (/^\d+$/.test(name) ? `[${name}]` : `.${name}`));

const statusOf = (criteria: Step["successCriteria"]): string =>
  criteria
    .map(({ condition }) => /^\$statusCode == (\d+)$/.exec(condition)?.[1])
    .find((status) => status !== undefined) ?? "";
