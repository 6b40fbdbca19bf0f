import { wholeNumber } from "./values.ts";

/** Where the value of an option goes: a filter of a list, or a member of the body. */
type Place = { readonly query: string } | { readonly body: string };

export type Field = Place & {
  /** As commander reads it: `--name <text>`, or `--restock` for yes. */
  readonly flag: string;
  readonly help: string;
  readonly required?: boolean;
  /** What the text means; absent: the text itself. @throws InvalidValue */
  readonly read?: (text: string) => unknown;
};

/**
 * A command that is one request to the back office. `{id}` in its path is the argument behind the command's words;
 * any other parameter is an option of its own that must be given: `{merchant}` is `--merchant`.
 */
export type RequestCommand = {
  /** Such as `merchant create`. */
  readonly words: string;
  readonly help: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly fields?: readonly Field[];
  /** Of a list: the members that people are shown. Lists also take `--limit`, `--cursor` and `--all`. */
  readonly columns?: readonly string[];
};

/** What the options of a command say, by the camel-case names that commander gives them. */
export type OptionValues = Readonly<Record<string, unknown>>;

/** A value that was read from its text. In a box, because commander takes a bare null for an option without a value. */
export class ReadValue {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}

const PAGE_FIELDS: readonly Field[] = [
  { flag: "--limit <count>", query: "limit", help: "of a page, at most 100", read: wholeNumber },
  { flag: "--cursor <cursor>", query: "cursor", help: "the page after the one that told it" },
];

/** All that a command can be told; a list can be told where its page begins. */
export const fieldsOf = ({ fields = [], columns }: RequestCommand): readonly Field[] =>
  columns === undefined ? fields : [...fields, ...PAGE_FIELDS];

/** The name under which commander keeps an option: `--max-quantity <n>` is `maxQuantity`. */
function optionName(flag: string): string {
  const [long = ""] = flag.replace(/^--/, "").split(" ");
  return long.replace(/-(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

/** Names of the parameters in a command's path, in their order. */
export const pathParameters = ({ path }: RequestCommand): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);

export type OfficeRequest = {
  readonly method: RequestCommand["method"];
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>> | null;
};

/** The request that a command line asks for. */
export function requestOf(
  command: RequestCommand,
  id: string | undefined,
  options: OptionValues,
): OfficeRequest {
  const path = command.path.replace(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(String(name === "id" ? id : options[name])),
  );
  const query: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  for (const field of fieldsOf(command)) {
    const given = options[optionName(field.flag)];
    if (given === undefined) continue;
    const value = given instanceof ReadValue ? given.value : given;
    if ("query" in field) query[field.query] = String(value);
    else put(body, field.body, value);
  }
  const hasBody = command.fields?.some((field) => "body" in field) === true;
  return { method: command.method, path, query, body: hasBody ? body : null };
}

/** `reviewPolicy.maxQuantity` is the member of a member. */
function put(body: Record<string, unknown>, place: string, value: unknown): void {
  const [name = "", ...rest] = place.split(".");
  if (rest.length === 0) {
    body[name] = value;
    return;
  }
  const inner = (body[name] ?? {}) as Record<string, unknown>; // Made here, if at all.
  body[name] = inner;
  put(inner, rest.join("."), value);
}
