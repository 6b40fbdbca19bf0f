import { isDeepStrictEqual } from "node:util";
import type { TSchema } from "typebox";
import { isFormatName } from "../../platform/wire/rules.ts";
import { knownValues, usedAs } from "../../platform/wire/schemas.ts";
import { OWN_FORMATS, STANDARD_FORMATS } from "../../platform/wire/validation.ts";

export type Json = Record<string, unknown>;

/** A schema at the point of its use: a reference if it has a title, otherwise a copy. */
export type NameSchema = (schema: TSchema) => Json;

/** A response at the point of its use: a reference, or a copy if another one has its name. */
export type NameResponse = (name: string, response: Json) => Json;

type Components = {
  readonly schemas: Record<string, Json>;
  readonly name: NameSchema;
  readonly responses: Record<string, Json>;
  readonly nameResponse: NameResponse;
};

/** Collects the schemas with a title, and the responses with a name, as the components of a document. */
export function createComponents(): Components {
  const schemas: Record<string, Json> = {};
  const responses: Record<string, Json> = {};

  function nameResponse(named: string, response: Json): Json {
    const present = responses[named];
    if (present !== undefined && !isDeepStrictEqual(present, response)) return response;
    responses[named] = response;
    return { $ref: `#/components/responses/${named}` };
  }

  function copy(part: unknown): unknown {
    if (Array.isArray(part)) return part.map(copy);
    return typeof part === "object" && part !== null ? name(part) : part;
  }

  function name(schema: object): Json {
    // A field can be called `title`, too. Then it is a schema, and not text.
    const { title, ...untitled } = schema as Json & { title?: unknown };
    const rest = typeof title === "string" ? untitled : (schema as Json);
    const description = usedAs(schema);
    const use = description === undefined ? {} : { description };
    const copied = forClients(
      Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, copy(part)])),
    );
    const open = knownValues(schema);
    const described = open === undefined ? copied : openEnumeration(String(title), copied, open);
    return typeof title === "string" ? { ...add(title, described), ...use } : { ...described, ...use };
  }

  /** Some of the values are known: clients get a type for these, and must expect others. */
  function openEnumeration(title: string, { type: _, ...rest }: Json, values: readonly string[]): Json {
    const known = { type: "string", enum: values, description: rest["description"] };
    return { ...rest, anyOf: [add(`Known${title}`, known), { type: "string" }] };
  }

  function add(title: string, schema: Json): Json {
    const present = schemas[title];
    if (present !== undefined && !isDeepStrictEqual(present, schema))
      throw new Error(`Two different schemas have the title ${title}.`);
    schemas[title] = schema;
    return { $ref: `#/components/schemas/${title}` };
  }

  return { schemas, name, responses, nameResponse };
}

/** What generators of clients understand: a type beside the values of an enumeration, and no formats of our own. */
function forClients(schema: Json): Json {
  const { enum: values, format } = schema;
  if (Array.isArray(values)) return { type: typeof values[0], ...schema };
  if (typeof format !== "string" || STANDARD_FORMATS.includes(format)) return schema;
  const pattern = isFormatName(format) ? OWN_FORMATS[format]?.pattern : undefined;
  if (pattern === undefined)
    throw new Error(`The format ${format} has no pattern in platform/wire/formats.ts.`);
  const { format: _, ...rest } = schema;
  return { ...rest, pattern };
}
