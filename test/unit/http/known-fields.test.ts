import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openRoutes } from "../../../src/back-office/people/sign-in.ts";
import { backOfficeRoutes } from "../../../src/back-office/routes.ts";
import type { RouteDescription } from "../../../src/http/route.ts";
import { compileValidator } from "../../../src/http/validator-compiler.ts";
import { OrderRequestSchema } from "../../../src/orders/creation/order-request.ts";
import { partnerRoutes } from "../../../src/partner-api/routes.ts";
import { errorsOf, keepKnownFields } from "../../../src/platform/wire/validation.ts";

type Node = {
  properties?: Record<string, Node>;
  items?: Node;
  anyOf?: Node[];
  patternProperties?: unknown;
  additionalProperties?: unknown;
};
/** A field of a body, and how a body reaches it. */
type Field = { name: string; pointer: string; body(name: string): unknown };

function fieldsIn(node: Node, pointer: string, wrap: (value: unknown) => unknown): Field[] {
  if (node.patternProperties ?? node.additionalProperties) return [];
  return [
    ...Object.entries(node.properties ?? {}).flatMap(([name, property]) => [
      { name, pointer, body: (other: string) => wrap({ [other]: null }) },
      ...fieldsIn(property, `${pointer}/${name}`, (value) => wrap({ [name]: value })),
    ]),
    ...(node.items === undefined ? [] : fieldsIn(node.items, `${pointer}/0`, (value) => wrap([value]))),
    ...(node.anyOf ?? []).flatMap((branch) => fieldsIn(branch, pointer, wrap)),
  ];
}

const routes: readonly RouteDescription[] = [...partnerRoutes, ...backOfficeRoutes, ...openRoutes];
const bodies = routes.flatMap(({ operationId, body }) => (body === undefined ? [] : [{ operationId, body }]));
const snakeOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const find = (schema: Parameters<typeof keepKnownFields>[0], value: unknown) =>
  errorsOf(keepKnownFields(schema)?.(value).nearMisses ?? [], "body");

describe("a field that is nearly one of the schema", () => {
  it.each(bodies)("is found at every level of the body of $operationId", ({ body }) => {
    for (const { name, pointer, body: bodyWith } of fieldsIn(body as Node, "", (value) => value)) {
      const near = [name.toUpperCase(), `${name}_`, `-${name}`, snakeOf(name)].filter(
        (other) => other !== name,
      );
      for (const other of near)
        expect(find(body, bodyWith(other))).toEqual([
          { pointer: `${pointer}/${other}`, rule: "unknown_field", known: [name] },
        ]);
      expect(find(body, bodyWith(name))).toEqual([]);
    }
  });

  it.each(["testmode", "TESTMODE", "test_mode", "test-mode", "Test-Mode", "__testMode--"])(
    "is %s",
    (name) => {
      expect(find(OrderRequestSchema, { [name]: true })).toEqual([
        { pointer: `/${name}`, rule: "unknown_field", known: ["testMode"] },
      ]);
    },
  );

  it("is rejected beside the correct one as well", () => {
    const errors = find(OrderRequestSchema, { testMode: true, testmode: true });
    expect(errors).toEqual([{ pointer: "/testmode", rule: "unknown_field", known: ["testMode"] }]);
  });

  it.each(["note2", "testModes", "test mode", "tëstMode", "sku", "", "__proto__", "constructor", "toString"])(
    "is not %j",
    (name) => {
      const body = JSON.parse(`{${JSON.stringify(name)}:1}`);
      expect(find(OrderRequestSchema, body)).toEqual([]);
    },
  );

  it("is never a known field, whatever the value", () => {
    const json = fc.jsonValue();
    fc.assert(
      fc.property(fc.record({ shippingAddress: json, lines: json, testMode: json }), (body) => {
        const known = new Set(["shippingAddress", "lines", "testMode", "externalOrderId"]);
        for (const error of find(OrderRequestSchema, body))
          expect(known).not.toContain("pointer" in error ? error.pointer.slice(1) : "");
      }),
    );
  });
});

describe("an unknown field", () => {
  const keep = (schema: Parameters<typeof keepKnownFields>[0], value: unknown) =>
    keepKnownFields(schema)?.(value).value ?? value;

  it.each(bodies)("reaches no handler at any level of the body of $operationId", ({ body }) => {
    for (const { name, body: bodyWith } of fieldsIn(body as Node, "", (value) => value))
      for (const unknown of ["merchantId2", "__proto__", "constructor", ""]) {
        const sent = JSON.stringify(bodyWith("MARK")).replace(
          '"MARK":null',
          `"${name}":null,"${unknown}":{"a":1}`,
        );
        expect(keep(body, JSON.parse(sent))).toEqual(bodyWith(name));
      }
  });

  it.each([7, 8, 9, 10_000])("reaches no handler among %i of them", (count) => {
    const unknown = Object.fromEntries(Array.from({ length: count }, (_, index) => [`other${index}`, index]));
    const line = { productId: "x", quantity: 1 };
    const sent = { ...unknown, lines: [{ ...unknown, ...line }, line], note: "n", shippingAddress: unknown };
    expect(keep(OrderRequestSchema, sent)).toEqual({ lines: [line, line], note: "n", shippingAddress: {} });
  });

  it("is not a key of the caller's own data", () => {
    const metadata = { anything: "x", testmode: "y" };
    expect(keep(OrderRequestSchema, { metadata, other: 1 })).toEqual({ metadata });
  });
});

describe("many near misses in one body", () => {
  const compiled = compileValidator({
    schema: OrderRequestSchema,
    method: "POST",
    url: "/",
    httpPart: "body",
  });
  const errorsIn = (body: unknown): unknown[] => (compiled(body) as { error?: unknown[] }).error ?? []; // As Fastify requires it of a validator.

  it("are reported up to a limit", () => {
    const names = Array.from({ length: 20_000 }, (_, at) => [
      `lines${"_".repeat(at % 300)}${"-".repeat(at / 300)}`,
      1,
    ]);
    expect(errorsIn(Object.fromEntries(names)).length).toBeLessThan(110);
  });

  it("are not searched for in lines beyond the limit", () => {
    const lines = Array.from({ length: 10_000 }, () => ({ product_id: 1 }));
    expect(errorsIn({ lines }).length).toBeLessThan(500);
  });
});
