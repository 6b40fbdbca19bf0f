import stringify from "fast-json-stringify";
import type { FastifySerializerCompiler } from "fastify";
import type { TSchema } from "typebox";

type Serialize = ReturnType<FastifySerializerCompiler<TSchema>>;

const compiled = new WeakMap<TSchema, Serialize>();

/**
 * Fastify would compile one serializer for each response of each route. Many routes, of both listeners, return objects of
 * the same schema.
 */
export const compileSerializer: FastifySerializerCompiler<TSchema> = ({ schema }) => {
  const serialize = compiled.get(schema) ?? stringify(schema);
  compiled.set(schema, serialize);
  return serialize;
};
