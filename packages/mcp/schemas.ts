/** A JSON Schema, or a part of one. */
export type Schema = { readonly [member: string]: unknown };

/** The part of the OpenAPI document of the partner API that is needed here. */
export type ApiDocument = {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly info: { readonly version: string };
};

/** Members that say nothing to a validator, or not in JSON Schema. */
const LEFT_OUT = new Set(["examples", "example"]);

/** The schemas of the document, each without references to others. */
export class Schemas {
  readonly #document: ApiDocument;

  constructor(document: ApiDocument) {
    this.#document = document;
  }

  /** @throws Error if the document has no such schema: then a tool and the API have grown apart */
  get(name: string): Schema {
    const schema = this.#document.components.schemas[name];
    if (schema === undefined) throw new Error(`The OpenAPI document has no schema ${name}.`);
    return this.#whole(schema) as Schema; // It is an object, and stays one.
  }

  /** An object without some of its fields. */
  without(name: string, fields: readonly string[]): Schema {
    return withoutFields(this.get(name), fields);
  }

  #whole(part: unknown): unknown {
    if (Array.isArray(part)) return part.map((each) => this.#whole(each));
    if (typeof part !== "object" || part === null) return part;
    const { $ref, ...rest } = part as Schema;
    if (typeof $ref === "string")
      return { ...this.get($ref.slice($ref.lastIndexOf("/") + 1)), ...(this.#whole(rest) as Schema) };
    return Object.fromEntries(
      Object.entries(rest)
        .filter(([name, value]) => !LEFT_OUT.has(name) || typeof value !== "object" || !Array.isArray(value))
        .map(([name, value]) => [name, this.#whole(value)]),
    );
  }
}

export function withoutFields(schema: Schema, fields: readonly string[]): Schema {
  const properties = Object.entries((schema["properties"] ?? {}) as Schema).filter(
    ([name]) => !fields.includes(name),
  );
  const required = ((schema["required"] ?? []) as string[]).filter((name) => !fields.includes(name));
  return { ...schema, properties: Object.fromEntries(properties), required };
}

/** An object of these fields, all required but those that are named. */
export const object = (
  properties: Readonly<Record<string, Schema>>,
  { optional = [] }: { readonly optional?: readonly string[] } = {},
): Schema => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

/** A page of a list. */
export const page = (items: Schema): Schema =>
  object({
    data: { type: "array", items },
    nextCursor: { type: ["string", "null"], description: "`cursor` of the next page. Null on the last one." },
  });

export const text = (description: string, rest: Schema = {}): Schema => ({
  type: "string",
  description,
  ...rest,
});
