import { anchorOf } from "../../../docs/.vitepress/anchors.ts";
import type { Description, Schema } from "./description.ts";

/** Where the named schemas are described, relative to the pages that name them. */
export const OBJECTS_PAGE = "./objects.md";

/** The fields of an object as a table. The fields of an object without a name are in the same table, by their path. */
export function fieldsTable(schema: Schema, description: Description): string {
  const rows = rowsOf(schema, "", description);
  if (rows.length === 0) return "";
  return `| Field | Type | Meaning |\n|---|---|---|\n${rows.join("\n")}\n`;
}

function rowsOf(
  { properties = {}, required = [] }: Schema,
  prefix: string,
  description: Description,
): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const optional = required.includes(name) ? "" : " *(optional)*";
    const row = `| \`${prefix}${name}\`${optional} | ${typeOf(schema)} | ${meaningOf(schema, description)} |`;
    const inner = schema.properties === undefined ? (schema.items ?? {}) : schema;
    const path = schema.properties === undefined ? `${prefix}${name}[].` : `${prefix}${name}.`;
    return [row, ...rowsOf(inner, path, description)];
  });
}

/** A type in words: `text`, `integer`, `text or null`, `list of Order`. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return linkTo(schema.$ref);
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(", ");
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches !== undefined) return [...new Set(branches.map(typeOf))].join(" or ");
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  return [schema.type ?? "object"]
    .flat()
    .map((type) => nameOf(type, schema.format))
    .join(" or ");
}

function nameOf(type: string, format: string | undefined): string {
  if (type !== "string") return type;
  switch (format) {
    case "date-time":
      return "time (ISO 8601)";
    case "uuid":
      return "UUID";
    default:
      return "text";
  }
}

function linkTo(ref: string): string {
  const name = ref.slice(ref.lastIndexOf("/") + 1);
  if (name === "Problem") return "[Problem](../errors/index.md)";
  if (/Event$/.test(name)) return `[${name}](../partners/events.md)`;
  return `[${name}](${OBJECTS_PAGE}#${anchorOf(name)})`;
}

/** A field whose schema has a name says what the first sentence about that says. */
function meaningOf(schema: Schema, description: Description): string {
  const [sentence] = resolve(schema, description).description?.split(/(?<=\.) /) ?? [];
  const text = schema.$ref === undefined ? schema.description : (schema.description ?? sentence);
  return [text, limitsOf(schema)].filter(Boolean).join(" ").replaceAll("|", "\\|").replaceAll("\n", " ");
}

/** The schema that a reference names. */
export function resolve(schema: Schema, { components }: Description): Schema {
  const name = schema.$ref?.slice(schema.$ref.lastIndexOf("/") + 1);
  return name === undefined ? schema : (components.schemas[name] ?? schema);
}

/** The limits that a schema enforces, in words. */
export function limitsOf(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const parts = [
    range(minimum, maximum, ""),
    range(minLength, maxLength, " characters"),
    range(minItems, maxItems, " items"),
    schema.default === undefined ? "" : `Default: \`${JSON.stringify(schema.default)}\`.`,
  ];
  return parts.filter(Boolean).join(" ");
}

function range(from: number | undefined, to: number | undefined, unit: string): string {
  if (to !== undefined) return from === undefined ? `At most ${to}${unit}.` : `${from} to ${to}${unit}.`;
  return from === undefined || (unit !== "" && from === 0) ? "" : `At least ${from}${unit}.`;
}
