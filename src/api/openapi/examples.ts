import type { TSchema } from "typebox";
import { PROBLEMS, type ProblemCode } from "../../platform/wire/problems.ts";
import { knownValues } from "../../platform/wire/schemas.ts";
import type { Json } from "./components.ts";

/** What makes the examples of an API speak of one and the same order. Everything else follows from the schemas. */
export type ExampleTexts = {
  /** Fields of the object with this title. They replace what would follow from the schema; undefined leaves one out. */
  readonly byTitle: Readonly<Record<string, Json>>;
  /** The value of a field with this name, in whatever object. */
  readonly byName: Readonly<Record<string, unknown>>;
};

/** An example of a value. @param field the name of the field that contains it */
export type MakeExample = (schema: TSchema, field?: string) => unknown;

/** The parts of a schema from which an example is made. */
type Schema = {
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
};

const BY_FORMAT: Readonly<Record<string, string>> = {
  "date-time": "2026-03-02T09:00:00.000Z",
  email: "orders@merchant.example",
  uri: "https://partner.example",
  uuid: "019f0f15-5426-7b88-8bdb-c48c13a36d76",
  "web-address": "https://merchant.example/mug.jpg",
  "country-code": "GB",
  amount: "12.50",
  currency: "EUR",
};

export function examplesFrom({ byTitle, byName }: ExampleTexts): MakeExample {
  /** Undefined if nothing is known of the value but its type. */
  function known(schema: Schema, field: string): unknown {
    if (schema.examples !== undefined) return schema.examples[0];
    if (schema.const !== undefined) return schema.const;
    if (field in byName) return byName[field];
    return schema.enum?.[0] ?? knownValues(schema)?.[0] ?? schema.default;
  }

  function example(schema: Schema, field = ""): unknown {
    if (schema.properties !== undefined) return objectOf(schema);
    const value = known(schema, field);
    if (value !== undefined) return value;
    const branches = schema.anyOf ?? schema.oneOf;
    if (branches !== undefined) return branches.some(isNull) ? null : example(branches[0] ?? {}, field);
    if ([schema.type].flat().includes("null")) return null;
    return byType(schema, field);
  }

  function byType(schema: Schema, field: string): unknown {
    switch (schema.type) {
      case "array":
        return schema.items === undefined ? [] : [example(schema.items, field.replace(/s$/, ""))];
      case "integer":
      case "number":
        return schema.minimum ?? 1;
      case "boolean":
        return false;
      case "object":
        return {};
      default:
        return BY_FORMAT[schema.format ?? ""] ?? field;
    }
  }

  /** Optional fields appear if something is known of them. */
  function objectOf({ title = "", properties = {}, required = [] }: Schema): Json {
    const fixed = byTitle[title] ?? {};
    const fields = Object.entries(properties).flatMap(([field, schema]): [string, unknown][] => {
      if (field in fixed) return fixed[field] === undefined ? [] : [[field, fixed[field]]];
      if (required.includes(field)) return [[field, example(schema, field)]];
      const value = field in byName || schema.properties ? example(schema, field) : known(schema, field);
      return value === undefined ? [] : [[field, value]];
    });
    return Object.fromEntries(fields);
  }

  return (schema, field) => example(schema as Schema, field); // JSON Schema that a TypeBox schema is.
}

const isNull = ({ type }: Schema): boolean => type === "null";

/** An example of each problem, by its code. */
export const problemExamples = (
  schemas: ReadonlyMap<ProblemCode, TSchema>,
  example: MakeExample,
  errorsBaseUrl: string,
): Json =>
  Object.fromEntries(
    [...schemas].map(([code, schema]) => {
      const { title, meaning } = PROBLEMS[code];
      const members = example(schema) as Json; // Of the schema of an object.
      return [
        code,
        { summary: title, value: { ...members, type: `${errorsBaseUrl}/${code}`, detail: meaning } },
      ];
    }),
  );
