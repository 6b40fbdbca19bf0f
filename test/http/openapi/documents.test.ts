import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { describedFiles } from "../../../scripts/describe-openapi.ts";
import { createBackOffice } from "../../../src/back-office/app.ts";
import { operatorAuthentication } from "../../../src/back-office/authentication.ts";
import { createMetrics } from "../../../src/platform/metrics.ts";
import { PROBLEMS } from "../../../src/platform/wire/problems.ts";
import {
  BACK_OFFICE,
  type Description,
  DOCUMENTS,
  operationsOf,
  PARTNER,
  SPECIFIED,
} from "../../support/openapi.ts";
import { OPERATOR_TOKEN, startServiceForTest } from "../../support/test-service.ts";

const codesOf = ({ components }: Description): string[] =>
  Object.keys(
    (components.schemas["Problem"] as { discriminator: { mapping: object } }).discriminator.mapping,
  );

describe.each(DOCUMENTS)("the document of %s", (_name, document, routes) => {
  it("is OpenAPI 3.1", () => {
    expect(document.openapi).toBe("3.1.0");
  });

  it("has every route of its listener, and nothing else", () => {
    const inTable = routes.map(({ method, path }) => `${method} ${path}`);
    expect(
      operationsOf(document)
        .map(([name]) => name)
        .sort(),
    ).toEqual(inTable.sort());
  });

  it("describes each tag that a route has, and no others", () => {
    const described = document.tags.map(({ name }) => name);
    expect(described.sort()).toEqual([...new Set(routes.map(({ tag }) => tag))].sort());
  });

  it("names the problems that its routes can return, and no others", () => {
    const returned = operationsOf(document)
      .flatMap(([, { responses }]) => Object.values(responses))
      .flatMap(({ description }) => [...description.matchAll(/`([a-z-]+)`: /g)].map(([, code]) => code));
    expect(codesOf(document).toSorted()).toEqual([...new Set(returned)].sort());
  });
});

describe("both documents", () => {
  it("are checked in as they are; `npm run describe` writes them", async () => {
    for (const { path, text } of describedFiles()) expect(await readFile(path, "utf8"), path).toBe(text);
  });

  it("are served with the configured addresses, and otherwise as they are checked in", async () => {
    const test = await startServiceForTest({
      config: { baseUrl: "https://orders.example", backOfficePort: 18081 },
    });
    const app = createBackOffice(test.context, operatorAuthentication(OPERATOR_TOKEN), createMetrics());
    const partner = (await app.inject("/openapi.json")).json();
    const backOffice = (await app.inject("/openapi-back-office.json")).json();
    await app.close();
    expect(partner).toEqual({ ...PARTNER, servers: [{ url: "https://orders.example" }] });
    expect(backOffice).toEqual({ ...BACK_OFFICE, servers: [{ url: "http://localhost:18081" }] });
  });

  it("name every problem code of the table", () => {
    const codes = [PARTNER, BACK_OFFICE].flatMap(codesOf);
    expect([...new Set(codes)].sort()).toEqual(Object.keys(PROBLEMS).sort());
  });
});

describe("the document of the partner API", () => {
  it("has every route of the specification", () => {
    expect(operationsOf(PARTNER).map(([name]) => name)).toEqual(expect.arrayContaining(SPECIFIED));
  });

  it("contains no price, and nothing else of the back office", () => {
    const text = JSON.stringify(PARTNER);
    expect(text).not.toMatch(/price|"amount"|currency|\/api\//i);
    expect(PARTNER.components.schemas).toHaveProperty("Product");
  });

  it("takes a body on these routes", () => {
    const withBody = operationsOf(PARTNER).flatMap(([name, { requestBody }]) => (requestBody ? [name] : []));
    expect(withBody).toEqual([
      "POST /v1/orders",
      "POST /v1/orders/search",
      "POST /v1/test/orders/{orderId}/transitions",
      "POST /v1/test/orders/{orderId}/shipments/{shipmentId}/tracking",
      "POST /v1/test/orders/{orderId}/delivery-faults",
      "POST /v1/webhook-endpoints",
      "PATCH /v1/webhook-endpoints/{endpointId}",
      "POST /v1/webhook-endpoints/{endpointId}/rotate-secret",
      "POST /v1/webhook-endpoints/{endpointId}/ping",
      "POST /v1/webhook-endpoints/{endpointId}/recover",
      "POST /v1/webhook-endpoints/{endpointId}/acknowledgements",
      "POST /v1/test/certifications",
      "POST /v1/mcp",
    ]);
  });

  it("has these operation ids", () => {
    expect(operationsOf(PARTNER).map(([, { operationId }]) => operationId)).toEqual([
      "createOrder",
      "searchOrders",
      "getOrder",
      "cancelOrder",
      "transitionTestOrder",
      "trackTestShipment",
      "listDeliveryFaults",
      "armDeliveryFault",
      "eraseTestOrder",
      "listProducts",
      "getProduct",
      "getMe",
      "getWebhookSources",
      "listWebhookEndpoints",
      "createWebhookEndpoint",
      "getWebhookEndpoint",
      "updateWebhookEndpoint",
      "deleteWebhookEndpoint",
      "rotateWebhookSecret",
      "pingWebhookEndpoint",
      "resumeWebhookEndpoint",
      "recoverDeliveries",
      "leaseDeliveries",
      "acknowledgeDeliveries",
      "listDeliveries",
      "getDelivery",
      "redeliverDelivery",
      "listCertifications",
      "createCertification",
      "getCertification",
      "cancelCertification",
      "listEvents",
      "getEvent",
      "callMcp",
      "getLifecycle",
      "getOpenApi",
      "createTestKey",
    ]);
  });
});
