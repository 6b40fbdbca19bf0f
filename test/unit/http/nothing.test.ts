import { describe, expect, it } from "vitest";
import { openRoutes } from "../../../src/back-office/people/sign-in.ts";
import { backOfficeRoutes } from "../../../src/back-office/routes.ts";
import type { RouteDescription } from "../../../src/http/route.ts";
import { compileValidator } from "../../../src/http/validator-compiler.ts";
import { OrderRequestSchema } from "../../../src/orders/creation/order-request.ts";
import { AddressUpdateSchema } from "../../../src/orders/order-wire.ts";
import { partnerRoutes } from "../../../src/partner-api/routes.ts";
import { errorsOf } from "../../../src/platform/wire/validation.ts";

type Node = {
  type?: string | string[];
  format?: string;
  minLength?: number;
  const?: unknown;
  required?: string[];
  properties?: Record<string, Node>;
  items?: Node;
  anyOf?: Node[];
  allOf?: Node[];
  additionalProperties?: unknown;
};
type Optional = {
  name: string;
  pointer: string;
  node: Node;
  isFilter: boolean;
  body(value: unknown): unknown;
};

/** The optional members of a body, at every level, and a body that has one of them. */
function optionalIn(node: Node, pointer: string, wrap: (value: unknown) => unknown): Optional[] {
  const required = new Set(node.required);
  return [
    ...Object.entries(node.properties ?? {}).flatMap(([name, property]) => [
      ...(required.has(name)
        ? []
        : [
            {
              name,
              pointer,
              node: property,
              isFilter: node.additionalProperties === false,
              body: (value: unknown) => wrap({ [name]: value }),
            },
          ]),
      ...optionalIn(property, `${pointer}/${name}`, (value) => wrap({ [name]: value })),
    ]),
    ...(node.items === undefined ? [] : optionalIn(node.items, `${pointer}/0`, (value) => wrap([value]))),
    ...[...(node.anyOf ?? []), ...(node.allOf ?? [])].flatMap((branch) => optionalIn(branch, pointer, wrap)),
  ];
}

const routes: readonly RouteDescription[] = [...partnerRoutes, ...backOfficeRoutes, ...openRoutes];
const bodies = routes.flatMap(({ operationId, method, body }) =>
  body === undefined
    ? []
    : [{ operationId, method, schema: body, optional: optionalIn(body as Node, "", (value) => value) }],
);

type Result = { value?: unknown; error?: Parameters<typeof errorsOf>[0] };
const read = (schema: Parameters<typeof compileValidator>[0]["schema"], method: string, body: unknown) => {
  const validate = compileValidator({ schema, method, url: "/", httpPart: "body" });
  const { value, error = [] } = validate(body) as Result; // As Fastify requires it of a validator.
  return { value, errors: errorsOf(error, "body") };
};

const ADDRESS = {
  ...{ firstName: "Ada", lastName: "Lovelace", address1: "St James's Square 12" },
  ...{ city: "London", zip: "SW1Y 4JH", countryCode: "GB" },
};
const ORDER = {
  shippingAddress: ADDRESS,
  lines: [{ productId: "0198c5a4-0000-7000-8000-000000000000", quantity: 1 }],
};

describe("an optional field of a body", () => {
  it.each(bodies)("may be null in $operationId", ({ schema, method, optional }) => {
    for (const { name, pointer, body } of optional)
      expect(read(schema, method, body(null)).errors).not.toContainEqual(
        expect.objectContaining({ pointer: `${pointer}/${name}` }),
      );
  });

  it.each(bodies)(
    "may be an empty text in $operationId if it is a text of the caller",
    ({ schema, method, optional }) => {
      for (const { name, pointer, node, isFilter, body } of optional) {
        const variants = [node, ...(node.anyOf ?? [])];
        const knowsNull = variants.some(({ type }) => [type].flat().includes("null"));
        if (isFilter) continue;
        if (!variants.some(({ minLength = 0 }) => minLength > 0) || (method === "PATCH" && !knowsNull))
          continue;
        expect(read(schema, method, body("")).errors).not.toContainEqual(
          expect.objectContaining({ pointer: `${pointer}/${name}` }),
        );
      }
    },
  );

  it.each(["address2", "company", "phone", "stateCode", "name"])(
    "is absent if %s is null or empty",
    (name) => {
      for (const nothing of [null, ""]) {
        const sent = structuredClone({ ...ORDER, shippingAddress: { ...ADDRESS, [name]: nothing } });
        expect(read(OrderRequestSchema, "POST", sent)).toEqual({ value: ORDER, errors: [] });
      }
    },
  );

  it("is absent beside any other that is", () => {
    const nothing = { externalOrderId: "", note: null, metadata: { a: null, b: "" }, testMode: null };
    const { value } = read(OrderRequestSchema, "POST", { ...structuredClone(ORDER), ...nothing });
    expect(value).toEqual({ ...ORDER, metadata: { b: "" } });
  });
});

describe("what is not nothing", () => {
  it.each([
    ["a required text", { ...ORDER, shippingAddress: { ...ADDRESS, city: "" } }, "/shippingAddress/city"],
    ["a required field", { ...ORDER, lines: null }, "/lines"],
    [
      "a required field of a line",
      { ...ORDER, lines: [{ ...ORDER.lines[0], quantity: null }] },
      "/lines/0/quantity",
    ],
    ["a value in quotes", { ...ORDER, testMode: "" }, "/testMode"],
    ["a number where a text belongs", { ...ORDER, note: 0 }, "/note"],
    ["an item of a list", { ...ORDER, lines: [null] }, "/lines/0"],
  ])("is refused: %s", (_, body, pointer) => {
    expect(read(OrderRequestSchema, "POST", structuredClone(body)).errors).toMatchObject([{ pointer }]);
  });

  it.each(["q", "sku"])("is an empty %s in a filter, which would choose everything", (name) => {
    const { schema } = bodies.find(({ operationId }) => operationId === "withdrawProducts") ?? {};
    const { value } = read(schema ?? {}, "POST", { filter: { [name]: "" } });
    expect(value).not.toEqual({ filter: {} });
  });

  it("is an empty text in a change: it removes a text, and is refused where none can be removed", () => {
    expect(read(AddressUpdateSchema, "PATCH", { address2: "", company: null, city: null })).toEqual({
      value: { address2: null, company: null },
      errors: [],
    });
    expect(read(AddressUpdateSchema, "PATCH", { city: "" }).errors).toMatchObject([
      { pointer: "/city", rule: "min_length" },
    ]);
  });
});
