import { readFileSync } from "node:fs";
import type { OutcomeText } from "../outcomes.ts";
import { UsageError } from "../output.ts";
import type { Column } from "../present.ts";

/**
 * A command that is one request to the back office. The description of the operation says what the request takes, and so
 * which options the command has. What the path names is the argument of the command if the command works with it, else an
 * option of its own: `order show <order>`, and `key list --connection <id>`.
 */
export type RequestCommand = {
  /** Such as `merchant create`. */
  readonly words: string;
  readonly operationId: string;
  /** Absent: the summary of the route. */
  readonly help?: string;
  /** Options with another name than `flagOf` gives them, by the name of the field. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Of a list: the members that the table shows. */
  readonly columns?: readonly Column[];
  /** The thing that the argument names, if that is not the first of the words: `merchant` for `account show <merchant>`. */
  readonly argument?: string;
  /** Of a change: says what has changed, instead of the whole response. Absent: the response, or the changed members. */
  readonly outcome?: OutcomeText;
  /** The response contains what is never shown again. */
  readonly secret?: {
    /** Follows the response, on standard error. */
    readonly note: string;
    /** What to do if the response could not be written. @param id of the response */
    ifLost(id: string): string;
  };
  /** The operation that returns the same as a CSV file, with `--format csv`. */
  readonly csvOperationId?: string;
};

/** The options of a command line, by the names that commander gives them. */
export type OptionValues = Readonly<Record<string, unknown>>;

/** Values that were read from texts. In a box, because commander takes a bare null for an option without a value. */
export class ReadValue {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}

/** What the options of a command are made of: all but the path, and the format if it chooses another operation. */
export const fieldsOf = ({ operationId, csvOperationId }: RequestCommand): readonly Field[] =>
  operationOf(operationId).fields.filter(
    ({ in: place, name }) => place !== "path" && (name !== "format" || csvOperationId === undefined),
  );

export const helpOf = ({ help, operationId }: RequestCommand): string =>
  help ?? uncapitalized(operationOf(operationId).summary);

/** Within a sentence; not the names of standards. */
const uncapitalized = (text: string): string =>
  text.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());

/** Names of options that are better than those of their fields, or of a member of an object. */
const FLAGS: Readonly<Record<string, string>> = {
  q: "search",
  merchantId: "merchant",
  merchantIds: "merchants",
  connectionId: "connection",
  connectionIds: "connections",
  facilityId: "facility",
  facilityIds: "facilities",
  orderId: "order",
  productId: "product",
  shipmentId: "shipment",
  endpointId: "endpoint",
  eventId: "event",
  subjectId: "subject",
  eventType: "type",
  countryCode: "country",
  stateCode: "state",
  testMode: "test",
  createdSince: "since",
  createdUntil: "until",
  updatedSince: "changed-since",
  updatedUntil: "changed-until",
  expectedOnHand: "expected",
  "address.address1": "address-line1",
  "address.address2": "address-line2",
};
/** Members of these have names that say enough. Those of others have the name of the object before them. */
const OPEN_OBJECTS: Readonly<Record<string, string>> = {
  reviewPolicy: "",
  shippingAddress: "",
  limits: "limit-",
};

/** The name of an option: `max-quantity` for `reviewPolicy.maxQuantity`, and `merchant` for `merchantId`. */
export function flagOf({ flags }: Pick<RequestCommand, "flags">, { name }: Pick<Field, "name">): string {
  const named = flags?.[name] ?? FLAGS[name];
  if (named !== undefined) return named;
  const [member = "", object] = name.split(".").reverse();
  const prefix = object === undefined ? "" : (OPEN_OBJECTS[object] ?? `${kebab(object)}-`);
  return `${prefix}${FLAGS[member] ?? kebab(member)}`;
}

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The name under which commander keeps an option: `--max-quantity <n>` is `maxQuantity`. */
const optionName = (flag: string): string =>
  flag.replace(/-(\w)/g, (_match, letter: string) => letter.toUpperCase());

/** What the argument of a command names. Null if it takes none: the path of its route names no such resource. */
export function argumentOf(command: RequestCommand): string | null {
  const argument = command.argument ?? command.words.split(" ")[0] ?? "";
  return resourcesInPath(command).includes(argument) ? argument : null;
}

/** The resources that the path of a command's route names, in their order. */
export const resourcesInPath = ({ operationId }: RequestCommand): string[] =>
  namedIn(operationOf(operationId).path).map(({ resource }) => resource);

/** `/api/facilities/{id}/stock/{productId}` names a facility and a product. */
const namedIn = (path: string): { resource: string; parameter: string }[] =>
  [...path.matchAll(/([a-z-]+)\/\{(\w+)\}/g)].map(([, collection = "", parameter = ""]) => ({
    parameter,
    resource: parameter === "id" ? singular(collection) : parameter.replace(/Id$/, ""),
  }));

const singular = (plural: string): string =>
  plural === "people" ? "person" : plural.replace(/ies$/, "y").replace(/s$/, "");

export type BackOfficeRequest = {
  readonly method: Operation["method"];
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>> | null;
};

/** A condition of a change, not a change (docs/design/api-conventions.md, "Expected versions"). */
const EXPECTED_VERSION = "expectedVersion";

/**
 * The request of a command line.
 * @param id the argument of the command, if it takes one
 * @throws UsageError for an id that cannot be one, and for a change that names nothing to change
 */
export function requestOf(
  command: RequestCommand,
  id: string | undefined,
  options: OptionValues,
): BackOfficeRequest {
  const operation = operationOf(command.operationId);
  const given = fieldsOf(command).flatMap((field): [Field, unknown][] => {
    const value = options[optionName(flagOf(command, field))];
    return value instanceof ReadValue ? [[field, value.value]] : [];
  });
  const { query, body } = partsOf(given);
  if (operation.method === "PATCH" && Object.keys(body).every((name) => name === EXPECTED_VERSION))
    throw new UsageError(
      `Nothing is to change: give one or more of ${fieldsOf(command)
        .filter(({ name }) => name !== EXPECTED_VERSION)
        .map((field) => `--${flagOf(command, field)}`)
        .join(", ")}.`,
    );
  const path = namedIn(operation.path).reduce((filled, { resource, parameter }) => {
    const named = resource === argumentOf(command) ? id : options[optionName(resource)];
    return pathWith(filled, parameter, resource, String(named));
  }, operation.path);
  return { method: operation.method, path, query, body: operation.takesJson ? body : null };
}

/** The query and the body that have these values. @param body what the body has beside them */
export function partsOf(
  given: readonly (readonly [Field, unknown])[],
  body: Record<string, unknown> = {},
): { query: Record<string, string>; body: Record<string, unknown> } {
  const query: Record<string, string> = {};
  for (const [field, value] of given)
    if (field.in === "query") query[field.name] = String(value);
    else setMember(body, field.name, value);
  return { query, body };
}

/** A path with an id in the place of its parameter. @throws UsageError */
export function pathWith(path: string, parameter: string, resource: string, id: string): string {
  checkId(resource, id);
  return path.replace(`{${parameter}}`, encodeURIComponent(id));
}

/**
 * A URL cannot contain `.` or `..` as an id, however they are written: they lead to another route, such as the list of
 * all connections. So does an empty id. The partner's own ids are none of these either.
 * @throws UsageError
 */
export function checkId(resource: string, id: string): void {
  if (["", ".", ".."].includes(id))
    throw new UsageError(`"${id}" cannot be an id: give that of the ${resource}.`);
}

function setMember(body: Record<string, unknown>, path: string, value: unknown): void {
  const [name = "", ...rest] = path.split(".");
  if (rest.length === 0) {
    body[name] = value;
    return;
  }
  const inner = (body[name] ?? {}) as Record<string, unknown>; // Made here, or by the caller.
  body[name] = inner;
  setMember(inner, rest.join("."), value);
}

/** What the command line knows about an operation of the back office. */
export type Operation = {
  readonly operationId: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces: `/api/merchants/{id}`. */
  readonly path: string;
  readonly summary: string;
  /** Of the path, the query and the body, with the members of members: `reviewPolicy.maxQuantity`. */
  readonly fields: readonly Field[];
  readonly takesJson: boolean;
  /** The media type of a file that is its body. */
  readonly takesFile: string | null;
  /** True if the response is a file, which is written while it arrives. */
  readonly isFile: boolean;
  /** True if the response is a page of a list. */
  readonly hasPages: boolean;
};

export type Field = {
  readonly name: string;
  readonly in: "path" | "query" | "body";
  readonly help: string;
  /** True if a request cannot do without it. */
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  /** Without null. */
  readonly schema: Schema;
};

/** The part of JSON Schema that the descriptions of requests use. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
};

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;
type Described = {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

// The checked-in document and not the route table: with the routes come the database and the HTTP server, which take most of a
// second to load and which a command over HTTP does not need (docs/design/api-conventions.md, "Command line").
const DOCUMENT = new URL("../../../openapi/back-office.json", import.meta.url);
const METHODS = { get: "GET", post: "POST", put: "PUT", patch: "PATCH", delete: "DELETE" } as const;
const JSON_TYPE = "application/json";

let operations: ReadonlyMap<string, Operation> | null = null;

/** All operations of the back office that a token can send and that end with a response, by their names. */
export function allOperations(): ReadonlyMap<string, Operation> {
  operations ??= readOperations(JSON.parse(readFileSync(DOCUMENT, "utf8")));
  return operations;
}

/** The operation of the back office with this name. */
export function operationOf(operationId: string): Operation {
  const operation = allOperations().get(operationId);
  if (operation === undefined)
    throw new Error(`openapi/back-office.json has no operation ${operationId}: run npm run describe`);
  return operation;
}

function readOperations({ paths, components: { schemas } }: Document): ReadonlyMap<string, Operation> {
  const read = new Map<string, Operation>();
  for (const [path, methods] of Object.entries(paths))
    for (const [name, described] of Object.entries(methods)) {
      if (!isMethod(name) || !path.startsWith("/api/")) continue;
      const { operationId, summary, parameters = [], requestBody, responses } = described;
      const response = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
      const responseTypes = Object.keys(response?.content ?? {});
      if (responseTypes.includes("text/event-stream")) continue;
      const body = requestBody?.content[JSON_TYPE]?.schema;
      const [fileType = null] = Object.keys(requestBody?.content ?? {}).filter((type) => type !== JSON_TYPE);
      const fields = [
        ...parameters.flatMap((parameter): Field[] =>
          parameter.in === "path" || parameter.in === "query"
            ? [
                {
                  ...fieldOf(parameter.name, parameter.schema, schemas, parameter.description),
                  in: parameter.in,
                  isRequired: parameter.required === true,
                },
              ]
            : [],
        ),
        ...(body === undefined ? [] : membersOf(resolved(body, schemas), schemas, "", true)),
      ];
      read.set(operationId, {
        operationId,
        method: METHODS[name],
        path,
        summary,
        fields,
        takesJson: body !== undefined,
        takesFile: fileType,
        isFile: responseTypes.length > 0 && !responseTypes.includes(JSON_TYPE),
        hasPages: fields.some((field) => field.in === "query" && field.name === "cursor"),
      });
    }
  return read;
}

const isMethod = (name: string): name is keyof typeof METHODS => Object.hasOwn(METHODS, name);

type Schemas = Document["components"]["schemas"];

const resolved = (schema: Schema, schemas: Schemas): Schema =>
  schema.$ref === undefined
    ? schema
    : { ...schemas[schema.$ref.replace("#/components/schemas/", "")], ...schema };

function fieldOf(
  name: string,
  described: Schema,
  schemas: Schemas,
  description = described.description,
): Omit<Field, "in" | "isRequired"> {
  const whole = resolved(described, schemas);
  const notNull = whole.anyOf?.filter(({ type }) => type !== "null") ?? [];
  const [only, second] = notNull;
  const schema = only !== undefined && second === undefined ? resolved(only, schemas) : whole;
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return {
    name,
    help: description ?? whole.description ?? schema.description ?? "",
    isNullable: (whole.anyOf?.length ?? 0) > notNull.length || types.includes("null"),
    schema: {
      ...schema,
      type: types.find((type) => type !== "null"),
      ...(schema.items !== undefined && { items: resolved(schema.items, schemas) }),
    },
  };
}

function membersOf(object: Schema, schemas: Schemas, prefix: string, isRequired: boolean): Field[] {
  return Object.entries(object.properties ?? {}).flatMap(([name, described]): Field[] => {
    const field = fieldOf(`${prefix}${name}`, described, schemas);
    const required = isRequired && (object.required?.includes(name) ?? false);
    return field.schema.properties !== undefined && !isMoney(field.schema)
      ? membersOf(field.schema, schemas, `${field.name}.`, required)
      : [{ ...field, in: "body", isRequired: required }];
  });
}

/** An amount with its currency is one value: `12.50 EUR`. */
export const isMoney = ({ properties = {} }: Schema): boolean =>
  Object.keys(properties).sort().join() === "amount,currency";
