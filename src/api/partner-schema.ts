import { type Static, type TSchema, Type } from "typebox";

/** Objects that partners and the back office see differently, and that have the same title in both descriptions. */
const TWOFOLD: ReadonlySet<string> = new Set(["Order", "OrderLine", "Shipment", "Product"]);

/** A schema of the partner API in a response of the back office: `Order` is called `PartnerOrder` there. */
export const asPartnersSee = <S extends TSchema>(schema: S) => Type.Unsafe<Static<S>>(renamed(schema) as S); // Only titles differ.

function renamed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(renamed);
  if (typeof part !== "object" || part === null) return part;
  const copy = {};
  // Symbols hold what a description says of one use of a schema, and properties that are not enumerated belong to
  // TypeBox: each is copied as what it is.
  for (const key of Reflect.ownKeys(part)) {
    const { value, ...flags } = Reflect.getOwnPropertyDescriptor(part, key) ?? {};
    const isTitle = key === "title" && typeof value === "string" && TWOFOLD.has(value);
    Reflect.defineProperty(copy, key, { ...flags, value: isTitle ? `Partner${value}` : renamed(value) });
  }
  return copy;
}
