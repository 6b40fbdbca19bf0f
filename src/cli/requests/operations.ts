import { readFileSync } from "node:fs";

/** What a command knows about an operation of the back office. */
export type Operation = {
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
