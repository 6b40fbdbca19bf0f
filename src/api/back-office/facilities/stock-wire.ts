import { type Static, Type } from "typebox";
import { toTypeId } from "../../../platform/ids.ts";
import { dateTime, idField, nullable, nullableTime } from "../../../platform/wire/schemas.ts";
import type { Product } from "../../../products/product.ts";
import type { StockOfProduct, StockRecord } from "../../../stock/stock.ts";
import type { StockAtFacility } from "../../../stock/stock-of-product-sql.ts";
import { FacilityIdParams } from "../lookups.ts";

export const StockSchema = Type.Object(
  {
    facilityId: idField("fac", "Id of the facility."),
    merchantId: idField("mer", "Id of the merchant whose product it is."),
    productId: Type.String({ format: "uuid", description: "Id of the product." }),
    sku: Type.String({ description: "Present SKU of the product." }),
    name: Type.String({ description: "Present name of the product." }),
    barcode: nullable(
      Type.String(),
      "Present barcode of the product, as a scanner reads it. Null if it has none.",
    ),
    onHand: Type.Integer({
      description: "Units on hand. The warehouse sets it; shipments and returns change it.",
    }),
    reserved: Type.Integer({
      description: "Units of `onHand` that are reserved for orders not shipped yet.",
    }),
    available: Type.Integer({ description: "Units available to new orders: `onHand` minus `reserved`." }),
    updatedAt: dateTime("When one of the numbers last changed."),
  },
  { title: "Stock", description: "The stock of a product at a facility." },
);

export const StockAtFacilitySchema = Type.Object(
  {
    ...StockSchema.properties,
    facilityName: Type.String({ description: "Name of the facility." }),
    facilityClosedAt: nullableTime("Since when no order is routed to the facility. Null while it is open."),
  },
  { title: "StockAtFacility", description: "The stock of a product at one of the facilities that have it." },
);

export const StockParams = Type.Object({
  ...FacilityIdParams.properties,
  productId: Type.String({ description: "Id of the product." }),
});

export const toWireStock = (stock: StockOfProduct): Static<typeof StockSchema> => ({
  facilityId: toTypeId("fac", stock.facilityId),
  merchantId: toTypeId("mer", stock.merchantId),
  productId: stock.productId,
  sku: stock.sku,
  name: stock.name,
  barcode: stock.barcode,
  onHand: stock.onHand,
  reserved: stock.reserved,
  available: stock.onHand - stock.reserved,
  updatedAt: stock.updatedAt.toISOString(),
});

export const withNames = (stock: StockRecord, { sku, name, barcode }: Product): StockOfProduct => ({
  ...stock,
  sku,
  name,
  barcode,
});

export const toWireStockAt = (
  stock: StockAtFacility,
  product: Product,
): Static<typeof StockAtFacilitySchema> => ({
  ...toWireStock(withNames(stock, product)),
  facilityName: stock.facilityName,
  facilityClosedAt: stock.facilityClosedAt?.toISOString() ?? null,
});
