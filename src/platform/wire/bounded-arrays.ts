import type { TSchema } from "typebox";

/**
 * Shortens the arrays of a value, and its objects that have keys of the caller. Returns the value, or what takes its
 * place.
 */
export type ArrayCut = (value: unknown) => unknown;

/** The part of a schema that describes its arrays and objects, and how large they may be. */
type Node = {
  readonly type?: string | readonly string[];
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly anyOf?: readonly Node[];
  readonly allOf?: readonly Node[];
};

/**
 * Cuts arrays that are longer than the schema permits to one item more than that, at any depth, and objects in the same
 * way; null if the schema has neither. The validator looks into every item, also into those beyond `maxItems`, and
 * collects the errors of all of them. A cut array is still too long, so it is rejected.
 */
export const arrayCutOf = (schema: TSchema): ArrayCut | null => cutOf(schema as Node); // A JSON Schema object.

function cutOf({
  maxItems,
  maxProperties,
  items,
  properties = {},
  anyOf = [],
  allOf = [],
}: Node): ArrayCut | null {
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
