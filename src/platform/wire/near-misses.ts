import type { ErrorObject } from "ajv";
import type { TSchema } from "typebox";

/** The part of a schema that says which fields its objects have. */
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

type Find = (value: unknown, path: string, found: ErrorObject[]) => void;

/**
 * Finds the fields of a value that differ from a field of the schema only by case, hyphens or underscores, at any depth
 * (decision 0075); null if the schema has no fields. Other unknown fields are ignored.
 */
export function nearMissesIn(schema: TSchema): ((value: unknown) => readonly ErrorObject[]) | null {
  const find = finderOf([schema as Node]); // A JSON Schema object.
  if (find === null) return null;
  return (value) => {
    const found: ErrorObject[] = [];
    find(value, "", found);
    return found;
  };
}

/** A name without what a near miss may differ by. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[-_]/g, "");

/** @param nodes the schemas that apply to one value, or may apply to it */
function finderOf(nodes: readonly Node[]): Find | null {
  const all = nodes.flatMap(withBranches);
  const inItems = all.flatMap(({ items }) => items ?? []);
  const ofItem = inItems.length === 0 ? null : finderOf(inItems);
  const ofFields = fieldsFinderOf(all);
  if (ofItem === null && ofFields === null) return null;
  return (value, path, found) => {
    if (Array.isArray(value)) {
      for (let at = 0; ofItem !== null && at < value.length; at += 1)
        ofItem(value[at], `${path}/${at}`, found);
    } else if (typeof value === "object" && value !== null) ofFields?.(value, path, found);
  };
}

const withBranches = (node: Node): Node[] => [
  node,
  ...[...(node.anyOf ?? []), ...(node.allOf ?? [])].flatMap(withBranches),
];

function fieldsFinderOf(nodes: readonly Node[]): Find | null {
  // The names of a map's members are data, not fields.
  if (nodes.some(({ patternProperties, additionalProperties }) => patternProperties ?? additionalProperties))
    return null;
  const names = Map.groupBy(
    nodes.flatMap(({ properties = {} }) => Object.entries(properties)),
    ([name]) => name,
  );
  if (names.size === 0) return null;
  const finders = new Map([...names].map(([name, uses]) => [name, finderOf(uses.map(([, node]) => node))]));
  const byPlainName = new Map([...names.keys()].map((name) => [plainName(name), name]));
  return (value, path, found) => {
    for (const [name, member] of Object.entries(value as object)) {
      // Only called with objects.
      const inMember = finders.get(name);
      if (inMember === undefined) addIfNear(name, path, found);
      else inMember?.(member, `${path}/${name}`, found);
    }
  };

  function addIfNear(name: string, path: string, found: ErrorObject[]): void {
    const field = found.length < NEAR_MISSES_MAX ? byPlainName.get(plainName(name)) : undefined;
    if (field === undefined) return;
    found.push({ keyword: "nearMiss", instancePath: `${path}/${name}`, schemaPath: "", params: { field } });
  }
}
