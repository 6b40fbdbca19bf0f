import { Type } from "typebox";
import { MoneyRequestSchema } from "../platform/wire/money-schema.ts";
import { describedAs, nullable, shortText } from "../platform/wire/schemas.ts";
import { PRODUCT_TEXTS, ProductStatusSchema } from "./product.ts";

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
  // An empty text is stored as null: an empty cell of an export could not say which of them it is (decision 0104).
  description: Type.Optional(
    nullable(
      Type.String({ maxLength: 10_000, format: "text" }),
      `${PRODUCT_TEXTS.description} An empty text is none.`,
    ),
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
