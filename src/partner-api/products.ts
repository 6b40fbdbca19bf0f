import { Type } from "typebox";
import { parseUuid } from "../platform/ids.ts";
import { pagePosition } from "../platform/wire/cursor.ts";
import { isProblem, notFound } from "../platform/wire/problems.ts";
import { cursorField, limitField, pageOf } from "../platform/wire/schemas.ts";
import { PartnerProductSchema, toPartnerProduct } from "../products/product.ts";
import { readExposedProduct } from "../products/products-sql.ts";
import { type PartnerRoute, route } from "./partner-route.ts";

/** The products that are exposed to a connection. Specification, part 4. */
export const productRoutes: readonly PartnerRoute[] = [
  route({
    method: "GET",
    path: "/v1/products",
    operationId: "listProducts",
    isList: true,
    tag: "Products",
    summary: "List products",
    description:
      "The products exposed to the connection, oldest first. A product exposed while paging may land on a later page or only on the next pass; `product.published` announces it.",
    ignoresUnknownParameters: true, // The specification defines this route, and a valid request stays valid.
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      sku: Type.Optional(
        Type.String({
          maxLength: 255,
          format: "text",
          description: "Only products with this SKU. There may be several.",
        }),
      ),
    }),
    responses: {
      200: { description: "A page of products.", schema: pageOf(PartnerProductSchema, "ProductPage") },
    },
    problems: ["validation-failed"],
    handle: async ({ caller: { merchantId, connectionId }, query }, { listProducts }) => {
      const position = pagePosition("products", query);
      if (isProblem(position)) return position;
      return {
        status: 200,
        json: await listProducts({ ...position, merchantId, connectionId, sku: query.sku ?? null }),
      };
    },
  }),
  route({
    method: "GET",
    path: "/v1/products/{id}",
    operationId: "getProduct",
    tag: "Products",
    summary: "Get a product",
    description: "A discontinued product is returned too.",
    params: Type.Object({ id: Type.String({ description: "Id of the product." }) }),
    responses: { 200: { description: "The product.", schema: PartnerProductSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const id = parseUuid(params.id);
      const product = id === null ? null : await readExposedProduct(context.db, caller, id);
      return product === null ? notFound("product") : { status: 200, body: toPartnerProduct(product) };
    },
  }),
];
