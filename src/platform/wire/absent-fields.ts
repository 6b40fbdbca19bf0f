import type { TSchema } from "typebox";

/** The part of a schema that says what may be absent. */
type SchemaOfFields = {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly minLength?: number;
  readonly format?: string;
  readonly required?: readonly string[];
  readonly items?: SchemaOfFields;
  readonly properties?: Readonly<Record<string, SchemaOfFields>>;
  readonly additionalProperties?: boolean | SchemaOfFields;
  readonly anyOf?: readonly SchemaOfFields[];
  readonly allOf?: readonly SchemaOfFields[];
};

/**
 * True if nothing of a text can be seen: it is empty, or has only white space and characters that are drawn as nothing, such as
 * U+200B, the filler U+3164, or a cell of Braille without dots.
 */
export const isBlank = (text: string): boolean => !VISIBLE.test(text);

/** The format of ids that callers choose. What they contain is exact. */
export const EXACT_FORMAT = "path-segment";

const VISIBLE = /[^\s\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Formats of texts, none of which may be empty. */
const TEXT_FORMATS: readonly (string | undefined)[] = ["web-address", "barcode", "email"];

/** Changes a value in place. Returns true if it changed. */
type Drop = (value: unknown) => boolean;

/**
 * Removes what says nothing, at any depth and in place: optional fields that are null although their schema does not know
 * null, and optional texts that are empty or blank. A text that may be null becomes null. Returns true if it changed something, so
 * that the value is validated again (docs/design/api-conventions.md, "Nothing"). Null if the schema has no such field.
 *
 * @param isUpdate absent fields keep their values, so a blank text that cannot be removed stays, and is rejected
 */
export function dropNothing(schema: TSchema, isUpdate = false): Drop | null {
  return dropOf([schema as SchemaOfFields], isUpdate); // A JSON Schema object.
}

/** @param nodes the schemas that apply to one value, or may apply to it */
function dropOf(nodes: readonly SchemaOfFields[], isUpdate: boolean): Drop | null {
  const all = nodes.flatMap(withBranches);
  const inItems = all.flatMap(({ items }) => items ?? []);
  const ofItem = inItems.length === 0 ? null : dropOf(inItems, isUpdate);
  const ofMembers = membersDropOf(all, isUpdate);
  if (ofItem === null && ofMembers === null) return null;
  return (value) => {
    if (Array.isArray(value)) return ofItem !== null && value.filter(ofItem).length > 0;
    return (typeof value === "object" && value !== null && ofMembers?.(value)) ?? false;
  };
}

const withBranches = (node: SchemaOfFields): SchemaOfFields[] => [
  node,
  ...[...(node.anyOf ?? []), ...(node.allOf ?? [])].flatMap(withBranches),
];

function membersDropOf(
  nodes: readonly SchemaOfFields[],
  isUpdate: boolean,
): ((object: object) => boolean) | null {
  const uses = Map.groupBy(
    nodes.flatMap(({ properties = {}, required = [] }) =>
      Object.entries(properties).map(([name, node]) => ({
        name,
        node,
        isOptional: !required.includes(name),
      })),
    ),
    ({ name }) => name,
  );
  const isFilter = nodes.some(({ additionalProperties }) => additionalProperties === false);
  const keepsEmpty = isUpdate || isFilter;
  const drops = new Map(
    [...uses].map(([name, ofName]) => {
      const variants = ofName.flatMap(({ node }) => withBranches(node));
      const isOptional = ofName.some((use) => use.isOptional);
      const inside = dropOf(variants, isUpdate);
      return [name, memberDropOf(name, variants, isOptional, keepsEmpty, inside)];
    }),
  );
  const isMap = nodes.some(({ additionalProperties }) => typeof additionalProperties === "object");
  if (drops.size === 0 && !isMap) return null;
  return (object) => {
    let isChanged = false;
    for (const [name, value] of Object.entries(object)) {
      const drop = drops.get(name);
      if (drop !== undefined) isChanged = drop(object as Record<string, unknown>, value) || isChanged;
      else if (isMap && value === null) isChanged = Reflect.deleteProperty(object, name);
    }
    return isChanged;
  };
}

function memberDropOf(
  name: string,
  variants: readonly SchemaOfFields[],
  isOptional: boolean,
  keepsEmpty: boolean,
  inside: Drop | null,
) {
  const knowsNull = variants.some(({ type, const: only }) => only === null || [type].flat().includes("null"));
  const mayBeEmpty = variants.some(isText);
  const isExact = variants.some(({ format }) => format === EXACT_FORMAT);
  return (object: Record<string, unknown>, value: unknown): boolean => {
    const isNothing = mayBeEmpty && typeof value === "string" && (isExact ? value === "" : isBlank(value));
    if (isNothing && knowsNull) object[name] = null;
    else if (value === null && isOptional && !knowsNull) Reflect.deleteProperty(object, name);
    else if (isNothing && isOptional && !keepsEmpty) Reflect.deleteProperty(object, name);
    else return inside?.(value) ?? false;
    return true;
  };
}

/** Not a time, a number in quotes, or a version: these are never meant to be empty. */
const isText = ({ minLength = 0, format }: SchemaOfFields): boolean =>
  minLength > 0 || TEXT_FORMATS.includes(format);
