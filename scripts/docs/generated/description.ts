import { readFileSync } from "node:fs";

/** A schema of the OpenAPI document, as far as pages show it. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
};

type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;

type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
};

export type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** Empty: it takes no key. */
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
};

type Response = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Content & {
    readonly "application/problem+json"?: { readonly examples?: Readonly<Record<string, unknown>> };
  };
};

export type Route = { readonly method: string; readonly path: string; readonly operation: Operation };

export type Description = {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly examples: Readonly<Record<string, { readonly value: Readonly<Record<string, unknown>> }>>;
  };
};

/** Tests compare the file with the schemas that validate. */
export const readDescription = (name: "partner" | "back-office"): Description =>
  JSON.parse(readFileSync(`openapi/${name}.json`, "utf8")); // Our own file.

export const routesOf = ({ paths, components }: Description): Route[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: { ...operation, responses: resolved(operation.responses, components.responses) },
    })),
  );

/** Responses themselves, in the place of references to them. */
const resolved = (responses: Operation["responses"], named: Operation["responses"]): Operation["responses"] =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      named[referredName(response)] ?? response,
    ]),
  );

const referredName = (response: Response & { readonly $ref?: string }): string =>
  response.$ref?.split("/").at(-1) ?? "";

/** The codes of the problems that a route can return. */
export const problemCodesOf = ({ responses }: Operation): string[] =>
  Object.values(responses).flatMap(({ content }) =>
    Object.keys(content?.["application/problem+json"]?.examples ?? {}),
  );

/** `Webhook endpoints` becomes `webhook-endpoints`. */
export const slugOf = (title: string): string => title.toLowerCase().replaceAll(" ", "-");
