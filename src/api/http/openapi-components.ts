import { isDeepStrictEqual } from "node:util";
import type { TSchema } from "typebox";
import { usedAs } from "../../platform/wire/schemas.ts";

export type Json = Record<string, unknown>;

/** A schema at the point of its use: a reference if it has a title, otherwise a copy. */
export type NameSchema = (schema: TSchema) => Json;

/** Collects the schemas with a title as the components of a document. */
export function componentsOf(schemas: Record<string, Json>): {
  schemas: Record<string, Json>;
  name: NameSchema;
} {
  function copy(part: unknown): unknown {
    if (Array.isArray(part)) return part.map(copy);
    return typeof part === "object" && part !== null ? name(part) : part;
  }

  function name(schema: object): Json {
    const { title, ...rest } = schema as Json & { title?: unknown };
    const description = usedAs(schema);
    const use = description === undefined ? {} : { description };
    const copied: Json = Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, copy(part)]));
    // Client generators expect a type beside the values.
    if (Array.isArray(rest["enum"])) copied["type"] ??= "string";
    if (typeof title !== "string") return { ...copied, ...use };
    const known = schemas[title];
    if (known !== undefined && !isDeepStrictEqual(known, copied))
      throw new Error(`Two different schemas have the title ${title}.`);
    schemas[title] = copied;
    return { $ref: `#/components/schemas/${title}`, ...use };
  }

  return { schemas, name };
}
