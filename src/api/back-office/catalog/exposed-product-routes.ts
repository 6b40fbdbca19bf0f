import { Type } from "typebox";
import { keyOf } from "../../../merchants/connection.ts";
import { pagePosition, toPage } from "../../../platform/wire/cursor.ts";
import { isProblem, notFound } from "../../../platform/wire/problems.ts";
import {
  cursorField,
  describedAs,
  limitField,
  pageOf,
  searchField,
  toSearched,
} from "../../../platform/wire/schemas.ts";
import { PartnerProductSchema, ProductStatusSchema, toPartnerProduct } from "../../../products/product.ts";
import { searchExposedProducts } from "../../../products/search-exposed-products.ts";
import { asPartnersSee } from "../../partner-schema.ts";
import { andMonitoring, andPartner, type BackOfficeRoute, everyone, route } from "../access.ts";
import { ConnectionIdParams, findConnection } from "../lookups.ts";

/** What a connection's partner can order. Without prices, which are the merchant's. */
export const exposedProductRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/connections/{id}/products",
    operationId: "listExposedProducts",
    admits: andMonitoring(andPartner(everyone)),
    tag: "Products",
    summary: "List the products that are exposed to a connection",
    description:
      "Oldest first, as the partner reads them. A page may have fewer items than `limit`, or none, before the end of the list: continue until `nextCursor` is null.",
    params: ConnectionIdParams,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      sku: Type.Optional(
        Type.String({ maxLength: 255, format: "text", description: "Only products with this SKU." }),
      ),
      status: Type.Optional(describedAs(ProductStatusSchema, "Only products with this status.")),
      q: searchField("A part of the SKU or of the name. Case is ignored."),
    }),
    responses: {
      200: {
        description: "A page of products.",
        schema: pageOf(asPartnersSee(PartnerProductSchema), "ExposedProductPage"),
      },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const position = pagePosition("exposed-products", query);
      if (isProblem(position)) return position;
      const filter = { sku: query.sku ?? null, status: query.status ?? null, text: toSearched(query.q) };
      const found = await searchExposedProducts(context.db, keyOf(connection), filter, position);
      return { status: 200, body: toPage(found.products, position, toPartnerProduct, found.readTo) };
    },
  }),
];
