import { expect, it } from "vitest";
import {
  cancelOf,
  certificationOf,
  creationOf,
  faultOf,
  lostCreationOf,
  toCurl,
  toTypeScript,
  transitionOf,
} from "../../../web/src/pages/sandbox/partner-request.ts";

const API = "https://orders.example";

it("a creation leaves out what has no value, and needs a key only without an id of the partner's own", () => {
  const order = {
    shippingAddress: { firstName: "Ada", lastName: "L", name: "Ada L", address2: null, company: "" },
    lines: [{ id: "line_1", productId: "p", quantity: 2, shipmentId: null }],
    note: null,
    metadata: {},
  };
  expect(creationOf({ ...order, externalOrderId: null })).toEqual({
    method: "POST",
    path: "/v1/orders",
    needsKey: true,
    body: {
      testMode: true,
      lines: [{ productId: "p", quantity: 2 }],
      shippingAddress: { firstName: "Ada", lastName: "L" },
    },
  });
  const named = { firstName: "Ada", lastName: "L", name: "Countess of L" };
  expect(creationOf({ ...order, shippingAddress: named }).body).toMatchObject({ shippingAddress: named });
  const { needsKey, body } = creationOf({ ...order, externalOrderId: "web-1", metadata: { a: "b" } });
  expect(needsKey).toBe(false);
  expect(body).toMatchObject({ externalOrderId: "web-1", metadata: { a: "b" } });
});

it("an id in the path is encoded", () =>
  expect(cancelOf("a/b ?").path).toBe("/v1/orders/a%2Fb%20%3F/cancel"));

it("a fault and a certification are requests of the test API", () => {
  const outage = { fault: "outage", seconds: 5 };
  expect(faultOf("a/b", outage)).toEqual({
    path: "/v1/test/orders/a%2Fb/delivery-faults",
    method: "POST",
    body: outage,
  });
  expect(certificationOf("whe_1")).toMatchObject({
    path: "/v1/test/certifications",
    body: { endpointId: "whe_1" },
  });
});

it("the creation whose response is lost names what it rehearses, in both languages", () => {
  const request = lostCreationOf("crt_1-lost-creation", "product");
  expect(request).toMatchObject({
    needsKey: false,
    body: { externalOrderId: "crt_1-lost-creation", testMode: true },
  });
  expect(toCurl(API, request)).toContain("\n  -H 'Test-Fault: lost-response' \\\n");
  expect(toTypeScript(API, request)).toContain('    "test-fault": "lost-response",\n');
});

it("a shell replaces nothing in a body", () => {
  const request = transitionOf("test_1", { transition: "hold", ...{ reasons: ['it\'s $HOME `id` \\ "x"'] } });
  expect(toCurl(API, request)).toBe(
    [
      "curl -X POST 'https://orders.example/v1/test/orders/test_1/transitions' \\",
      '  -H "Authorization: Bearer $KEY" \\',
      "  -H 'Content-Type: application/json' \\",
      `  -d '{\n  "transition": "hold",\n  "reasons": [\n    "it'\\''s $HOME \`id\` \\\\ \\"x\\""\n  ]\n}'`,
    ].join("\n"),
  );
});

it("TypeScript has the body as a value, and makes a key for a creation", () => {
  const order = { externalOrderId: null, shippingAddress: {}, lines: [] };
  const code = toTypeScript(API, creationOf(order));
  expect(code).toContain('await fetch("https://orders.example/v1/orders", {');
  expect(code).toContain('"idempotency-key": crypto.randomUUID(),');
  expect(code).toContain('  body: JSON.stringify({\n    "testMode": true,');
  expect(toTypeScript(API, cancelOf("test_1"))).not.toContain("body");
});
