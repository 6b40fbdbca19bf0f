import { Ajv, type AnySchemaObject, type ErrorObject } from "ajv";
import type { TSchema } from "typebox";
import { parseUuid } from "../ids.ts";
import { isMailAddress } from "../mail-address.ts";
import { isAmount, isCurrency } from "../money.ts";
import { parseTime } from "../time.ts";
import { dropNothing, EXACT_FORMAT, isBlank } from "./absent-fields.ts";
import { COUNTRY_CODE_FORM, countryCodeError, isCountryCode } from "./countries.ts";
import { isStorableText, type ValidationError } from "./problems.ts";
import { type FormatName, isFormatName, type Violation } from "./rules.ts";

export type Validate = (value: unknown) => readonly ErrorObject[];

/**
 * A compiler of validators with the service's own formats. A validator returns all errors of a value at once, but looks
 * no further into an array than the first item that is too many.
 * @param refusesBlank a text that must not be empty must not be blank either. Not for what a path or a header field names: the
 *   specification only limits its length.
 */
export function createCompile({ refusesBlank = false } = {}): (schema: TSchema) => Validate {
  const ajv = createAjv();
  if (refusesBlank) refuseBlankTexts(ajv);
  return (schema) => {
    const validate = ajv.compile(schema);
    const cutArrays = arrayCutOf(schema);
    return (sent) => {
      const value = cutArrays === null ? sent : cutArrays(sent);
      return validate(value) ? NO_ERRORS : (validate.errors ?? NO_ERRORS);
    };
  };
}

const NO_ERRORS: readonly ErrorObject[] = [];

function createAjv(): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    useDefaults: true,
    strict: true,
    allowUnionTypes: true,
    verbose: true, // An error then has the value that is wrong.
  });
  ajv.addFormat("email", isMailAddress); // The library takes neither international domains nor names.
  ajv.addFormat("uuid", (text: string) => parseUuid(text) !== null); // The library's own also takes `urn:uuid:`.
  ajv.addFormat("date-time", (text: string) => dateTimeError(text) === null); // Nor does that know the years of RFC 3339.
  for (const [name, { isValid }] of Object.entries(OWN_FORMATS)) ajv.addFormat(name, isValid);
  return ajv;
}

/** `minLength` means characters of which at least one can be seen (docs/design/api-conventions.md, "Nothing"). */
function refuseBlankTexts(ajv: Ajv): void {
  ajv.removeKeyword("minLength");
  ajv.addKeyword({
    keyword: "minLength",
    type: "string",
    schemaType: "number",
    // Two code units can be one character, so the characters of a short text are counted.
    validate: (min: number, text: string, schema?: AnySchemaObject) =>
      (text.length >= 2 * min || [...text].length >= min) &&
      (min === 0 || schema?.["format"] === EXACT_FORMAT || !isBlank(text)),
  });
}

/**
 * A validator of values without what says nothing. A valid value is not looked through: no schema has an optional text
 * that may be empty or blank.
 */
export function withoutNothing(schema: TSchema, isUpdate: boolean, validate: Validate): Validate {
  const drop = dropNothing(schema, isUpdate);
  if (drop === null) return validate;
  return (value) => {
    const errors = validate(value);
    return errors.length > 0 && drop(value) ? validate(value) : errors;
  };
}

/**
 * Checks values that do not come from a request's JSON by the same rules. Pointers are relative to the value. What says
 * nothing in it is removed.
 */
export function createCheck(
  schema: TSchema,
): (value: unknown) => ({ readonly pointer: string } & Violation)[] {
  const validate = withoutNothing(schema, false, createCompile({ refusesBlank: true })(schema));
  return (value) => violationsOf(validate(value)).map(([pointer, violation]) => ({ pointer, ...violation }));
}

/** More than the errors of a hundred lines, so that all of these are reported. A list of 2 500 rates could have more. */
const ERRORS_MAX = 500;

export type RequestPart = "body" | "querystring" | "params" | "headers";

/** The validator's errors as the errors of a problem, each with its position. */
export const errorsOf = (errors: readonly ErrorObject[], part: RequestPart): ValidationError[] =>
  violationsOf(errors).map(([path, violation]) => ({ ...positionOf(part, path), ...violation }));

function violationsOf(errors: readonly ErrorObject[]): [path: string, Violation][] {
  const reported = errors.filter((error) => !isAboutNull(error) && error.keyword !== "propertyNames");
  return reported
    .slice(0, ERRORS_MAX)
    .map((error) => [`${error.instancePath}${memberOf(error)}`, violationOf(error)]);
}

/** The member that an error is about, if it is about one that the value lacks or should not have. */
function memberOf({ keyword, params }: ErrorObject): string {
  if (keyword === "required") return `/${params["missingProperty"]}`;
  return keyword === "additionalProperties" ? `/${params["additionalProperty"]}` : "";
}

/** States only that the value might also be null. Another error states what is wrong with the value that was sent. */
const isAboutNull = ({ keyword, params }: ErrorObject): boolean =>
  keyword === "anyOf" || (keyword === "type" && params["type"] === "null");

function positionOf(part: RequestPart, path: string) {
  if (part === "body") return { pointer: path };
  const name = path.slice(1);
  return part === "headers" ? { header: name } : { parameter: name };
}

/** An error about the name of a member says so. Its position is the object. */
const violationOf = (error: ErrorObject): Violation =>
  error.propertyName === undefined ? ruleOf(error) : { ...ruleOf(error), of: "key" };

function ruleOf({ keyword, params, data, parentSchema, instancePath }: ErrorObject): Violation {
  switch (keyword) {
    case "required":
      return { rule: "required" };
    case "nearMiss":
      return { rule: "unknown_field", known: [params["field"]] };
    case "additionalProperties":
      return unknownName(params, parentSchema);
    case "format":
      return formatRule(String(params["format"]), String(data));
    case "pattern":
      return params["pattern"] === COUNTRY_CODE_FORM
        ? { rule: "format", format: "country-code" }
        : { rule: "pattern", pattern: params["pattern"] };
    case "type":
      return instancePath === "" && params["type"] === "object"
        ? { rule: "json_object", known: namesToSend(parentSchema) }
        : { rule: "type", types: [params["type"]].flat() };
    case "enum":
      return { rule: "one_of", allowed: params["allowedValues"].map(String) };
    case "const":
      return { rule: "one_of", allowed: [String(params["allowedValue"])] };
    case "minimum":
      return { rule: "minimum", min: params["limit"] };
    case "maximum":
      return { rule: "maximum", max: params["limit"] };
    case "minLength":
      return minLengthRule(Number(parentSchema?.["minLength"]), String(data));
    case "maxLength":
      return { rule: "max_length", max: params["limit"] };
    case "minItems":
      return { rule: "min_items", min: params["limit"] };
    case "maxItems":
      return { rule: "max_items", max: params["limit"] };
    case "maxProperties":
      return { rule: "max_keys", max: params["limit"] };
    default:
      return { rule: "invalid" };
  }
}

/** The compiler of queries adds the known parameters. The schema of an object in a body has its fields. */
function unknownName(params: ErrorObject["params"], parentSchema: ErrorObject["parentSchema"]): Violation {
  const known = params["known"] as readonly string[] | undefined;
  return known === undefined
    ? { rule: "unknown_field", known: Object.keys(parentSchema?.["properties"] ?? {}) }
    : { rule: "unknown_parameter", known };
}

function minLengthRule(min: number, text: string): Violation {
  return [...text].length < min ? { rule: "min_length", min } : { rule: "blank" };
}

/** The fields that a body must have, or those that it can have. */
function namesToSend(schema: ErrorObject["parentSchema"]): string[] {
  const required: string[] = schema?.["required"] ?? [];
  return required.length > 0 ? required : Object.keys(schema?.["properties"] ?? {});
}

function formatRule(format: string, text: string): Violation {
  const known: Violation = isFormatName(format) ? { rule: "format", format } : { rule: "invalid" };
  if (format === "date-time") return dateTimeError(text) ?? known;
  return format === "country-code" ? countryCodeError(text) : known;
}

/**
 * Shortens the arrays of a value, and its objects that have keys of the caller. Returns the value, or what takes its
 * place.
 */
type ArrayCut = (value: unknown) => unknown;

/** The part of a schema that describes its arrays and objects, and how large they may be. */
type SchemaOfArrays = {
  readonly type?: string | readonly string[];
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: SchemaOfArrays;
  readonly properties?: Readonly<Record<string, SchemaOfArrays>>;
  readonly anyOf?: readonly SchemaOfArrays[];
  readonly allOf?: readonly SchemaOfArrays[];
};

/**
 * Cuts arrays that are longer than the schema permits to one item more than that, at any depth, and objects in the same
 * way; null if the schema has neither. The validator looks into every item, also into those beyond `maxItems`, and
 * collects the errors of all of them. A cut array is still too long, so it is rejected.
 */
const arrayCutOf = (schema: TSchema): ArrayCut | null => cutOf(schema as SchemaOfArrays); // A JSON Schema object.

function cutOf({
  maxItems,
  maxProperties,
  items,
  properties = {},
  anyOf = [],
  allOf = [],
}: SchemaOfArrays): ArrayCut | null {
  const cuts: ArrayCut[] = [...anyOf, ...allOf].map(cutOf).filter((cut) => cut !== null);
  const ofItem = items === undefined ? null : cutOf(items);
  if (maxItems !== undefined || ofItem !== null) cuts.push((value) => cutArray(value, maxItems, ofItem));
  if (maxProperties !== undefined) cuts.push((value) => cutObject(value, maxProperties));
  for (const [name, property] of Object.entries(properties)) {
    const cut = cutOf(property);
    if (cut !== null) cuts.push((value) => cutMember(value, name, cut));
  }
  if (cuts.length <= 1) return cuts[0] ?? null;
  return (value) => cuts.reduce((cut, cutFurther) => cutFurther(cut), value);
}

function cutArray(value: unknown, maxItems: number | undefined, ofItem: ArrayCut | null): unknown {
  if (!Array.isArray(value)) return value;
  if (maxItems !== undefined && value.length > maxItems) value.length = maxItems + 1;
  if (ofItem !== null) for (const [at, item] of value.entries()) value[at] = ofItem(item);
  return value;
}

/** To delete the other keys would take many times as long as to copy these. */
function cutObject(value: unknown, maxProperties: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  const keys = Object.keys(value);
  if (keys.length <= maxProperties) return value;
  const object = value as Record<string, unknown>; // An object: any of its members may be read.
  return Object.fromEntries(keys.slice(0, maxProperties + 1).map((key) => [key, object[key]]));
}

function cutMember(value: unknown, name: string, cut: ArrayCut): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return value;
  const object = value as Record<string, unknown>; // An object: any of its members may be read.
  object[name] = cut(object[name]);
  return value;
}

/** RFC 3339, and of ISO 8601 the offsets without a colon or without minutes. */
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)[T ](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|(60))(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)$/i;

/**
 * The rule by which a text is no date-time that the service reads. Null if it is one.
 */
export function dateTimeError(text: string): Violation | null {
  const [, day = "", leapSecond] = DATE_TIME.exec(text) ?? [];
  const isTime = isDay(day) && (leapSecond === undefined || endsDay(parseTime(text)));
  return isTime ? yearError(parseTime(text)) : { rule: "format", format: "date-time" };
}

/**
 * The error of a time that is before the year 0000 or after 9999 in UTC, which its offset can cause. RFC 3339 has no form for
 * it, so no response could contain it.
 */
export const yearError = (time: Date): Violation | null =>
  /^\d{4}-/.test(time.toISOString()) ? null : { rule: "year", min: 0, max: 9_999 };

/** True if the calendar has the day. `Date` reads the 30th of February as a day of March. */
export function isDay(text: string): boolean {
  const midnight = new Date(text);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}

/** True if it is in the last second of a day in UTC, as each leap second. */
const endsDay = (time: Date): boolean => time.toISOString().includes("T23:59:59");

type Format = {
  readonly isValid: (text: string) => boolean;
  /**
   * What the OpenAPI documents show instead, because no client knows our formats: a regular expression that every valid
   * value matches. It uses only what all languages have, so it has no look-around.
   */
  readonly pattern: string;
};

/** The formats that only this service has. See docs/design/api-conventions.md, "OpenAPI from the route table". */
export const OWN_FORMATS: Readonly<Partial<Record<FormatName, Format>>> = {
  text: {
    isValid: isStorableText,
    pattern: "^[^\\u0000]*$",
  },
  "path-segment": {
    isValid: (text) => isStorableText(text) && text !== "." && text !== "..",
    pattern: "^((\\.{3}|\\.{0,2}[^.\\u0000])[^\\u0000]*)?$",
  },
  // Clients show these as links and images, so schemes that run code must not be among them.
  "web-address": {
    isValid: (text) => /^https?:\/\/\S+$/i.test(text) && isStorableText(text) && URL.canParse(text),
    pattern: "^[Hh][Tt][Tt][Pp][Ss]?://\\S+$",
  },
  "country-code": {
    isValid: isCountryCode,
    pattern: COUNTRY_CODE_FORM,
  },
  // What a scanner sends is ASCII, and the space at an end would not be seen.
  barcode: {
    isValid: (text) => /^[!-~]([ -~]*[!-~])?$/.test(text),
    pattern: "^[!-~]([ -~]*[!-~])?$",
  },
  // A token of RFC 9110, section 5.6.2.
  "header-name": {
    isValid: (text) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text),
    pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
  },
  // Or what stands for a value that is not shown (src/webhooks/endpoints/static-headers.ts).
  "header-value": {
    isValid: (text) => /^(••••|[!-~]([ -~]*[!-~])?)$/.test(text),
    pattern: "^(••••|[!-~]([ -~]*[!-~])?)$",
  },
  amount: {
    isValid: isAmount,
    pattern: "^[0-9]{1,15}(\\.[0-9]{1,6})?$",
  },
  currency: {
    isValid: isCurrency,
    pattern: "^[A-Z]{3}$",
  },
};

/** The formats of JSON Schema that the service uses. Clients know them. */
export const STANDARD_FORMATS: readonly string[] = ["date-time", "email", "uri", "uuid"];

/** The part of a schema that defines which fields its objects have. */
type SchemaOfFields = {
  readonly items?: SchemaOfFields;
  readonly properties?: Readonly<Record<string, SchemaOfFields>>;
  readonly patternProperties?: unknown;
  readonly additionalProperties?: unknown;
  readonly anyOf?: readonly SchemaOfFields[];
  readonly allOf?: readonly SchemaOfFields[];
};

/** Near misses of one body that are reported, so that a body of them costs no more than another one. */
const NEAR_MISSES_MAX = 100;

/** To delete more fields would take longer than to copy the known ones. */
const DELETED_MAX = 8;

/** Returns the value without its unknown fields: the same one, or a copy. */
type Keep = (value: unknown, path: string, nearMisses: ErrorObject[]) => unknown;

type Kept = {
  /** The value without unknown fields. */
  readonly value: unknown;
  readonly nearMisses: readonly ErrorObject[];
};

/**
 * Removes the fields of a value that the schema does not know, at any depth, and returns those that differ from a known one
 * only by case, hyphens or underscores (docs/design/api-conventions.md, "Unknown fields"). Null if the schema has no fields. So
 * a handler may copy a body: what a caller adds to it reaches nothing.
 */
export function keepKnownFields(schema: TSchema): ((value: unknown) => Kept) | null {
  const keep = keeperOf([schema as SchemaOfFields]); // A JSON Schema object.
  if (keep === null) return null;
  return (value) => {
    const nearMisses: ErrorObject[] = [];
    return { value: keep(value, "", nearMisses), nearMisses };
  };
}

/** A name without what a near miss may differ by. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[-_]/g, "");

/** @param nodes the schemas that apply to one value, or may apply to it */
function keeperOf(nodes: readonly SchemaOfFields[]): Keep | null {
  const all = nodes.flatMap(withBranches);
  const inItems = all.flatMap(({ items }) => items ?? []);
  const ofItem = inItems.length === 0 ? null : keeperOf(inItems);
  const ofFields = fieldsKeeperOf(all);
  if (ofItem === null && ofFields === null) return null;
  return (value, path, nearMisses) => {
    if (Array.isArray(value)) {
      for (let at = 0; ofItem !== null && at < value.length; at += 1)
        value[at] = ofItem(value[at], `${path}/${at}`, nearMisses);
    } else if (typeof value === "object" && value !== null && ofFields !== null)
      return ofFields(value, path, nearMisses);
    return value;
  };
}

const withBranches = (node: SchemaOfFields): SchemaOfFields[] => [
  node,
  ...[...(node.anyOf ?? []), ...(node.allOf ?? [])].flatMap(withBranches),
];

function fieldsKeeperOf(nodes: readonly SchemaOfFields[]): Keep | null {
  // The names of a map's members are data, not fields.
  if (nodes.some(({ patternProperties, additionalProperties }) => patternProperties ?? additionalProperties))
    return null;
  const names = Map.groupBy(
    nodes.flatMap(({ properties = {} }) => Object.entries(properties)),
    ([name]) => name,
  );
  if (names.size === 0) return null;
  const keepers = new Map([...names].map(([name, uses]) => [name, keeperOf(uses.map(([, node]) => node))]));
  const byPlainName = new Map([...names.keys()].map((name) => [plainName(name), name]));
  return (value, path, nearMisses) => {
    const object = value as Record<string, unknown>; // Only called with objects.
    const unknown: string[] = [];
    for (const name of Object.keys(object)) {
      const keepMember = keepers.get(name);
      if (keepMember === undefined) {
        unknown.push(name);
        addIfNear(name, path, nearMisses);
      } else if (keepMember !== null) object[name] = keepMember(object[name], `${path}/${name}`, nearMisses);
    }
    if (unknown.length > DELETED_MAX) return copyKnown(object);
    for (const name of unknown) Reflect.deleteProperty(object, name);
    return object;
  };

  function copyKnown(object: Record<string, unknown>): Record<string, unknown> {
    const known = [...keepers.keys()].filter((name) => Object.hasOwn(object, name));
    return Object.fromEntries(known.map((name) => [name, object[name]]));
  }

  function addIfNear(name: string, path: string, nearMisses: ErrorObject[]): void {
    const field = nearMisses.length < NEAR_MISSES_MAX ? byPlainName.get(plainName(name)) : undefined;
    if (field === undefined) return;
    nearMisses.push({
      keyword: "nearMiss",
      instancePath: `${path}/${name}`,
      schemaPath: "",
      params: { field },
    });
  }
}
