import { type Static, type TSchema, Type } from "typebox";
import { type SearchPatterns, searchPatterns } from "../fold-text.ts";
import type { IdPrefix } from "../ids.ts";
import { normalMailAddress } from "../mail-address.ts";

/** Text of 1 to 255 characters. */
export const shortText = (description: string, examples?: string[]) =>
  Type.String({ minLength: 1, maxLength: 255, format: "text", description, ...(examples && { examples }) });

/** An id whose prefix names its type. */
export const idField = (prefix: IdPrefix, description: string) =>
  Type.String({ description, examples: [`${prefix}_01m7y7np16fe68bxp4h91tdmdn`] });

/** An enumeration with its own name in the OpenAPI documents. */
export const enumeration = <const Value extends string>(
  title: string,
  values: readonly Value[],
  description: string,
) => Type.Enum([...values], { title, description });

/** The values of an enumeration with a sentence each, as a part of its description. */
export const described = (texts: Readonly<Record<string, string>>): string =>
  Object.entries(texts)
    .map(([value, text]) => `\`${value}\`: ${text}`)
    .join(" ");

const KNOWN_VALUES = Symbol("known values");

/**
 * An enumeration to which values may be added at any time, even by a caller. Validators and serializers take it as text;
 * the OpenAPI documents name the values that are known, and say that there may be others.
 */
export const openEnumeration = (title: string, values: readonly string[], description: string) =>
  Type.Unsafe<string>({ type: "string", title, description, [KNOWN_VALUES]: values });

/** The values that an `openEnumeration` names. */
export const knownValues = (schema: object): readonly string[] | undefined =>
  (schema as { readonly [KNOWN_VALUES]?: readonly string[] })[KNOWN_VALUES]; // Only `openEnumeration` sets it.

/**
 * A value that may be null. Written as a list of types if possible, because serializers compile it. They try the
 * branches of a union one by one.
 */
export function nullable<S extends TSchema>(schema: S, description: string) {
  const { type, ...rest } = schema as S & { type?: unknown };
  const plain = typeof type === "string" && type !== "object";
  return Type.Unsafe<Static<S> | null>(
    plain
      ? { ...rest, type: [type, "null"], description }
      : { anyOf: [schema, { type: "null" }], description },
  );
}

const USE = Symbol("use");

/**
 * A schema with a description of this use of it. The schema keeps its own description: an OpenAPI document shows
 * both, this one beside the reference to the schema.
 */
export const describedAs = <S extends TSchema>(schema: S, description: string) =>
  Type.Unsafe<Static<S>>({ ...schema, [USE]: description });

/** The description that `describedAs` has given to a use of a schema. */
export const usedAs = (schema: { readonly [USE]?: string }): string | undefined => schema[USE];

export const dateTime = (description: string) => Type.String({ format: "date-time", description });

export const nullableTime = (description: string) =>
  nullable(Type.String({ format: "date-time" }), description);

export const PAGE_SIZE_DEFAULT = 50;
export const PAGE_SIZE_MAX = 100;

/** Specification, part 8, "Page size". */
export const limitField = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: PAGE_SIZE_MAX,
    default: PAGE_SIZE_DEFAULT,
    description: "Maximum number of items on the page.",
  }),
);
export const cursorField = Type.Optional(
  Type.String({ maxLength: 500, description: "`nextCursor` of the previous page. Opaque: do not parse it." }),
);

/**
 * The query of a list without filters: any parameter is rejected, as by other lists
 * (docs/design/api-conventions.md, "Unknown fields").
 */
export const NoParameters = Type.Object({});

/** A filter of a list by a text that items contain; see `toSearched`. */
export const searchField = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, format: "text", description }));

/** A filter of a list by a condition. */
export const flagField = (description: string) => Type.Optional(Type.Boolean({ description }));

/** The text of a `searchField`, as SQL searches for it. Null without a search. */
export const toSearched = (text: string | undefined): SearchPatterns | null =>
  text === undefined ? null : searchPatterns(text);

/** The same for a list with mail addresses, whose domains are found by either of their forms. */
export const toSearchedMail = (text: string | undefined): SearchPatterns | null =>
  text === undefined ? null : toSearched(normalMailAddress(text));

/** The member `nextCursor` of a list that has one page. */
export const noNextCursor = nullable(Type.String(), "Always null: the list has one page.");

export const pageOf = <S extends TSchema>(item: S, title: string) =>
  Type.Object(
    {
      data: Type.Array(item, { description: "The items of the page." }),
      nextCursor: nullable(Type.String(), "`cursor` of the next page; null on the last page."),
    },
    { title, description: "A page of a list." },
  );

/** Money in a response: a decimal string, because JSON parsers may round a number. */
export const MoneySchema = Type.Object(
  {
    amount: Type.String({
      description: "Decimal amount, with as many decimals as the currency has; negative with a leading `-`.",
      examples: ["12.50"],
    }),
    currency: Type.String({ description: "ISO 4217 code.", examples: ["EUR"] }),
  },
  { title: "Money", description: "An amount of money." },
);

/** Money in a request. */
export const MoneyRequestSchema = Type.Object(
  {
    amount: Type.String({
      format: "amount",
      description: "Decimal amount, with at most as many decimals as the currency has.",
      examples: ["12.50"],
    }),
    currency: Type.String({ format: "currency", description: "ISO 4217 code.", examples: ["EUR"] }),
  },
  { title: "MoneyRequest", description: "An amount of money." },
);
