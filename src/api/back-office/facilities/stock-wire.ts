import { type Static, Type } from "typebox";
import { toTypeId } from "../../../platform/ids.ts";
import { dateTime, idField } from "../../../platform/wire/schemas.ts";
import type { StockRecord } from "../../../stock/stock.ts";
import { FacilityIdParams } from "../lookups.ts";

export const StockSchema = Type.Object(
  {
    facilityId: idField("fac", "Id of the facility."),
    productId: Type.String({ format: "uuid", description: "Id of the product." }),
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

export const StockParams = Type.Object({
  ...FacilityIdParams.properties,
  productId: Type.String({ description: "Id of the product." }),
});

export const toWireStock = (stock: StockRecord): Static<typeof StockSchema> => ({
  facilityId: toTypeId("fac", stock.facilityId),
  productId: stock.productId,
  onHand: stock.onHand,
  reserved: stock.reserved,
  available: stock.onHand - stock.reserved,
  updatedAt: stock.updatedAt.toISOString(),
});
