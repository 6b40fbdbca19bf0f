import { type Static, Type } from "typebox";
import { toTypeId } from "../../../platform/ids.ts";
import { pagePosition, toPage } from "../../../platform/wire/cursor.ts";
import { isProblem, notFound } from "../../../platform/wire/problems.ts";
import {
  cursorField,
  flagField,
  idField,
  limitField,
  nullableTime,
  pageOf,
  searchField,
  toSearched,
} from "../../../platform/wire/schemas.ts";
import {
  listProductExposures,
  type ProductExposure,
} from "../../../products/exposure/product-exposure-sql.ts";
import { andMonitoring, type BackOfficeRoute, everyone, route } from "../access.ts";
import { findProduct, ProductIdParams } from "../lookups.ts";

const ProductExposureSchema = Type.Object(
  {
    connectionId: idField("con", "Id of the connection."),
    connectionName: Type.String({ description: "Name of the connection." }),
    exposedAt: nullableTime("When the product was exposed to the connection. Null if it is not."),
  },
  {
    title: "ProductExposure",
    description: "Whether a connection's partner can see and order a product. The merchant changes it.",
  },
);

const toWireExposure = ({ id, name, exposedAt }: ProductExposure): Static<typeof ProductExposureSchema> => ({
  connectionId: toTypeId("con", id),
  connectionName: name,
  exposedAt: exposedAt?.toISOString() ?? null,
});

export const productExposureRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/products/{id}/connections",
    operationId: "listConnectionsOfProduct",
    admits: andMonitoring(everyone),
    tag: "Products",
    summary: "List the connections of a product's merchant",
    description:
      "All connections of the merchant, each with whether the product is exposed to it. A page may have fewer items than `limit`, or none, before the end of the list: continue until `nextCursor` is null.",
    params: ProductIdParams,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      exposed: flagField("True: only connections to which the product is exposed. False: only the others."),
      q: searchField("A part of the connection's name. Case is ignored."),
    }),
    responses: {
      200: {
        description: "A page, the oldest connection first.",
        schema: pageOf(ProductExposureSchema, "ProductExposurePage"),
      },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const position = pagePosition("connections-of-product", query);
      if (isProblem(position)) return position;
      const product = await findProduct(context, caller, params.id);
      if (product === null) return notFound("product");
      const filter = { isExposed: query.exposed ?? null, name: toSearched(query.q) };
      const { exposures, readTo } = await listProductExposures(context.db, product, filter, position);
      return { status: 200, body: toPage(exposures, position, toWireExposure, readTo) };
    },
  }),
];
