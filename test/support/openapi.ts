import { describeBackOffice } from "../../src/back-office/description.ts";
import { openRoutes } from "../../src/back-office/people/sign-in.ts";
import { backOfficeRoutes } from "../../src/back-office/routes.ts";
import { describePartnerApi } from "../../src/partner-api/description.ts";
import { partnerRoutes } from "../../src/partner-api/routes.ts";
import { testKeyRoutes } from "../../src/partner-api/test-keys.ts";
import { readConfig } from "../../src/platform/config.ts";

export type Content = { schema: unknown; example?: unknown; examples?: Record<string, { $ref: string }> };
type Response = { description: string; headers: Record<string, unknown>; content?: Record<string, Content> };
export type Operation = {
  operationId: string;
  summary: string;
  tags: string[];
  security: Record<string, unknown>[];
  parameters: { name: string; in: string; required: boolean; schema: Record<string, unknown> }[];
  requestBody?: { required: boolean; content: Record<string, Content> };
  responses: Record<string, Response>;
};
export type Description = {
  openapi: string;
  info: Record<string, unknown>;
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, { post: Operation }>;
  components: {
    schemas: Record<string, unknown>;
    responses: Record<string, Response>;
    headers: Record<string, unknown>;
    examples: Record<string, { value: Record<string, unknown> }>;
    securitySchemes: Record<string, unknown>;
  };
};

// Documents are made of what describes the routes; their types say what the tests read of them.
export const PARTNER = describePartnerApi(readConfig({})) as Description;
export const BACK_OFFICE = describeBackOffice(readConfig({})) as Description;

/** The document of each listener, and the routes that it describes. */
export const DOCUMENTS = [
  ["the partner API", PARTNER, [...partnerRoutes, ...testKeyRoutes]],
  ["the back office", BACK_OFFICE, [...backOfficeRoutes, ...openRoutes]],
] as const;

const METHODS = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];

/** Every operation as "GET /v1/me", with what is said of it: responses and header fields themselves, in the place of references. */
export const operationsOf = (description: Description): [name: string, operation: Operation][] =>
  Object.entries(description.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method): [string, Operation][] => {
      const operation = item[method];
      if (operation === undefined) return [];
      const responses = mapped(operation.responses, (response) => responseOf(description, response));
      return [[`${method.toUpperCase()} ${path}`, { ...operation, responses }]];
    }),
  );

/** A response itself, if the document refers to it. */
function responseOf(
  { components: { responses, headers } }: Pick<Description, "components">,
  response: Response,
): Response {
  const own = referred(responses, response);
  return { ...own, headers: mapped(own.headers, (header) => referred(headers, header)) };
}

function referred<Part>(parts: Record<string, Part>, part: Part): Part {
  const { $ref } = part as { $ref?: string };
  if ($ref === undefined) return part;
  const found = parts[$ref.split("/").at(-1) ?? ""];
  if (found === undefined) throw new Error(`The document has no ${$ref}.`);
  return found;
}

const mapped = <Part>(parts: Record<string, Part>, map: (part: Part) => Part): Record<string, Part> =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, map(part)]));

/** Specification, part 4. */
export const SPECIFIED = [
  "POST /v1/orders",
  "GET /v1/orders/{orderId}",
  "POST /v1/orders/{orderId}/cancel",
  "GET /v1/products",
  "GET /v1/products/{id}",
  "GET /v1/me",
  "POST /v1/test/orders/{orderId}/transitions",
];
