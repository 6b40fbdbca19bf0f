import { type Static, Type } from "typebox";
import { asPartnersSee, idErrors, idIn, type RouteResponse } from "../http/route.ts";
import { keyOf } from "../merchants/connection.ts";
import type { Queryable } from "../platform/database/database.ts";
import { parseUuid, toTypeId } from "../platform/ids.ts";
import { formatMoney } from "../platform/money.ts";
import { timeIn } from "../platform/time.ts";
import {
  badCursor,
  type ChangedPlace,
  decodeChanged,
  encodeChanged,
  pagePosition,
  toPage,
  UUID_MIN,
} from "../platform/wire/cursor.ts";
import {
  isProblem,
  isStorableText,
  notFound,
  type Problem,
  type ValidationError,
  validationFailed,
} from "../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  flagField,
  idField,
  limitField,
  MoneySchema,
  nullable,
  nullableTime,
  PAGE_SIZE_DEFAULT,
  pageOf,
  searchField,
  toSearched,
} from "../platform/wire/schemas.ts";
import { type BarcodeTaken, changeProduct, createProduct } from "../products/change-product.ts";
import { publishProduct, withdrawProduct } from "../products/exposure.ts";
import { listProductExposures, type ProductExposure } from "../products/exposure-sql.ts";
import { searchExposedProducts } from "../products/find-products.ts";
import {
  PartnerProductSchema,
  PRODUCT_TEXTS,
  type Product,
  ProductChangeSchema,
  ProductRequestSchema,
  ProductStatusSchema,
  toPartnerProduct,
} from "../products/product.ts";
import { listChangedProducts, listProducts, type ProductFilter } from "../products/products-sql.ts";
import { andMonitoring, andPartner, type BackOfficeRoute, everyone, merchantSide, route } from "./access.ts";
import {
  ConnectionIdParams,
  findConnection,
  findMerchant,
  findProduct,
  MerchantIdParams,
  ProductIdParams,
} from "./lookups.ts";
import { amountErrors, minorOf } from "./money/amounts.ts";

const BackOfficeProductSchema = Type.Object(
  {
    ...PartnerProductSchema.properties,
    merchantId: idField("mer", "Id of the merchant."),
    price: describedAs(MoneySchema, "Price of one unit, in the merchant's currency."),
    barcode: nullable(Type.String(), PRODUCT_TEXTS.barcode),
    lowStockBelow: nullable(Type.Integer(), PRODUCT_TEXTS.lowStockBelow),
  },
  { title: "Product", description: "A product of a merchant. The merchant changes it." },
);

const ExposureParams = Type.Object({
  id: Type.String({ description: "Id of the connection." }),
  productId: Type.String({ description: "Id of the product." }),
});

const toWireProduct = (product: Product): Static<typeof BackOfficeProductSchema> => ({
  ...toPartnerProduct(product),
  merchantId: toTypeId("mer", product.merchantId),
  price: formatMoney({ minor: product.priceMinor, currency: product.currency }),
  barcode: product.barcode,
  lowStockBelow: product.lowStockBelow,
});

const barcodeTaken = ({ takenBy }: BarcodeTaken): Problem =>
  validationFailed([
    {
      pointer: "/barcode",
      rule: "barcode_taken",
      ...(takenBy !== null && { productId: takenBy.id, sku: takenBy.sku }),
    },
  ]);

const CHANGED_LIST = "updated catalog";
const CHANGED_START: ChangedPlace = { changedAt: new Date(0), id: UUID_MIN };

/** Where a page that is sorted by change begins. Null: the cursor is not one of this list. */
const changedAfter = (cursor: string | undefined, since: Date | null): ChangedPlace | null =>
  cursor === undefined
    ? { ...CHANGED_START, ...(since !== null && { changedAt: since }) }
    : decodeChanged(CHANGED_LIST, cursor);

async function changedProducts(
  db: Queryable,
  merchantId: string,
  filter: ProductFilter,
  after: ChangedPlace,
  limit: number,
): Promise<RouteResponse> {
  const { products, readTo } = await listChangedProducts(db, merchantId, filter, after, limit);
  const data = products.slice(0, limit);
  const end = data.at(-1);
  const last = products.length > limit && end ? { changedAt: end.updatedAt, id: end.id } : readTo;
  const nextCursor = last === null ? null : encodeChanged(CHANGED_LIST, last);
  return { status: 200, body: { data: data.map(toWireProduct), nextCursor } };
}

/** A price in another currency than the merchant's is rejected, here and by the database. */
const priceErrors = (body: unknown, owner: { readonly currency: string } | null): ValidationError[] =>
  owner === null ? [] : amountErrors(body, "/price", owner.currency);

export const productRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/merchants/{id}/products",
    operationId: "createProduct",
    admits: merchantSide,
    tag: "Products",
    summary: "Create a product",
    params: MerchantIdParams,
    body: ProductRequestSchema,
    responses: { 201: { description: "The product was created.", schema: BackOfficeProductSchema } },
    problems: ["not-found", "limit-reached", "validation-failed"],
    bodyErrors: async ({ caller, params, body }, { context }) =>
      priceErrors(body, await findMerchant(context, caller, params.id)),
    handle: async ({ caller, params, body, by }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      const { sku, name, price } = body;
      const { imageUrl = null, weightGrams = null, barcode = null, lowStockBelow = null } = body;
      const description = body.description ?? null;
      const details = {
        sku,
        name,
        description,
        imageUrl,
        weightGrams,
        barcode,
        lowStockBelow,
        priceMinor: minorOf(price),
      };
      const product = await createProduct(context, merchant, details, by);
      return "takenBy" in product ? barcodeTaken(product) : { status: 201, body: toWireProduct(product) };
    },
  }),
  route({
    method: "GET",
    path: "/api/merchants/{id}/products",
    operationId: "listProducts",
    admits: andMonitoring(everyone),
    tag: "Products",
    summary: "List a merchant's products",
    description:
      "With a filter, a page may have fewer items than `limit`, or none, before the end of the list: continue until `nextCursor` is null.",
    params: MerchantIdParams,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      sku: Type.Optional(
        Type.String({ maxLength: 255, description: "Only products with this SKU. There may be several." }),
      ),
      status: Type.Optional(describedAs(ProductStatusSchema, "Only products with this status.")),
      connectionId: Type.Optional(
        Type.String({
          description: "Only products that are exposed to this connection, or with `exposed=false` are not.",
        }),
      ),
      exposed: flagField(
        "True: only products that are exposed. False: only those that are not. To `connectionId`, or without it to any connection. Default: true with `connectionId`.",
      ),
      q: searchField("A part of the SKU or of the name. Case, accents and apostrophes are ignored."),
      sort: Type.Optional(
        Type.Enum(["oldest", "updated"], {
          description:
            "Which products come first: by their creation, or with `updated` those whose last change is longest ago. Default: `oldest`, with `updatedSince` `updated`.",
        }),
      ),
      updatedSince: Type.Optional(
        dateTime("Only products that last changed at or after this time, in the order of their changes."),
      ),
    }),
    responses: {
      200: {
        description: "A page, oldest first.",
        schema: pageOf(BackOfficeProductSchema, "ProductPage"),
      },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const since = timeIn(query.updatedSince);
      if (query.sort === "oldest" && since !== null)
        return validationFailed([{ parameter: "sort", rule: "not_combinable", field: "updatedSince" }]);
      const isByChange = query.sort === "updated" || since !== null;
      const after = changedAfter(query.cursor, since);
      const position = isByChange ? null : pagePosition("catalog", query);
      if (position !== null && isProblem(position)) return position;
      if (isByChange && after === null) return badCursor;
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      const { sku = null, status = null } = query;
      if (sku !== null && !isStorableText(sku)) return { status: 200, body: { data: [], nextCursor: null } };
      const errors = idErrors("con", "connectionId", query);
      if (errors.length > 0) return validationFailed(errors);
      const connectionId = idIn("con", query.connectionId);
      const isExposed = query.exposed ?? (connectionId === null ? null : true);
      const filter = { sku, status, isExposed, connectionId, text: toSearched(query.q) };
      if (position === null) {
        const { limit = PAGE_SIZE_DEFAULT } = query;
        return changedProducts(context.db, merchant.id, filter, after ?? CHANGED_START, limit);
      }
      const { products, readTo } = await listProducts(context.db, merchant.id, filter, position);
      return { status: 200, body: toPage(products, position, toWireProduct, readTo) };
    },
  }),
  route({
    method: "GET",
    path: "/api/products/{id}",
    operationId: "getProduct",
    admits: andMonitoring(everyone),
    tag: "Products",
    summary: "Get a product",
    params: ProductIdParams,
    responses: { 200: { description: "The product.", schema: BackOfficeProductSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const product = await findProduct(context, caller, params.id);
      return product === null ? notFound("product") : { status: 200, body: toWireProduct(product) };
    },
  }),
  route({
    method: "PATCH",
    path: "/api/products/{id}",
    operationId: "updateProduct",
    admits: merchantSide,
    tag: "Products",
    summary: "Update a product",
    description: "Existing orders keep their price.",
    params: ProductIdParams,
    body: ProductChangeSchema,
    responses: { 200: { description: "The changed product.", schema: BackOfficeProductSchema } },
    problems: ["not-found", "validation-failed"],
    bodyErrors: async ({ caller, params, body }, { context }) =>
      priceErrors(body, await findProduct(context, caller, params.id)),
    handle: async ({ caller, params, by, body: { price, ...fields } }, { context }) => {
      const product = await findProduct(context, caller, params.id);
      if (product === null) return notFound("product");
      const change = {
        ...fields,
        ...(fields.description !== undefined && { description: fields.description }),
        ...(price && { priceMinor: minorOf(price) }),
      };
      const changed = await changeProduct(context, product, change, by);
      if (changed === null) return notFound("product");
      return "takenBy" in changed ? barcodeTaken(changed) : { status: 200, body: toWireProduct(changed) };
    },
  }),
  route({
    method: "PUT",
    path: "/api/connections/{id}/products/{productId}",
    operationId: "exposeProduct",
    admits: merchantSide,
    tag: "Products",
    summary: "Expose a product to a connection",
    description:
      "Publishes `product.published` once. Repeating the request has no further effect. A product of another merchant is treated as missing.",
    params: ExposureParams,
    responses: { 200: { description: "The product is exposed.", schema: BackOfficeProductSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const id = parseUuid(params.productId);
      const product = id === null ? null : await publishProduct(context, connection, id, by);
      return product === null ? notFound("product") : { status: 200, body: toWireProduct(product) };
    },
  }),
  route({
    method: "DELETE",
    path: "/api/connections/{id}/products/{productId}",
    operationId: "withdrawProduct",
    admits: merchantSide,
    tag: "Products",
    summary: "Withdraw a product from a connection",
    description: "Existing orders do not change. Repeating the request has no further effect.",
    params: ExposureParams,
    responses: { 204: { description: "The product is not exposed." } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const productId = parseUuid(params.productId);
      if (productId !== null) await withdrawProduct(context, keyOf(connection), productId, by);
      return { status: 204 };
    },
  }),
];

/** The products that a connection's partner can order, without the merchant's prices. */
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
      q: searchField("A part of the SKU or of the name. Case, accents and apostrophes are ignored."),
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
      q: searchField("A part of the connection's name. Case, accents and apostrophes are ignored."),
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
