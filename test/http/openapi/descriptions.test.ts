import { describe, expect, it } from "vitest";
import { BACK_OFFICE, operationsOf, PARTNER } from "../../support/openapi.ts";

type Schema = {
  $ref?: string;
  description?: string;
  type?: string | string[];
  enum?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
};
type Described = { where: string; schema: Schema };

describe.each([
  ["the partner API", PARTNER],
  ["the back office", BACK_OFFICE],
] as const)("the document of %s", (_name, document) => {
  const components = document.components.schemas as Record<string, Schema>;

  /** The description of a use of a schema, else the one that the schema has of itself. */
  const descriptionOf = ({ description, $ref }: Schema): string | undefined =>
    description ?? ($ref === undefined ? undefined : components[$ref.split("/").at(-1) ?? ""]?.description);

  /** Every property within a schema, at any depth. */
  function propertiesIn(where: string, schema: Schema): Described[] {
    const inside = [schema.items ?? [], schema.anyOf ?? []].flat();
    return [
      ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
        { where: `${where}.${name}`, schema: property },
        ...propertiesIn(`${where}.${name}`, property),
      ]),
      ...inside.flatMap((part) => propertiesIn(where, part)),
    ];
  }

  const properties = Object.entries(components).flatMap(([name, schema]) => propertiesIn(name, schema));
  const parameters = operationsOf(document).flatMap(([name, operation]) =>
    operation.parameters.map((parameter) => ({
      where: `${name} ${parameter.name}`,
      schema: parameter as Schema,
    })),
  );

  it("describes every schema, every property and every parameter, in sentences", () => {
    const schemas = Object.entries(components).map(([where, schema]) => ({ where, schema }));
    expect(properties.length).toBeGreaterThan(100);
    expect(parameters.length).toBeGreaterThan(20);
    for (const { where, schema } of [...schemas, ...properties, ...parameters])
      expect(descriptionOf(schema) ?? "", where).toMatch(/^[A-Z`].*[.]$/s);
  });

  it("describes what null means wherever a value may be null", () => {
    const isNullable = ({ type, anyOf = [] }: Schema): boolean =>
      [type].flat().includes("null") || anyOf.some(isNullable);
    for (const { where, schema } of properties.filter(({ schema }) => isNullable(schema)))
      expect(descriptionOf(schema) ?? "", where).toMatch(/null/i);
  });

  it("names every enumeration, and describes each of its values", () => {
    for (const { where, schema } of [...properties, ...parameters])
      expect(schema.enum, `${where} refers to a named enumeration`).toBeUndefined();
    for (const [name, { enum: values = [], description = "" }] of Object.entries(components))
      for (const value of values) expect(description, name).toContain(`\`${value}\``);
  });

  it("describes every header field of every response", () => {
    for (const [name, { responses }] of operationsOf(document))
      for (const [status, { headers }] of Object.entries(responses))
        for (const [field, header] of Object.entries(headers))
          expect((header as Schema).description, `${name} ${status} ${field}`).toMatch(/^[A-Z].*[.]$/);
  });
});
