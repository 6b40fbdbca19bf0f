import { type Static, Type } from "typebox";
import {
  dateTime,
  describedAs,
  enumeration,
  MoneyRequestSchema,
  nullable,
  shortText,
} from "../platform/wire/schemas.ts";

export const PRODUCT_STATUSES = ["active", "discontinued"] as const;
export type ProductStatus = (typeof PRODUCT_STATUSES)[number];

/** A product of a merchant's catalog. */
export type Product = {
  readonly id: string;
  readonly merchantId: string;
  /** Not unique. */
  readonly sku: string;
  readonly name: string;
  readonly description: string | null;
  readonly imageUrl: string | null;
  readonly weightGrams: number | null;
  /** As a scanner reads it. No other product of the merchant has it. */
  readonly barcode: string | null;
  /** The stock of a facility with fewer available units is low. Null: none is. */
  readonly lowStockBelow: number | null;
  /** For one unit, in minor units of `currency`. */
  readonly priceMinor: bigint;
  readonly currency: string;
  readonly status: ProductStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/**
 * What partners see of a product: not its price, which is the merchant's (specification, part 1;
 * docs/design/api-conventions.md, "Products that partners see").
 */
export type ExposedProduct = Omit<
  Product,
  "merchantId" | "barcode" | "lowStockBelow" | "priceMinor" | "currency"
>;

/** The fields of a product that the merchant can change. */
export type ProductDetails = Pick<
  Product,
  "sku" | "name" | "description" | "imageUrl" | "weightGrams" | "barcode" | "lowStockBelow" | "priceMinor"
>;

export const ProductStatusSchema = enumeration(
  "ProductStatus",
  PRODUCT_STATUSES,
  "`active`: can be ordered. `discontinued`: cannot be ordered any more, but can still be read. The merchant sets it.",
);

/** The descriptions of fields that a product and its request share. */
export const PRODUCT_TEXTS = {
  sku: "The merchant's article number. Not unique: two products may have the same SKU.",
  name: "Name of the product.",
  description: "Description of the product. Null if there is none.",
  imageUrl: "Address of a picture of the product. Null if there is none.",
  weightGrams: "Weight of one unit in grams. Null if it is not known.",
  barcode:
    "What is printed on a unit of the product, as a scanner reads it. Unique among the merchant's products. Null if there is none.",
  lowStockBelow:
    "The stock of a facility is low when fewer units of the product are available there: `stock.low` is published to the endpoints of the merchant and of the facility. Null: it is never low.",
} as const;

export const PartnerProductSchema = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Id of the product, set by the service." }),
    sku: Type.String({ description: PRODUCT_TEXTS.sku }),
    status: ProductStatusSchema,
    name: Type.String({ description: PRODUCT_TEXTS.name }),
    description: nullable(Type.String(), PRODUCT_TEXTS.description),
    imageUrl: nullable(Type.String(), PRODUCT_TEXTS.imageUrl),
    weightGrams: nullable(Type.Integer(), PRODUCT_TEXTS.weightGrams),
    createdAt: dateTime("When the product was created."),
    updatedAt: dateTime("When the merchant last changed the product."),
  },
  { title: "Product", description: "A product of a merchant. The merchant changes it." },
);
type PartnerProduct = Static<typeof PartnerProductSchema>;

export const toPartnerProduct = (product: ExposedProduct): PartnerProduct => ({
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

/** A change of a product for the audit log: texts for buyers only by name, because they are long. */
export const auditedDetails = (change: Partial<ProductDetails & Pick<Product, "status">>) => {
  const { sku, name, weightGrams, barcode, lowStockBelow, priceMinor, status } = change;
  return { sku, name, weightGrams, barcode, lowStockBelow, priceMinor, status, fields: Object.keys(change) };
};

const skuField = shortText(PRODUCT_TEXTS.sku);
const nameField = shortText(PRODUCT_TEXTS.name);
const priceField = describedAs(MoneyRequestSchema, "Price of one unit, in the merchant's currency.");

/** Visible characters without spaces around them, as scanners send them. */
const barcodeField = Type.String({
  maxLength: 100,
  format: "barcode",
  description: PRODUCT_TEXTS.barcode,
  examples: ["4006381333931"],
});

const optionalFields = {
  barcode: Type.Optional(nullable(barcodeField, PRODUCT_TEXTS.barcode)),
  lowStockBelow: Type.Optional(
    nullable(Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), PRODUCT_TEXTS.lowStockBelow),
  ),
  // An empty text is stored as null: an empty cell of an export could not say which of them it is
  // (docs/design/fulfilment.md, "Imports of a catalog").
  description: Type.Optional(
    nullable(Type.String({ minLength: 1, maxLength: 10_000, format: "text" }), PRODUCT_TEXTS.description),
  ),
  imageUrl: Type.Optional(
    nullable(Type.String({ maxLength: 2_000, format: "web-address" }), PRODUCT_TEXTS.imageUrl),
  ),
  weightGrams: Type.Optional(
    nullable(
      Type.Integer({ minimum: 0, maximum: 2_000_000_000 }),
      `${PRODUCT_TEXTS.weightGrams} It then counts as 0 in shipping rates.`,
    ),
  ),
};

/** The merchant's description of a new product. */
export const ProductRequestSchema = Type.Object(
  { sku: skuField, name: nameField, price: priceField, ...optionalFields },
  { title: "ProductRequest", description: "A new product." },
);

export const ProductChangeSchema = Type.Object(
  {
    sku: Type.Optional(skuField),
    name: Type.Optional(nameField),
    price: Type.Optional(priceField),
    status: Type.Optional(ProductStatusSchema),
    ...optionalFields,
  },
  { title: "ProductUpdate", description: "Changes of a product. Absent fields keep their values." },
);
