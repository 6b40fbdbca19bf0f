import type { ErrorObject } from "ajv";
import type { TSchema } from "typebox";

/** The part of a schema that defines which fields its objects have. */
type Node = {
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly patternProperties?: unknown;
  readonly additionalProperties?: unknown;
  readonly anyOf?: readonly Node[];
  readonly allOf?: readonly Node[];
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
 * Removes the fields of a value that the schema does not know, at any depth, and returns those that differ from a known
 * one only by case, hyphens or underscores (decisions 0075 and 0113). Null if the schema has no fields. So a handler may
 * copy a body: what a caller adds to it reaches nothing.
 */
export function keepKnownFields(schema: TSchema): ((value: unknown) => Kept) | null {
  const keep = keeperOf([schema as Node]); // A JSON Schema object.
  if (keep === null) return null;
  return (value) => {
    const nearMisses: ErrorObject[] = [];
    return { value: keep(value, "", nearMisses), nearMisses };
  };
}

/** A name without what a near miss may differ by. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[-_]/g, "");

/** @param nodes the schemas that apply to one value, or may apply to it */
function keeperOf(nodes: readonly Node[]): Keep | null {
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

const withBranches = (node: Node): Node[] => [
  node,
  ...[...(node.anyOf ?? []), ...(node.allOf ?? [])].flatMap(withBranches),
];

function fieldsKeeperOf(nodes: readonly Node[]): Keep | null {
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
