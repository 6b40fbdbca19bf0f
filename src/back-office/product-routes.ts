import { type Static, Type } from "typebox";
import { pagePosition, toPage } from "../http/cursor.ts";
import { type Fault, isProblem, notFound } from "../http/problems.ts";
import { type Route, routeTable } from "../http/route.ts";
import { cursorField, limitField, nullable, pageOf, shortText } from "../http/schemas.ts";
import { parseUuid, toTypeId } from "../ids.ts";
import { formatMoney, MoneyRequestSchema, MoneySchema } from "../money.ts";
import { changeProduct } from "../products/change-product.ts";
import { createProduct } from "../products/create-product.ts";
import {
  PartnerProductSchema,
  PRODUCT_STATUSES,
  type Product,
  toPartnerProduct,
} from "../products/product.ts";
import { listProducts, readProduct, withdrawProduct } from "../products/products-sql.ts";
import { publishProduct } from "../products/publish-product.ts";
import type { Service } from "../service.ts";
import { amountFaults, minorOf } from "./amounts.ts";
import type { BackOfficeCaller } from "./authentication.ts";
import { findConnection } from "./connection-routes.ts";
import { findMerchant, MerchantIdParams } from "./merchant-routes.ts";

const CatalogueProductSchema = Type.Object(
  { ...PartnerProductSchema.properties, merchantId: Type.String(), price: MoneySchema },
  { title: "CatalogueProduct" },
);

const details = {
  description: Type.Optional(nullable(Type.String({ maxLength: 10_000, format: "text" }))),
  imageUrl: Type.Optional(nullable(Type.String({ maxLength: 2_000, format: "web-address" }))),
  weightGrams: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 2_000_000_000 }))),
};

const ProductRequestSchema = Type.Object(
  { sku: shortText(), name: shortText(), price: MoneyRequestSchema, ...details },
  { title: "ProductRequest" },
);

const ProductChangeSchema = Type.Object(
  {
    sku: Type.Optional(shortText()),
    name: Type.Optional(shortText()),
    price: Type.Optional(MoneyRequestSchema),
    status: Type.Optional(Type.Enum([...PRODUCT_STATUSES])),
    ...details,
  },
  { title: "ProductChange" },
);

const ExposureParams = Type.Object({
  id: Type.String({ description: "The connection's id." }),
  productId: Type.String({ description: "The product's UUID." }),
});

const toWireProduct = (product: Product): Static<typeof CatalogueProductSchema> => ({
  ...toPartnerProduct(product),
  merchantId: toTypeId("mer", product.merchantId),
  price: formatMoney({ minor: product.priceMinor, currency: product.currency }),
});

const ProductIdParams = Type.Object({ id: Type.String({ description: "The product's UUID." }) });

/** The product that a path names, or null. */
async function findProduct({ db }: Service, text: string): Promise<Product | null> {
  const id = parseUuid(text);
  return id === null ? null : readProduct(db, id);
}

/** A price in another currency than the merchant's is refused, here and by the database. */
const priceFaults = (body: unknown, holder: { readonly currency: string } | null): Fault[] =>
  holder === null ? [] : amountFaults(body, "/price", holder.currency);

const route = routeTable<BackOfficeCaller>();

export function productRoutes(service: Service): Route<BackOfficeCaller>[] {
  return [
    route({
      method: "POST",
      path: "/api/merchants/{id}/products",
      operationId: "createProduct",
      tag: "Catalogue",
      summary: "Create a product",
      params: MerchantIdParams,
      body: ProductRequestSchema,
      answers: { 201: { description: "The product was created.", schema: CatalogueProductSchema } },
      problems: ["not-found", "validation-failed"],
      bodyFaults: async ({ params, body }) => priceFaults(body, await findMerchant(service, params.id)),
      handle: async ({ params, body }) => {
        const merchant = await findMerchant(service, params.id);
        if (merchant === null) return notFound("merchant");
        const { sku, name, price, description = null, imageUrl = null, weightGrams = null } = body;
        const details = { sku, name, description, imageUrl, weightGrams, priceMinor: minorOf(price) };
        const product = await createProduct(service, merchant, details);
        return { status: 201, body: toWireProduct(product) };
      },
    }),
    route({
      method: "GET",
      path: "/api/merchants/{id}/products",
      operationId: "listCatalogue",
      tag: "Catalogue",
      summary: "List a merchant's products",
      params: MerchantIdParams,
      query: Type.Object({ limit: limitField, cursor: cursorField }),
      answers: {
        200: {
          description: "A page, oldest first.",
          schema: pageOf(CatalogueProductSchema, "CataloguePage"),
        },
      },
      problems: ["not-found", "validation-failed"],
      handle: async ({ params, query }) => {
        const position = pagePosition("catalogue", query);
        if (isProblem(position)) return position;
        const merchant = await findMerchant(service, params.id);
        if (merchant === null) return notFound("merchant");
        const products = await listProducts(service.db, merchant.id, position);
        return { status: 200, body: toPage(products, position, toWireProduct) };
      },
    }),
    route({
      method: "PATCH",
      path: "/api/products/{id}",
      operationId: "changeProduct",
      tag: "Catalogue",
      summary: "Change a product",
      description: "Orders that exist already keep the price they were placed at.",
      params: ProductIdParams,
      body: ProductChangeSchema,
      answers: { 200: { description: "The product as changed.", schema: CatalogueProductSchema } },
      problems: ["not-found", "validation-failed"],
      bodyFaults: async ({ params, body }) => priceFaults(body, await findProduct(service, params.id)),
      handle: async ({ params, body: { price, ...fields } }) => {
        const id = parseUuid(params.id);
        const change = { ...fields, ...(price && { priceMinor: minorOf(price) }) };
        const changed = id === null ? null : await changeProduct(service, id, change);
        return changed === null ? notFound("product") : { status: 200, body: toWireProduct(changed) };
      },
    }),
    route({
      method: "PUT",
      path: "/api/connections/{id}/products/{productId}",
      operationId: "exposeProduct",
      tag: "Catalogue",
      summary: "Expose a product to a connection",
      description:
        "Publishes `product.published`, once. A product of another merchant answers as a missing one.",
      params: ExposureParams,
      answers: { 200: { description: "The product is exposed.", schema: CatalogueProductSchema } },
      problems: ["not-found"],
      handle: async ({ params }) => {
        const connection = await findConnection(service, params.id);
        if (connection === null) return notFound("connection");
        const id = parseUuid(params.productId);
        const product = id === null ? null : await publishProduct(service, connection, id);
        return product === null ? notFound("product") : { status: 200, body: toWireProduct(product) };
      },
    }),
    route({
      method: "DELETE",
      path: "/api/connections/{id}/products/{productId}",
      operationId: "withdrawProduct",
      tag: "Catalogue",
      summary: "Withdraw a product from a connection",
      description: "Orders that exist already are not touched. Withdrawing it again answers the same.",
      params: ExposureParams,
      answers: { 204: { description: "The product is not exposed." } },
      problems: ["not-found"],
      handle: async ({ params }) => {
        const connection = await findConnection(service, params.id);
        if (connection === null) return notFound("connection");
        const productId = parseUuid(params.productId);
        if (productId !== null)
          await withdrawProduct(service.db, connection.id, productId, service.clock.now());
        return { status: 204 };
      },
    }),
  ];
}
