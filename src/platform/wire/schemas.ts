import { type Static, type TSchema, Type } from "typebox";
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from "./cursor.ts";

/** Text of 1 to 255 characters. */
export const shortText = (options: { description?: string; examples?: string[] } = {}) =>
  Type.String({ minLength: 1, maxLength: 255, format: "text", ...options });

/**
 * A value that may be null. Written as a list of types where that is possible, because serialisers can compile that,
 * while they must try the branches of a union one by one.
 */
export function nullable<S extends TSchema>(schema: S, description?: string) {
  const { type, ...rest } = schema as S & { type?: unknown };
  const words = description === undefined ? {} : { description };
  const plain = typeof type === "string" && type !== "object";
  return Type.Unsafe<Static<S> | null>(
    plain ? { ...rest, type: [type, "null"], ...words } : { anyOf: [schema, { type: "null" }], ...words },
  );
}

const USE = Symbol("use");

/**
 * A schema with a description of this use of it. What the schema says of itself stays: in an OpenAPI document both are
 * shown, the use beside a reference to the schema.
 */
export const describedAs = <S extends TSchema>(schema: S, description: string) =>
  Type.Unsafe<Static<S>>({ ...schema, [USE]: description });

/** The description that `describedAs` has given to a use of a schema. */
export const usedAs = (schema: { readonly [USE]?: string }): string | undefined => schema[USE];

export const dateTime = (description?: string) =>
  Type.String({ format: "date-time", ...(description === undefined ? {} : { description }) });

/** Specification, part 8, "Page size". */
export const limitField = Type.Optional(
  Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE_DEFAULT, description: "Page size." }),
);
export const cursorField = Type.Optional(
  Type.String({ maxLength: 500, description: "`nextCursor` of the previous page; not to be parsed." }),
);

/** A filter that narrows a list to what has a part of this text in it; see `toSearched`. */
export const searchField = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, format: "text", description }));

/** A filter by something that is so or is not so; see `asFlag`. */
export const yesOrNo = (description: string) => Type.Optional(Type.Enum(["true", "false"], { description }));
export const asFlag = (text: string | undefined): boolean | null =>
  text === undefined ? null : text === "true";

/** The text of a `searchField` as SQL looks for it in `lower(column)`. Null: not by that. */
export const toSearched = (text: string | undefined): string | null => text?.toLowerCase() ?? null;

export const pageOf = <S extends TSchema>(item: S, title: string) =>
  Type.Object(
    {
      data: Type.Array(item),
      nextCursor: nullable(Type.String(), "For the next page; null on the last one."),
    },
    { title },
  );
