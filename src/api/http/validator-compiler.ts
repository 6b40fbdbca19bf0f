import type { FastifySchemaCompiler, FastifySchemaValidationError } from "fastify";
import type { TSchema } from "typebox";
import { createCompile, type Validate } from "../../platform/wire/validation.ts";

type Compiled = ReturnType<FastifySchemaCompiler<TSchema>>;

/** Bodies are validated as they are. Only text of a query is converted to the numbers and booleans of its schema. */
export function createValidatorCompiler(): FastifySchemaCompiler<TSchema> {
  const compile = createCompile();
  const compiled = new Map<TSchema, Compiled>();
  return ({ schema, httpPart }) => {
    const known = compiled.get(schema);
    if (known !== undefined) return known;
    const validate = compile(schema);
    const wanted = httpPart === "querystring" ? afterReadingText(schema, validate) : asCompiled(validate);
    compiled.set(schema, wanted);
    return wanted;
  };
}

const asCompiled =
  (validate: Validate): Compiled =>
  (value: unknown) => {
    const errors = validate(value);
    // Fastify types an error by the parts that it uses.
    return errors.length === 0 ? { value } : { error: errors as FastifySchemaValidationError[] };
  };

/**
 * The validator's own conversion would also take `0x10`, `1e1`, a padded number, and `Infinity`, which no limit stops:
 * it compares finite numbers only.
 */
function afterReadingText(schema: TSchema, validate: Validate): Compiled {
  const validated = asCompiled(validate);
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  return (query: Record<string, unknown>) => {
    for (const [name, { type }] of Object.entries(properties)) {
      const text = query[name];
      if (type === "integer" && typeof text === "string" && /^-?\d{1,15}$/.test(text))
        query[name] = Number(text);
      if (type === "boolean" && (text === "true" || text === "false")) query[name] = text === "true";
    }
    return validated(query);
  };
}
