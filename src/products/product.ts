import { type Static, Type } from "typebox";
import { dateTime, nullable } from "../platform/wire/schemas.ts";

export const PRODUCT_STATUSES = ["active", "discontinued"] as const;
export type ProductStatus = (typeof PRODUCT_STATUSES)[number];

/** A product of a merchant's catalogue. */
export type Product = {
  readonly id: string;
  readonly merchantId: string;
  /** Not unique: two products may share a SKU. */
  readonly sku: string;
  readonly name: string;
  readonly description: string | null;
  readonly imageUrl: string | null;
  readonly weightGrams: number | null;
  /** Per piece, in minor units of `currency`. */
  readonly priceMinor: bigint;
  readonly currency: string;
  readonly status: ProductStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** What the merchant says of a product, and changes at will. */
export type ProductDetails = Pick<
  Product,
  "sku" | "name" | "description" | "imageUrl" | "weightGrams" | "priceMinor"
>;

/** What partners see of a product: never its price, which is the merchant's (specification, part 1; decision 0018). */
export const PartnerProductSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    sku: Type.String({ description: "Not unique: two products may share a SKU." }),
    status: Type.Enum([...PRODUCT_STATUSES], { description: "A discontinued product cannot be ordered." }),
    name: Type.String(),
    description: nullable(Type.String()),
    imageUrl: nullable(Type.String()),
    weightGrams: nullable(Type.Integer()),
    createdAt: dateTime(),
    updatedAt: dateTime(),
  },
  { title: "Product" },
);
type PartnerProduct = Static<typeof PartnerProductSchema>;

export const toPartnerProduct = (product: Product): PartnerProduct => ({
  id: product.id,
  sku: product.sku,
  status: product.status,
  name: product.name,
  description: product.description,
  imageUrl: product.imageUrl,
  weightGrams: product.weightGrams,
  createdAt: product.createdAt.toISOString(),
  updatedAt: product.updatedAt.toISOString(),
});
