import { Type } from "typebox";
import { MoneyRequestSchema } from "../platform/wire/money-schema.ts";
import { nullable, shortText } from "../platform/wire/schemas.ts";
import { PRODUCT_STATUSES } from "./product.ts";

const details = {
  description: Type.Optional(nullable(Type.String({ maxLength: 10_000, format: "text" }))),
  imageUrl: Type.Optional(nullable(Type.String({ maxLength: 2_000, format: "web-address" }))),
  weightGrams: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 2_000_000_000 }))),
};

/** A new product, as the merchant describes it. */
export const ProductRequestSchema = Type.Object(
  { sku: shortText(), name: shortText(), price: MoneyRequestSchema, ...details },
  { title: "ProductRequest" },
);

export const ProductChangeSchema = Type.Object(
  {
    sku: Type.Optional(shortText()),
    name: Type.Optional(shortText()),
    price: Type.Optional(MoneyRequestSchema),
    status: Type.Optional(Type.Enum([...PRODUCT_STATUSES])),
    ...details,
  },
  { title: "ProductUpdate" },
);
