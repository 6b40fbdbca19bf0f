import { describe, expect, it } from "vitest";
import { openRoutes } from "../../../src/back-office/people/sign-in.ts";
import { backOfficeRoutes } from "../../../src/back-office/routes.ts";
import type { RouteDescription } from "../../../src/http/route.ts";
import { compileValidator } from "../../../src/http/validator-compiler.ts";
import { OrderRequestSchema } from "../../../src/orders/creation/order-request.ts";
import { AddressUpdateSchema } from "../../../src/orders/order-wire.ts";
import { partnerRoutes } from "../../../src/partner-api/routes.ts";
import { EXACT_FORMAT } from "../../../src/platform/wire/absent-fields.ts";
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

/** White space, and signs of Unicode that are drawn as nothing. */
const BLANKS = [" ", "\t\r\n", "\u00a0", "\u3000 ", "\u200b", "\ufeff", "\u2800", "\u3164", "\u00ad"];
const BLANK = "\u00a0 \u200b";

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
    "may be an empty or blank text in $operationId if it is a text of the caller",
    ({ schema, method, optional }) => {
      for (const { name, pointer, node, isFilter, body } of optional) {
        const variants = [node, ...(node.anyOf ?? [])];
        const knowsNull = variants.some(({ type }) => [type].flat().includes("null"));
        if (isFilter) continue;
        if (!variants.some(({ minLength = 0 }) => minLength > 0) || (method === "PATCH" && !knowsNull))
          continue;
        for (const nothing of ["", BLANK])
          expect(read(schema, method, body(nothing)).errors).not.toContainEqual(
            expect.objectContaining({ pointer: `${pointer}/${name}` }),
          );
      }
    },
  );

  it.each(["address2", "company", "phone", "stateCode", "name"])(
    "is absent if %s is null, empty or blank",
    (name) => {
      for (const nothing of [null, "", ...BLANKS]) {
        const sent = structuredClone({ ...ORDER, shippingAddress: { ...ADDRESS, [name]: nothing } });
        expect(read(OrderRequestSchema, "POST", sent)).toEqual({ value: ORDER, errors: [] });
      }
    },
  );

  it("is absent beside any other that is", () => {
    const metadata = { a: null, b: "", c: " " };
    for (const text of ["", BLANK]) {
      const nothing = { externalOrderId: "", note: text, metadata: { ...metadata }, testMode: null };
      const { value } = read(OrderRequestSchema, "POST", { ...structuredClone(ORDER), ...nothing });
      expect(value, "a value of metadata is exact").toEqual({ ...ORDER, metadata: { b: "", c: " " } });
    }
  });
});

/** An id that the caller chooses. */
const isExact = ({ format }: Node): boolean => format === EXACT_FORMAT;

/** A member of a body that is a text of a person, and the body that has it alone. */
const textsOf = (schema: Node, pointer = "", wrap = (value: unknown) => value): [string, unknown][] => [
  ...Object.entries(schema.properties ?? {}).flatMap(([name, node]): [string, unknown][] => {
    const within = (value: unknown) => wrap({ [name]: value });
    const isText = [node.type].flat().includes("string") && (node.minLength ?? 0) > 0 && !isExact(node);
    return isText ? [[`${pointer}/${name}`, within(BLANK)]] : textsOf(node, `${pointer}/${name}`, within);
  }),
  ...(schema.items === undefined ? [] : textsOf(schema.items, `${pointer}/0`, (value) => wrap([value]))),
];

describe("a text of which nothing can be seen", () => {
  it.each(bodies)("is never stored by $operationId: it is refused, or is nothing", ({ schema, method }) => {
    for (const [pointer, body] of textsOf(schema as Node)) {
      const { errors } = read(schema, method, body); // What is nothing is removed in place.
      const isRefused = errors.some((error) => "pointer" in error && error.pointer === pointer);
      expect(isRefused || !JSON.stringify(body).includes(BLANK), pointer).toBe(true);
    }
  });

  it.each(BLANKS)("is refused by its name if it is required: %j", (text) => {
    const address = { ...ADDRESS, city: text };
    const { errors } = read(OrderRequestSchema, "POST", { ...ORDER, shippingAddress: address });
    expect(errors).toEqual([{ pointer: "/shippingAddress/city", rule: "blank" }]);
  });

  it.each(["-", "茶", ".", "\u200b.", "👩\u200d🔧", "\u0301"])("is not %j", (text) => {
    const address = { ...ADDRESS, city: text };
    expect(read(OrderRequestSchema, "POST", { ...ORDER, shippingAddress: address }).errors).toEqual([]);
  });

  it("is refused in a change, where the text cannot be removed", () => {
    expect(read(AddressUpdateSchema, "PATCH", { city: BLANK, address2: BLANK })).toMatchObject({
      errors: [{ pointer: "/city", rule: "blank" }],
    });
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
    for (const nothing of ["", BLANK])
      expect(read(schema ?? {}, "POST", { filter: { [name]: nothing } }).value).not.toEqual({ filter: {} });
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
