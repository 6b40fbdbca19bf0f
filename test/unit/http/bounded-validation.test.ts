import type { TSchema } from "typebox";
import { describe, expect, it } from "vitest";
import { openRoutes } from "../../../src/back-office/people/sign-in.ts";
import { backOfficeRoutes } from "../../../src/back-office/routes.ts";
import type { RouteDescription } from "../../../src/http/route.ts";
import { compileValidator } from "../../../src/http/validator-compiler.ts";
import { OrderRequestSchema } from "../../../src/orders/creation/order-request.ts";
import { partnerRoutes } from "../../../src/partner-api/routes.ts";
import { createCheck } from "../../../src/platform/wire/validation.ts";

/** A part of a schema with an array in it, and how a body reaches it. */
type ArrayIn = { pointer: string; maxItems: number | undefined; body(items: unknown[]): unknown };
type Node = {
  type?: unknown;
  maxItems?: number;
  items?: Node;
  properties?: Record<string, Node>;
  anyOf?: Node[];
};

function arraysIn(node: Node, pointer: string, wrap: (value: unknown) => unknown): ArrayIn[] {
  const here = node.items === undefined ? [] : [{ pointer, maxItems: node.maxItems, body: wrap }];
  return [
    ...here,
    ...(node.items === undefined ? [] : arraysIn(node.items, `${pointer}/0`, (value) => wrap([value]))),
    ...Object.entries(node.properties ?? {}).flatMap(([name, property]) =>
      arraysIn(property, `${pointer}/${name}`, (value) => wrap({ [name]: value })),
    ),
    ...(node.anyOf ?? []).flatMap((branch) => arraysIn(branch, pointer, wrap)),
  ];
}

const routes: readonly RouteDescription[] = [...partnerRoutes, ...backOfficeRoutes, ...openRoutes];
const cases = routes.flatMap(({ method, path, body }) =>
  body === undefined
    ? []
    : arraysIn(body as Node, "", (value) => value).map((found) => ({
        ...found,
        name: `${method} ${path} ${found.pointer}`,
        schema: body,
      })),
);

/** The largest body has room for this many items of one character. */
const ITEMS = 130_000;
/** More than every part of the longest permitted list could have. */
const errorsMax = (maxItems: number): number => 8 * (maxItems + 2);

function errorsOf(schema: TSchema, value: unknown): readonly unknown[] {
  const result: unknown = compileValidator({ schema, method: "POST", url: "/", httpPart: "body" })(value);
  return (result as { error?: unknown[] }).error ?? []; // As Fastify requires it of a validator.
}

describe("an array in a body", () => {
  it("is found on both listeners", () => {
    const pointers = cases.map(({ pointer }) => pointer);
    expect(pointers).toEqual(
      expect.arrayContaining(["/lines", "/eventTypes", "/reasons", "/lineIds", "/rates"]),
    );
  });

  it.each(cases)("has a limit: $name", ({ maxItems }) => expect(maxItems).toBeLessThanOrEqual(2_500));

  it.each(cases)("is not validated beyond its limit: $name", ({ schema, body, maxItems = 0 }) => {
    for (const item of [1, {}, null, "", []]) {
      const errors = errorsOf(schema, body(Array.from({ length: ITEMS }, () => item)));
      expect(errors.length).toBeGreaterThan(0);
      expect(errors.length).toBeLessThan(errorsMax(maxItems));
    }
  });
});

describe("a body with too many lines", () => {
  const pointersOf = (count: number): string[] =>
    createCheck(OrderRequestSchema)({ lines: Array.from({ length: count }, () => ({})) }).map((error) =>
      "pointer" in error ? error.pointer : "",
    );

  it("is reported with the errors of a hundred and one lines", () => {
    const pointers = pointersOf(87_000);
    expect(pointers).toContain("/lines");
    expect(pointers).toContain("/shippingAddress");
    expect(pointers).toContain("/lines/100/quantity");
    expect(pointers).not.toContain("/lines/101/quantity");
  });

  it("reports every error of a hundred lines", () => expect(pointersOf(100)).toHaveLength(201));
});
