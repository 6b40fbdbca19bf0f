import { describe, expect, it } from "vitest";
import {
  BACK_OFFICE,
  DOCUMENTS,
  type Operation,
  operationsOf,
  PARTNER,
  SPECIFIED,
} from "../../support/openapi.ts";

const operationOf = (name: string): Operation => {
  const found = operationsOf(PARTNER).find(([other]) => other === name);
  if (found === undefined) throw new Error(`${name} is not described.`);
  return found[1];
};

type TSchema = { type?: string; properties?: Record<string, TSchema>; required?: string[] };

const WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const FILES: Readonly<Record<string, readonly string[]>> = {
  "POST /api/merchants/{id}/products/import": ["text/csv", WORKBOOK],
  "POST /api/facilities/{id}/stock/import": ["text/csv", "application/x-ndjson", WORKBOOK],
  "POST /api/shipments/import": ["text/csv", "application/x-ndjson", WORKBOOK],
};
const BODIES_OF_OPTIONAL_FIELDS = [
  "PATCH /api/people/{id}",
  "POST /auth/sign-in/single-sign-on",
  "POST /auth/confirm",
  "POST /auth/second-factor",
  "POST /auth/second-factor/backup-codes",
  "POST /auth/second-factor/remove",
  "POST /v1/orders/search",
  "POST /v1/test/orders/{orderId}/shipments/{shipmentId}/tracking",
  "POST /v1/webhook-endpoints",
  "POST /api/connections/{id}/webhook-endpoints",
  "PATCH /v1/webhook-endpoints/{endpointId}",
  "POST /v1/webhook-endpoints/{endpointId}/rotate-secret",
  "POST /v1/webhook-endpoints/{endpointId}/ping",
  "POST /api/connections/{id}/webhook-endpoints/{endpointId}/ping",
  "POST /api/merchants/{id}/webhook-endpoints/{endpointId}/ping",
  "POST /api/facilities/{id}/webhook-endpoints/{endpointId}/ping",
  "POST /api/connections/{id}/keys",
  "PATCH /api/connections/{id}",
  "POST /api/tokens/{id}/rotate",
  "POST /api/connections/{id}/products/expose",
  "POST /api/connections/{id}/products/withdraw",
  "PATCH /api/products/{id}",
  "PATCH /api/facilities/{id}",
  "PATCH /api/orders/{id}/shipping-address",
  "PATCH /api/merchants/{id}",
  "PATCH /api/shipments/{id}",
  "POST /api/shipments/{id}/void",
  "POST /api/keys/{id}/rotate",
  "PATCH /api/connections/{id}/webhook-endpoints/{endpointId}",
  "PATCH /api/merchants/{id}/webhook-endpoints/{endpointId}",
  "PATCH /api/facilities/{id}/webhook-endpoints/{endpointId}",
  "POST /api/connections/{id}/webhook-endpoints/{endpointId}/rotate-secret",
  "POST /api/merchants/{id}/webhook-endpoints/{endpointId}/rotate-secret",
  "POST /api/facilities/{id}/webhook-endpoints/{endpointId}/rotate-secret",
  "POST /api/connections/{id}/resends",
  "POST /api/merchants/{id}/resends",
  "POST /api/facilities/{id}/resends",
  "PATCH /api/views/{id}",
  ...["approve", "reject", "cancel", "hold", "release-hold", "ship", "return"].map(
    (operation) => `POST /api/orders/{id}/${operation}`,
  ),
];

describe.each(DOCUMENTS)("each operation of %s", (_name, document) => {
  const operations = () => operationsOf(document);

  it("has an id of its own, a summary and a tag", () => {
    const ids = operations().map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [name, { summary, tags }] of operations()) {
      expect(summary, name).toMatch(/^[A-Z].*[^.]$/);
      expect(tags, name).toHaveLength(1);
    }
  });

  it("needs a connection's key in one of two headers, or a token or a session of the back office", () => {
    for (const [name, { security }] of operations())
      expect(security, name).toEqual(
        name.includes(" /v1/") && name !== FOR_STRANGERS
          ? [{ connectionKey: [] }, { connectionKeyHeader: [] }]
          : name === FOR_STRANGERS || / \/auth\/| \/api\/me\/sessions/.test(name)
            ? []
            : [{ operatorToken: [] }, { personSession: [] }],
      );
    expect(PARTNER.components.securitySchemes).toMatchObject({
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
      const always = ["400", ...(name === FOR_STRANGERS ? [] : ["401"]), "500", "503"];
      expect(statuses, name).toEqual(expect.arrayContaining(always));
      expect(statuses.filter((status) => status.startsWith("2")).length, name).toBeGreaterThan(0);
      for (const [status, { description: words, headers, content }] of Object.entries(responses)) {
        expect(words, `${name} ${status}`).not.toBe("");
        expect(Object.keys(headers), `${name} ${status}`).toContain("X-Request-Id");
        if (Number(status) < 400) continue;
        expect(content, `${name} ${status}`).toEqual({
          "application/problem+json": {
            schema: { $ref: "#/components/schemas/Problem" },
            examples: expect.anything(),
          },
        });
      }
    }
  });

  it("accepts only JSON, or CSV for an import, where it takes a body, which may be omitted if all of its fields may; then it may return 413, 415 and 422", () => {
    for (const [name, { requestBody, responses }] of operations()) {
      if (requestBody === undefined) continue;
      const taken = FILES[name] ?? ["application/json"];
      expect(Object.keys(requestBody.content), name).toEqual(taken);
      expect(requestBody.required, name).toBe(!BODIES_OF_OPTIONAL_FIELDS.includes(name));
      expect(Object.keys(responses), name).toEqual(expect.arrayContaining(["413", "415", "422"]));
    }
  });

  it("returns lists as data and nextCursor", () => {
    const { schemas } = document.components as unknown as { schemas: Record<string, TSchema> };
    for (const [name, { responses }] of operations()) {
      const { $ref = "" } = (responses["200"]?.content?.["application/json"]?.schema ?? {}) as {
        $ref?: string;
      };
      const { properties = {}, required } = schemas[$ref.split("/").at(-1) ?? ""] ?? {};
      // Not lists that one pages through.
      const isWhole = /(?:LeasedDeliveries|AcknowledgementOutcomes|DeliveryFaults)$/.test($ref);
      if (properties["data"]?.type === "array" && !isWhole) expect(required, name).toContain("nextCursor");
    }
  });

  it("describes the header fields that errors have", () => {
    const { responses } = operationOf("GET /v1/me");
    const fields = (status: string) => Object.keys(responses[status]?.headers ?? {}).sort();
    expect(fields("401")).toEqual(["WWW-Authenticate", "X-Request-Id"]);
    expect(fields("429")).toEqual(["RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"]);
    expect(fields("503")).toEqual(["RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"]);
    expect(fields("200")).toEqual(["RateLimit", "RateLimit-Policy", "X-Request-Id"]);
  });

  it("describes when to retry after a limit is reached, and after no other conflict", () => {
    for (const [name, { responses }] of operations()) {
      const { description: words = "", headers = {} } = responses["409"] ?? {};
      expect("Retry-After" in headers, name).toBe(words.includes("`limit-reached`"));
    }
  });

  it("describes the challenge of 401: of a token that may be limited, or of a session alone", () => {
    for (const [name, { responses, security }] of operationsOf(BACK_OFFICE)) {
      const headers = responses["401"]?.headers ?? {};
      const isOpen = security.length === 0;
      expect(Object.keys(headers).includes("Retry-After"), name).toBe(!isOpen);
      expect(JSON.stringify(headers["WWW-Authenticate"]).includes("`Session`"), name).toBe(isOpen);
    }
  });

  it("may return 429 if its caller is known, or if it is an attempt to sign in", () => {
    for (const [name, { responses, security }] of operations())
      expect("429" in responses, name).toBe(security.length > 0 || WITH_ATTEMPTS.includes(name));
  });

  it("describes the header fields of the rate limit where its caller is known", () => {
    for (const [name, { responses, security }] of operations())
      for (const [status, { headers }] of Object.entries(responses))
        expect("RateLimit" in headers, `${name} ${status}`).toBe(security.length > 0 && status !== "401");
  });
});

/** It has no caller, and is limited for each network. */
const FOR_STRANGERS = "POST /v1/test-keys";

/** Open to everyone, and its attempts are limited. */
const WITH_ATTEMPTS = [
  FOR_STRANGERS,
  "POST /auth/sign-in/password",
  "POST /auth/sign-in/code",
  "POST /auth/reset",
  "POST /auth/reset/password",
  "POST /auth/confirm",
  "POST /auth/second-factor",
  "POST /auth/second-factor/verify",
  "POST /auth/second-factor/backup-codes",
  "POST /auth/second-factor/remove",
];

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
    const { TestOrderTransition } = PARTNER.components.schemas as {
      TestOrderTransition: { enum: string[] };
    };
    expect(TestOrderTransition.enum).toEqual([
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
