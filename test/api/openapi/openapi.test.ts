import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBackOffice } from "../../../src/api/back-office/app.ts";
import { operatorAuthentication } from "../../../src/api/back-office/authentication.ts";
import { backOfficeRoutes } from "../../../src/api/back-office/routes.ts";
import { partnerRoutes } from "../../../src/api/partner/routes.ts";
import { createMetrics } from "../../../src/platform/metrics.ts";
import { PROBLEMS } from "../../../src/platform/wire/problems.ts";
import { OPERATOR_TOKEN, startTestService, type TestService } from "../../support/test-service.ts";
import { describeByDefault, lint } from "./lint.ts";

type Response = { description: string; headers: Record<string, unknown>; content?: Record<string, unknown> };
type Operation = {
  operationId: string;
  summary: string;
  tags: string[];
  security: Record<string, unknown>[];
  parameters: { name: string; in: string; required: boolean; schema: Record<string, unknown> }[];
  requestBody?: { required: boolean; content: Record<string, unknown> };
  responses: Record<string, Response>;
};
type Description = {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation> & { servers: { url: string }[] }>;
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> };
};

let test: TestService;
let description: Description;
beforeAll(async () => {
  test = await startTestService({ config: { baseUrl: "https://orders.example" } });
  const backOffice = createBackOffice(test.context, operatorAuthentication(OPERATOR_TOKEN), createMetrics());
  description = (await backOffice.inject("/openapi.json")).json();
  await backOffice.close();
});
afterAll(() => test.close());

const METHODS = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];

/** Every operation as "GET /v1/me", with what is said of it. */
const operations = (): [name: string, operation: Operation][] =>
  Object.entries(description.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method): [string, Operation][] => {
      const operation = item[method];
      return operation === undefined ? [] : [[`${method.toUpperCase()} ${path}`, operation]];
    }),
  );

const operationOf = (name: string): Operation => {
  const found = operations().find(([other]) => other === name);
  if (found === undefined) throw new Error(`${name} is not described.`);
  return found[1];
};

/** Specification, part 4. */
const SPECIFIED = [
  "POST /v1/orders",
  "GET /v1/orders/{orderId}",
  "POST /v1/orders/{orderId}/cancel",
  "GET /v1/products",
  "GET /v1/products/{id}",
  "GET /v1/me",
  "POST /v1/test/orders/{orderId}/transitions",
];

const IMPORT = "POST /api/merchants/{id}/products/import";
const BODIES_OF_OPTIONAL_FIELDS = [
  "PATCH /v1/webhook-endpoints/{endpointId}",
  "POST /v1/webhook-endpoints/{endpointId}/rotate-secret",
  "POST /api/connections/{id}/keys",
  "PATCH /api/connections/{id}",
  "PATCH /api/products/{id}",
  "PATCH /api/facilities/{id}",
  "PATCH /api/merchants/{id}",
  "PATCH /api/shipments/{id}",
  ...["approve", "reject", "cancel", "hold", "release-hold", "ship", "return"].map(
    (step) => `POST /api/orders/{id}/${step}`,
  ),
];

describe("the description", () => {
  it("is OpenAPI 3.1", () => {
    expect(description.openapi).toBe("3.1.0");
  });

  it("has every route of the specification", () => {
    expect(operations().map(([name]) => name)).toEqual(expect.arrayContaining(SPECIFIED));
  });

  it("has every route of both tables, and nothing else", () => {
    const routes = [...partnerRoutes, ...backOfficeRoutes];
    const inTables = routes.map(({ method, path }) => `${method} ${path}`);
    expect(
      operations()
        .map(([name]) => name)
        .sort(),
    ).toEqual(inTables.sort());
  });

  it("is what the linter of the check reads, but for the configured addresses", () => {
    const withoutAddresses = (document: unknown) =>
      JSON.stringify(document).replaceAll("https://orders.example", "http://localhost:8080");
    expect(withoutAddresses(description)).toBe(JSON.stringify(describeByDefault()));
  });

  it("is free of the linter's findings", async () => {
    const { clean, report } = await lint(description);
    expect(clean, report).toBe(true);
  });

  it("would not pass the linter with an error", async () => {
    const faulty = structuredClone(description);
    const me = faulty.paths["/v1/me"]?.["get"] as Partial<Operation>;
    delete me.operationId;
    const { clean, report } = await lint(faulty);
    expect(clean).toBe(false);
    expect(report).toContain("operation-operationId");
  });

  it("puts each API at its own address", () => {
    for (const [path, { servers }] of Object.entries(description.paths))
      expect(servers, path).toEqual([
        { url: path.startsWith("/v1/") ? "https://orders.example" : "http://localhost:8081" },
      ]);
  });

  it("names every problem type in one enumeration", () => {
    const { properties } = description.components.schemas["Problem"] as {
      properties: { type: { enum: string[] } };
    };
    const types = Object.keys(PROBLEMS).map((code) => `http://localhost:8081/errors/${code}`);
    expect(properties.type.enum).toEqual(types);
  });

  it("has no price in anything that partners are shown", () => {
    const seen = new Set<string>();
    const collect = (part: unknown): string => {
      const text = JSON.stringify(part);
      for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
        if (seen.has(name)) continue;
        seen.add(name);
        collect(description.components.schemas[name]);
      }
      return text;
    };
    for (const [path, item] of Object.entries(description.paths))
      if (path.startsWith("/v1/")) expect(collect(item)).not.toMatch(/price|"amount"|currency/i);
    expect(seen).toContain("Product");
    for (const name of seen)
      expect(JSON.stringify(description.components.schemas[name]), name).not.toMatch(
        /price|"amount"|currency/i,
      );
  });
});

describe("each operation", () => {
  it("has an id of its own, a summary and a tag", () => {
    const ids = operations().map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [name, { summary, tags }] of operations()) {
      expect(summary, name).toMatch(/^[A-Z].*[^.]$/);
      expect(tags, name).toHaveLength(1);
    }
  });

  it("needs a connection's key in one of two headers, or the operator's token", () => {
    for (const [name, { security }] of operations())
      expect(security, name).toEqual(
        name.includes(" /v1/")
          ? [{ connectionKey: [] }, { connectionKeyHeader: [] }]
          : [{ operatorToken: [] }],
      );
    expect(description.components.securitySchemes).toMatchObject({
      connectionKey: { type: "http", scheme: "bearer" },
      connectionKeyHeader: { type: "apiKey", in: "header", name: "x-api-key" },
    });
  });

  it("describes its path's parameters, and no others", () => {
    for (const [name, { parameters }] of operations()) {
      const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
      const described = parameters.filter((parameter) => parameter.in === "path");
      expect(
        described.map((parameter) => parameter.name),
        name,
      ).toEqual(inPath);
      for (const { required } of described) expect(required, name).toBe(true);
    }
  });

  it("describes each response, every error as a problem document", () => {
    for (const [name, { responses }] of operations()) {
      const statuses = Object.keys(responses);
      expect(statuses, name).toEqual(expect.arrayContaining(["400", "401", "500", "503"]));
      expect(statuses.filter((status) => status.startsWith("2")).length, name).toBeGreaterThan(0);
      for (const [status, { description: words, headers, content }] of Object.entries(responses)) {
        expect(words, `${name} ${status}`).not.toBe("");
        expect(Object.keys(headers), `${name} ${status}`).toContain("X-Request-Id");
        if (Number(status) < 400) continue;
        expect(content, `${name} ${status}`).toEqual({
          "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
        });
      }
    }
  });

  it("accepts only JSON, or CSV for an import, where it takes a body, which may be omitted if all of its fields may; then it may return 413, 415 and 422", () => {
    for (const [name, { requestBody, responses }] of operations()) {
      if (requestBody === undefined) continue;
      const taken = name === IMPORT ? "text/csv" : "application/json";
      expect(Object.keys(requestBody.content), name).toEqual([taken]);
      expect(requestBody.required, name).toBe(!BODIES_OF_OPTIONAL_FIELDS.includes(name));
      expect(Object.keys(responses), name).toEqual(expect.arrayContaining(["413", "415", "422"]));
    }
    const withBody = operations().flatMap(([name, { requestBody }]) => (requestBody ? [name] : []));
    expect(withBody.filter((name) => name.includes(" /v1/"))).toEqual([
      "POST /v1/orders",
      "POST /v1/test/orders/{orderId}/transitions",
      "POST /v1/webhook-endpoints",
      "PATCH /v1/webhook-endpoints/{endpointId}",
      "POST /v1/webhook-endpoints/{endpointId}/rotate-secret",
      "POST /v1/webhook-endpoints/{endpointId}/recover",
    ]);
  });

  it("describes the header fields that errors have", () => {
    const { responses } = operationOf("GET /v1/me");
    const fields = (status: string) => Object.keys(responses[status]?.headers ?? {}).sort();
    expect(fields("401")).toEqual(["WWW-Authenticate", "X-Request-Id"]);
    expect(fields("429")).toEqual(["RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"]);
    expect(fields("503")).toEqual(["Retry-After", "X-Request-Id"]);
  });

  it("of partners may return 429", () => {
    for (const [name, { responses }] of operations())
      expect("429" in responses, name).toBe(name.includes(" /v1/"));
  });
});

describe("the specification's limits", () => {
  const parameter = (operation: string, name: string) =>
    operationOf(operation).parameters.find((one) => one.name === name);

  it("are described: a page of 1 to 100 products, 50 by default", () => {
    expect(parameter("GET /v1/products", "limit")).toMatchObject({
      in: "query",
      required: false,
      schema: { type: "integer", minimum: 1, maximum: 100, default: 50 },
    });
    for (const name of ["cursor", "sku"])
      expect(parameter("GET /v1/products", name)).toMatchObject({ in: "query", required: false });
  });

  it("are described: an Idempotency-Key of 1 to 255 characters", () => {
    expect(parameter("POST /v1/orders", "Idempotency-Key")).toMatchObject({
      in: "header",
      required: false,
      schema: { type: "string", minLength: 1, maxLength: 255 },
    });
  });

  it("are described: an order id of 1 to 200 characters", () => {
    for (const name of SPECIFIED.filter((name) => name.includes("{orderId}")))
      expect(parameter(name, "orderId")).toMatchObject({
        schema: { type: "string", minLength: 1, maxLength: 200 },
      });
  });

  it("are described: the names of the transitions", () => {
    const { TransitionRequest } = description.components.schemas as {
      TransitionRequest: { properties: { transition: { enum: string[] } } };
    };
    expect(TransitionRequest.properties.transition.enum).toEqual([
      "process",
      "accept",
      "hold",
      "releaseHold",
      "ship",
      "returnShipment",
      "complete",
      "cancel",
    ]);
  });
});
