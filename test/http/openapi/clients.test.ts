import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { describe, expect, it } from "vitest";
import { STANDARD_FORMATS } from "../../../src/platform/wire/validation.ts";
import { DEFAULT_EVENT_TYPES, EVENT_TYPES, PING } from "../../../src/webhooks/events/event.ts";
import { BACK_OFFICE, type Content, type Description, operationsOf, PARTNER } from "../../support/openapi.ts";

// What generators of clients need of the documents.

type Schema = Record<string, unknown>;
type Union = { oneOf: { $ref: string }[]; discriminator: { propertyName: string; mapping: object } };

/** Every object within a part of a document. */
function objectsIn(part: unknown): Schema[] {
  if (typeof part !== "object" || part === null) return [];
  const inside = Object.values(part).flatMap(objectsIn);
  return Array.isArray(part) ? inside : [part as Schema, ...inside];
}

const webhooksOf = ({ webhooks = {} }: Description) =>
  Object.entries(webhooks).map(([type, { post }]) => [type, post] as const);

/** Every body of a request or a response. */
const contentsOf = (document: Description): [where: string, content: Content][] =>
  [...operationsOf(document), ...webhooksOf(document)].flatMap(([name, { requestBody, responses }]) =>
    [requestBody, ...Object.values(responses)].flatMap((body, index) =>
      Object.values(body?.content ?? {}).map((content): [string, Content] => [`${name} ${index}`, content]),
    ),
  );

describe.each([
  ["the partner API", PARTNER],
  ["the back office", BACK_OFFICE],
] as const)("the document of %s", (_name, document) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormatsModule.default(ajv);
  ajv.addSchema({ $id: "api", ...document });
  const validators = new Map<string, ValidateFunction>();

  /** What is wrong with a value, by a schema of the document. */
  function errorsOf(schema: unknown, value: unknown): unknown[] {
    const text = JSON.stringify(schema).replaceAll('"#/', '"api#/');
    const validate = validators.get(text) ?? ajv.compile(JSON.parse(text));
    validators.set(text, validate);
    return validate(value) ? [] : (validate.errors ?? []);
  }

  it("has a valid example of each request and each response", () => {
    const contents = contentsOf(document);
    expect(contents.length).toBeGreaterThan(100);
    for (const [where, { schema, example, examples = {} }] of contents) {
      const named = Object.keys(examples).map((code) => document.components.examples[code]?.value);
      const all = example === undefined ? named : [example];
      expect(all.length, where).toBeGreaterThan(0);
      for (const value of all) expect(errorsOf(schema, value), where).toEqual([]);
    }
  });

  it("has an example of each required parameter", () => {
    for (const [name, { parameters }] of operationsOf(document))
      for (const { name: parameter, required, schema, ...rest } of parameters) {
        if (!required) continue;
        const { example } = rest as { example?: unknown };
        expect(errorsOf(schema, example), `${name} ${parameter} ${example}`).toEqual([]);
      }
  });

  it("has a problem for each code, with its own members, in a union that `code` decides", () => {
    const { oneOf, discriminator } = document.components.schemas["Problem"] as Union;
    expect(discriminator.propertyName).toBe("code");
    expect(Object.values(discriminator.mapping)).toEqual(oneOf.map(({ $ref }) => $ref));
    for (const [code, { value }] of Object.entries(document.components.examples)) {
      expect(value["code"]).toBe(code);
      expect(errorsOf({ $ref: "#/components/schemas/Problem" }, value)).toEqual([]);
    }
    const required = (name: string) => (document.components.schemas[name] as { required: string[] }).required;
    expect(required("TransitionRefusedProblem")).toEqual(
      expect.arrayContaining(["transition", "orderStatus", "rule"]),
    );
    expect(required("NotFoundProblem")).toEqual(["type", "code", "title", "status", "detail", "instance"]);
  });

  it("has a type beside the values of each enumeration, and only formats that clients know", () => {
    for (const schema of objectsIn(document.components.schemas)) {
      if (Array.isArray(schema["enum"])) expect(schema["type"], JSON.stringify(schema)).toBe("string");
      if (typeof schema["format"] === "string") expect(STANDARD_FORMATS).toContain(schema["format"]);
    }
  });

  it("has one schema for each vocabulary, to which others refer", () => {
    const vocabularies = Object.entries(document.components.schemas as Record<string, { enum?: string[] }>);
    const values = vocabularies.flatMap(([, { enum: all }]) => (all === undefined ? [] : [all.join()]));
    expect(new Set(values).size).toBe(values.length);
    for (const name of ["OrderStatus", "ShipmentStatus", "KnownHoldReason", "TransitionRule"])
      expect(document.components.schemas).toHaveProperty(name);
  });
});

describe("the events of the partner API", () => {
  it("are a union that `type` decides, and the feed's items are of it", () => {
    const { oneOf, discriminator } = PARTNER.components.schemas["Event"] as Union;
    expect(discriminator.propertyName).toBe("type");
    expect(Object.keys(discriminator.mapping).toSorted()).toEqual([...EVENT_TYPES, PING].toSorted());
    expect(Object.values(discriminator.mapping)).toEqual(oneOf.map(({ $ref }) => $ref));
    expect(PARTNER.components.schemas["EventPage"]).toMatchObject({
      properties: { data: { items: { $ref: "#/components/schemas/Event" } } },
    });
  });

  it("are in the section of webhooks, each with its own body, signed, without a key of ours", () => {
    const described = webhooksOf(PARTNER);
    expect(described.map(([type]) => type).toSorted()).toEqual([...EVENT_TYPES, PING].toSorted());
    for (const [type, { security, parameters, requestBody, responses }] of described) {
      expect(security).toEqual([]);
      expect(parameters.map(({ name }) => name)).toEqual([
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
      ]);
      expect(requestBody?.content["application/json"]?.example).toMatchObject({ type });
      expect(Object.keys(responses)).toEqual(["410", "2XX", "4XX", "5XX"]);
    }
    expect(PARTNER.webhooks?.["order.accepted"]?.post).toMatchObject({
      description: expect.stringContaining("Only endpoints that name this type"),
    });
    expect(DEFAULT_EVENT_TYPES).toHaveLength(8);
  });
});
