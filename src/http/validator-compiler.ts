import type { ErrorObject } from "ajv";
import type { FastifySchemaCompiler, FastifySchemaValidationError } from "fastify";
import type { TSchema } from "typebox";
import { isBlank } from "../platform/wire/absent-fields.ts";
import {
  createCompile,
  keepKnownFields,
  plainName,
  type Validate,
  withoutNothing,
} from "../platform/wire/validation.ts";

type Compiled = ReturnType<FastifySchemaCompiler<TSchema>>;

const closed = new WeakMap<TSchema, TSchema>();

/** The schema of a query whose unknown parameters are rejected (docs/design/api-conventions.md, "Unknown fields"). */
export function closedQuery(query: TSchema): TSchema {
  const schema = closed.get(query) ?? { ...query, additionalProperties: false };
  closed.set(query, schema);
  return schema;
}

const compile = createCompile();
const compileBody = createCompile({ refusesBlank: true });
const compiled = new WeakMap<TSchema, Compiled>();
const compiledUpdates = new WeakMap<TSchema, Compiled>();

/**
 * Bodies are validated as they are. Text of a query is converted to the numbers and booleans of its schema, and bytes of
 * header fields to text. Routes with the same schema have the same validator, also on different listeners.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart, method }) => {
  const isUpdate = method === "PATCH";
  const kept = isUpdate ? compiledUpdates : compiled;
  const known = kept.get(schema);
  if (known !== undefined) return known;
  const validate =
    httpPart === "body" ? withoutNothing(schema, isUpdate, compileBody(schema)) : compile(schema);
  const wanted = validatorOf(httpPart, schema, validate);
  kept.set(schema, wanted);
  return wanted;
};

function validatorOf(httpPart: string | undefined, schema: TSchema, validate: Validate): Compiled {
  switch (httpPart) {
    case "querystring":
      return afterReadingText(schema, validate);
    case "body":
      return withKnownFields(schema, validate);
    case "headers":
      return afterDecoding(schema, validate);
    default:
      return asCompiled(validate);
  }
}

function withKnownFields(schema: TSchema, validate: Validate): Compiled {
  const keep = keepKnownFields(schema);
  if (keep === null) return asCompiled(validate);
  return (sent: unknown) => {
    const errors = validate(sent);
    const { value, nearMisses } = keep(sent);
    return outcomeOf(value, nearMisses.length === 0 ? errors : withNearMisses(errors, nearMisses));
  };
}

/** A near miss of an object that rejects all unknown fields is reported once: with the field that is meant. */
function withNearMisses(errors: readonly ErrorObject[], nearMisses: readonly ErrorObject[]): ErrorObject[] {
  const paths = new Set(nearMisses.map(({ instancePath }) => instancePath));
  const others = errors.filter(
    ({ keyword, instancePath, params }) =>
      keyword !== "additionalProperties" || !paths.has(`${instancePath}/${params["additionalProperty"]}`),
  );
  return [...others, ...nearMisses];
}

const asCompiled =
  (validate: Validate): Compiled =>
  (value: unknown) =>
    outcomeOf(value, validate(value));

// Fastify types an error by the parts that it uses.
const outcomeOf = (value: unknown, errors: readonly ErrorObject[]): ReturnType<Compiled> =>
  errors.length === 0 ? { value } : { error: errors as FastifySchemaValidationError[] };

/**
 * The validator's own conversion would also take `0x10`, `1e1`, a padded number, and `Infinity`, which no limit stops:
 * it compares finite numbers only.
 */
function afterReadingText(schema: TSchema, validate: Validate): Compiled {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  const validated = asCompiled(withKnownParameters(Object.keys(properties), validate));
  return (query: Record<string, unknown>) => {
    // What a search field sends that nothing was typed into.
    if (properties["q"] !== undefined && typeof query["q"] === "string" && isBlank(query["q"]))
      delete query["q"];
    for (const [name, { type }] of Object.entries(properties)) {
      const text = query[name];
      if (type === "integer" && typeof text === "string" && /^-?\d{1,15}$/.test(text))
        query[name] = Number(text);
      if (type === "boolean" && (text === "true" || text === "false")) query[name] = text === "true";
    }
    return validated(query);
  };
}

const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * HTTP does not say what the bytes of a field mean, so Node gives each of them as a character
 * (docs/design/creating-orders.md, "One key space").
 */
function afterDecoding(schema: TSchema, validate: Validate): Compiled {
  const names = Object.keys((schema as { properties?: object }).properties ?? {});
  const validated = asCompiled(validate);
  return (fields: Record<string, unknown>) => {
    for (const name of names) {
      const value = fields[name];
      if (typeof value === "string" && /[\x80-\xff]/.test(value)) fields[name] = textOf(value);
    }
    return validated(fields);
  };
}

/** Bytes that are not valid UTF-8 stay as they are: one character each. */
function textOf(bytes: string): string {
  try {
    return UTF_8.decode(Buffer.from(bytes, "latin1"));
  } catch {
    return bytes;
  }
}

/** Adds to the error of an unknown parameter which parameter was meant, or which there are. */
function withKnownParameters(known: readonly string[], validate: Validate): Validate {
  const byPlainName = new Map(known.map((name) => [plainName(name), name]));
  return (query) =>
    validate(query).map((error) => {
      if (error.keyword !== "additionalProperties") return error;
      const meant = byPlainName.get(plainName(String(error.params["additionalProperty"])));
      return { ...error, params: { ...error.params, known: meant === undefined ? known : [meant] } };
    });
}
