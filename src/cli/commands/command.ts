import { readFileSync } from "node:fs";
import type { Outcome } from "../outcomes.ts";
import { UsageError } from "../output.ts";
import type { Column } from "../present.ts";
import { wholeNumber } from "./values.ts";

/** An option of a command: a parameter of the route's query, or a member of its body. */
export type Field = {
  /** Name of the parameter or the member; `reviewPolicy.maxQuantity` is the member of a member. */
  readonly name: string;
  /** As commander reads it: `--name <text>`, or `--restock` for true. */
  readonly flag: string;
  readonly help: string;
  /** Reads the value from its text; absent: the text itself. @throws InvalidValue */
  readonly read?: (text: string) => unknown;
  /** The texts that may be given, with the values that the request has for them. */
  readonly choices?: Readonly<Record<string, string>>;
  /** It says how the response is shown, as `--json` does: only one of them can be given. */
  readonly notWithJson?: true;
  /** It names an order: its id, or the partner's own, which is looked up. */
  readonly namesOrder?: true;
};

/**
 * A command that is one request to the back office. The route of the operation defines the request: its method and
 * path, which options are in the query and which in the body, and which of them are required. What the path names is
 * the argument of the command if the command works with it, else an option of its own: `order show <order>`, and
 * `key list --connection <id>`.
 */
export type RequestCommand = {
  /** Such as `merchant create`. */
  readonly words: string;
  readonly operationId: string;
  /** Absent: the summary of the route. */
  readonly help?: string;
  readonly fields?: readonly Field[];
  /** Of a list: the members that the table shows. Lists with pages also take `--limit`, `--cursor` and `--all`. */
  readonly columns?: readonly Column[];
  /** What the argument names, if that is not the first of the words: `merchant` for `account show <merchant>`. */
  readonly argument?: string;
  /** An older form of the command named it with an option of the same name, which still works. */
  readonly argumentIsAlsoOption?: true;
  /** Of a change: says what has changed, instead of the whole response. Absent: the response, or the changed members. */
  readonly outcome?: Outcome;
  /** The response contains what is never shown again. */
  readonly secret?: {
    /** Follows the response, on standard error. */
    readonly note: string;
    /** What to do if the response could not be written. @param id of the response */
    ifLost(id: string): string;
  };
  /** The operation that returns the same as a CSV file, with `--format csv`. */
  readonly csvOperationId?: string;
  /** The response is a file, which is written while it arrives. */
  readonly isFile?: true;
};

/** The options of a command line, by the camel-case names that commander gives them. */
export type OptionValues = Readonly<Record<string, unknown>>;

/** A value that was read from its text. In a box, because commander takes a bare null for an option without a value. */
export class ReadValue {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}

const PAGE_FIELDS: readonly Field[] = [
  { name: "limit", flag: "--limit <count>", help: "size of a page, at most 100", read: wholeNumber },
  {
    name: "cursor",
    flag: "--cursor <cursor>",
    help: "shows the page after the one that printed this cursor",
  },
];

/** All options of a command that belong to its request. */
export const fieldsOf = (command: RequestCommand): readonly Field[] =>
  hasPages(command) ? [...(command.fields ?? []), ...PAGE_FIELDS] : (command.fields ?? []);

/** Whether the response is a page of a list. */
export const hasPages = ({ operationId }: RequestCommand): boolean =>
  operationOf(operationId).query.has("cursor");

/** Whether a request cannot do without this field. */
export function isRequired(command: RequestCommand, { name }: Field): boolean {
  const { requiredQuery, requiredMembers } = operationOf(command.operationId);
  return requiredQuery.includes(name) || (requiredMembers?.includes(name) ?? false);
}

export const helpOf = ({ help, operationId }: RequestCommand): string =>
  help ?? uncapitalized(operationOf(operationId).summary);

const uncapitalized = (text: string): string => `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;

/** The name under which commander keeps an option: `--max-quantity <n>` is `maxQuantity`. */
export function optionName(flag: string): string {
  const [long = ""] = flag.replace(/^--/, "").split(" ");
  return long.replace(/-(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

/** What a command works with: `merchant` of `merchant create`. */
const resourceOf = ({ words }: RequestCommand): string => words.split(" ")[0] ?? "";

/** What the argument of a command names. Null if it takes none: the path of its route names no such resource. */
export function argumentOf(command: RequestCommand): string | null {
  const argument = command.argument ?? resourceOf(command);
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

/** A condition of a change, not a change (decision 0208). */
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
  const query: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  for (const field of fieldsOf(command)) {
    const given = options[optionName(field.flag)];
    if (given === undefined) continue;
    const value = given instanceof ReadValue ? given.value : (field.choices?.[String(given)] ?? given);
    if (operation.query.has(field.name)) query[field.name] = String(value);
    else setMember(body, field.name, value);
  }
  const changing = fieldsOf(command).filter(({ name }) => name !== EXPECTED_VERSION);
  if (operation.method === "PATCH" && Object.keys(body).every((name) => name === EXPECTED_VERSION))
    throw new UsageError(
      `Nothing is to change: give one or more of ${changing
        .map(({ flag }) => flag.split(" ")[0])
        .join(", ")}.`,
    );
  return {
    method: operation.method,
    path: pathOf(command, operation, id, options),
    query,
    body: operation.requiredMembers === null ? null : body,
  };
}

function pathOf(
  command: RequestCommand,
  { path }: Operation,
  id: string | undefined,
  options: OptionValues,
): string {
  return namedIn(path).reduce((filled, { resource, parameter }) => {
    const named = resource === argumentOf(command) ? id : options[resource];
    return pathWith(filled, parameter, resource, String(named));
  }, path);
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
  const inner = (body[name] ?? {}) as Record<string, unknown>; // Made here, if at all.
  body[name] = inner;
  setMember(inner, rest.join("."), value);
}

/** What a command knows about an operation of the back office. */
type Operation = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces: `/api/merchants/{id}`. */
  readonly path: string;
  readonly summary: string;
  /** Names of the parameters of the query. */
  readonly query: ReadonlySet<string>;
  readonly requiredQuery: readonly string[];
  /** Names of the members that a JSON body must have. Null if the operation takes no JSON. */
  readonly requiredMembers: readonly string[] | null;
};

/** The parts of the OpenAPI document that commands need. */
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, BodySchema>> };
};
type DescribedOperation = {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
  }[];
  readonly requestBody?: {
    readonly content: { readonly "application/json"?: { readonly schema: BodySchema } };
  };
};
type BodySchema = { readonly $ref?: string; readonly required?: readonly string[] };

// The checked-in document and not the route table: with the routes come the database and the HTTP server, which take
// most of a second to load and which a command over HTTP does not need (decision 0103).
const DOCUMENT = new URL("../../../openapi/back-office.json", import.meta.url);

let operations: ReadonlyMap<string, Operation> | null = null;

/** The operation of the back office with this name. */
export function operationOf(operationId: string): Operation {
  operations ??= readOperations();
  const operation = operations.get(operationId);
  if (operation === undefined)
    throw new Error(`openapi/back-office.json has no operation ${operationId}: run npm run describe`);
  return operation;
}

function readOperations(): ReadonlyMap<string, Operation> {
  const document: Document = JSON.parse(readFileSync(DOCUMENT, "utf8"));
  const read = new Map<string, Operation>();
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, described] of Object.entries(methods))
      if (isMethod(method))
        read.set(described.operationId, toOperation(document, METHODS[method], path, described));
  return read;
}

const METHODS = { get: "GET", post: "POST", put: "PUT", patch: "PATCH", delete: "DELETE" } as const;
const isMethod = (name: string): name is keyof typeof METHODS => Object.hasOwn(METHODS, name);

function toOperation(
  { components }: Document,
  method: Operation["method"],
  path: string,
  { summary, parameters = [], requestBody }: DescribedOperation,
): Operation {
  const schema = requestBody?.content["application/json"]?.schema;
  const name = schema?.$ref?.replace("#/components/schemas/", "");
  const body = name === undefined ? schema : components.schemas[name];
  const query = parameters.filter((parameter) => parameter.in === "query");
  return {
    method,
    path,
    summary,
    query: new Set(query.map((parameter) => parameter.name)),
    requiredQuery: query.filter(({ required }) => required === true).map((parameter) => parameter.name),
    requiredMembers: body === undefined ? null : (body.required ?? []),
  };
}
