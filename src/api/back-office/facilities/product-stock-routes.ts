import { Type } from "typebox";
import { pagePosition, toPage } from "../../../platform/wire/cursor.ts";
import { isProblem, notFound } from "../../../platform/wire/problems.ts";
import { cursorField, limitField, pageOf } from "../../../platform/wire/schemas.ts";
import { listStockOfProduct } from "../../../stock/stock-of-product-sql.ts";
import { andMonitoring, type BackOfficeRoute, facilitiesOf, route, warehouse } from "../access.ts";
import { findProduct, ProductIdParams } from "../lookups.ts";
import { StockAtFacilitySchema, toWireStockAt } from "./stock-wire.ts";

export const productStockRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/products/{id}/stock",
    operationId: "listStockOfProduct",
    admits: andMonitoring(warehouse),
    tag: "Facilities",
    summary: "List the stock of a product at all facilities",
    description:
      "The facilities that have a stock record of the product, the oldest facility first. A product without any is made to order, and is always available.",
    params: ProductIdParams,
    query: Type.Object({ limit: limitField, cursor: cursorField }),
    responses: {
      200: {
        description: "A page, the oldest facility first.",
        schema: pageOf(StockAtFacilitySchema, "StockAtFacilityPage"),
      },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const position = pagePosition("stock-of-product", query);
      if (isProblem(position)) return position;
      const product = await findProduct(context, caller, params.id);
      if (product === null) return notFound("product");
      const stock = await listStockOfProduct(context.db, product, facilitiesOf(caller), position);
      return { status: 200, body: toPage(stock, position, (record) => toWireStockAt(record, product)) };
    },
  }),
];
