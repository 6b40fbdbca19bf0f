import { Ajv, type ErrorObject } from "ajv";
import addFormatsModule from "ajv-formats";
import type { TSchema } from "typebox";
import { parseUuid } from "../ids.ts";
import { arrayCutOf } from "./bounded-arrays.ts";
import { COUNTRY_CODE_FORM, COUNTRY_CODE_FORM_DETAIL } from "./countries.ts";
import { dateTimeError } from "./date-times.ts";
import { OWN_FORMATS } from "./formats.ts";
import type { ValidationError } from "./problems.ts";
import { counted } from "./text.ts";

const STANDARD_FORMAT_DETAILS: Readonly<Record<string, string>> = {
  uuid: "must be a UUID",
  email: "must be an email address",
};

const PATTERN_DETAILS: Readonly<Record<string, string>> = { [COUNTRY_CODE_FORM]: COUNTRY_CODE_FORM_DETAIL };

// The package's default export is its CommonJS module object.
const addFormats = addFormatsModule.default;

export type Validate = (value: unknown) => readonly ErrorObject[];

/**
 * A compiler of validators with the service's own formats. A validator returns all errors of a value at once, but looks
 * no further into an array than the first item that is too many.
 */
export function createCompile(): (schema: TSchema) => Validate {
  const ajv = createAjv();
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
  addFormats(ajv, ["email"]);
  ajv.addFormat("uuid", (text: string) => parseUuid(text) !== null); // The library's own also takes `urn:uuid:`.
  ajv.addFormat("date-time", (text: string) => dateTimeError(text) === null); // Nor does that know the years of RFC 3339.
  for (const [name, { isValid }] of Object.entries(OWN_FORMATS)) ajv.addFormat(name, isValid);
  return ajv;
}

/** Checks values that do not come from a request's JSON by the same rules. Pointers are relative to the value. */
export function createCheck(schema: TSchema): (value: unknown) => ReturnType<typeof errorsOf> {
  const validate = createCompile()(schema);
  return (value) => errorsOf(validate(value), "body");
}

/** More than the errors of a hundred lines, so that all of these are reported. A list of 2 500 rates could have more. */
const ERRORS_MAX = 500;

export type RequestPart = "body" | "querystring" | "params" | "headers";

/** The validator's errors as the errors of a problem, each with its position. */
export function errorsOf(errors: readonly ErrorObject[], part: RequestPart): ValidationError[] {
  const reported = errors.filter((error) => !isAboutNull(error) && error.keyword !== "propertyNames");
  return reported.slice(0, ERRORS_MAX).map((error) => {
    return errorAt(part, `${error.instancePath}${memberOf(error)}`, detailOf(error));
  });
}

/** The member that an error is about, if it is about one that the value lacks or should not have. */
function memberOf({ keyword, params }: ErrorObject): string {
  if (keyword === "required") return `/${params["missingProperty"]}`;
  return keyword === "additionalProperties" ? `/${params["additionalProperty"]}` : "";
}

/** States only that the value might also be null. Another error states what is wrong with the value that was sent. */
const isAboutNull = ({ keyword, params }: ErrorObject): boolean =>
  keyword === "anyOf" || (keyword === "type" && params["type"] === "null");

function errorAt(part: RequestPart, path: string, detail: string): ValidationError {
  if (part === "body") return { pointer: path, detail };
  const name = path.slice(1);
  return part === "headers" ? { header: name, detail } : { parameter: name, detail };
}

/** An error about the name of a member says so. Its position is the object. */
const detailOf = (error: ErrorObject): string =>
  error.propertyName === undefined ? ruleOf(error) : `has a key that ${ruleOf(error)}`;

function ruleOf(error: ErrorObject): string {
  switch (error.keyword) {
    case "required":
      return "is required";
    case "nearMiss":
      return `is not a known field; use ${error.params["field"]}`;
    case "additionalProperties":
      return unknownNameDetail(error);
    case "format":
      return formatDetail(String(error.params["format"]), String(error.data));
    case "pattern":
      return PATTERN_DETAILS[String(error.params["pattern"])] ?? `must match ${error.params["pattern"]}`;
    case "type":
      return `must be ${[error.params["type"]].flat().map(withArticle).join(" or ")}`;
    case "enum":
      return `must be one of ${(error.params["allowedValues"] as unknown[]).join(", ")}`;
    case "minimum":
      return `must be at least ${error.params["limit"]}`;
    case "maximum":
      return `must be at most ${error.params["limit"]}`;
    case "minLength":
      return `must have at least ${counted(error.params["limit"], "character")}`;
    case "maxLength":
      return `must have at most ${counted(error.params["limit"], "character")}`;
    case "minItems":
      return `must have at least ${counted(error.params["limit"], "item")}`;
    case "maxProperties":
      return `must have at most ${counted(error.params["limit"], "key")}`;
    case "maxItems":
      return `must have at most ${counted(error.params["limit"], "item")}`;
    default:
      return error.message ?? "is invalid";
  }
}

/** The compiler of queries adds the known parameters. The schema of an object in a body has its fields. */
function unknownNameDetail({ params, parentSchema }: ErrorObject): string {
  const parameters = params["known"] as readonly string[] | undefined;
  if (parameters === undefined)
    return `is not a known field; use ${Object.keys(parentSchema?.["properties"] ?? {}).join(", ")}`;
  return `is not a known parameter; ${parameters.length === 0 ? "there are none" : `use ${parameters.join(", ")}`}`;
}

function formatDetail(format: string, text: string): string {
  const detail = format === "date-time" ? dateTimeError(text) : OWN_FORMATS[format]?.detail(text);
  return detail ?? STANDARD_FORMAT_DETAILS[format] ?? `must match format ${format}`;
}

/** A JSON type in a sentence: "an object", "a string", "null". */
const withArticle = (type: string): string =>
  type === "null" ? type : `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
