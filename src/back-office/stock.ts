import { type Static, Type } from "typebox";
import { adjustStock, setStock } from "../fulfilment/set-stock.ts";
import { idErrors, idIn } from "../http/route.ts";
import { readMerchant } from "../merchants/merchants-sql.ts";
import { toTypeId } from "../platform/ids.ts";
import { timeIn } from "../platform/time.ts";
import { pagePosition, toPage, UUID_MAX } from "../platform/wire/cursor.ts";
import { isProblem, notFound, type Problem, validationFailed } from "../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  enumeration,
  flagField,
  idField,
  limitField,
  nullable,
  nullableTime,
  pageOf,
  searchField,
} from "../platform/wire/schemas.ts";
import type { Product } from "../products/product.ts";
import {
  ADJUSTMENT_REASONS,
  listMovements,
  MOVEMENT_KINDS,
  type MovementOfProduct,
  ON_HAND_MAX,
  ON_HAND_STORED_MAX,
} from "../stock/stock-movements-sql.ts";
import {
  listStock,
  listStockOfMerchant,
  listStockOfProduct,
  type MerchantStock,
  readStock,
  type StockAtFacility,
  type StockOfProduct,
  type StockRecord,
} from "../stock/stock-sql.ts";
import {
  andMonitoring,
  type BackOfficeRoute,
  everyone,
  merchantSide,
  route,
  stockFacilitiesOf,
  warehouse,
} from "./access.ts";
import { ActorSchema, toWireActor } from "./actor-schema.ts";
import {
  FacilityIdParams,
  findFacility,
  findProduct,
  MerchantIdParams,
  ProductIdParams,
  seenMerchantId,
} from "./lookups.ts";

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

const StockAtFacilitySchema = Type.Object(
  {
    ...StockSchema.properties,
    facilityName: Type.String({ description: "Name of the facility." }),
    facilityClosedAt: nullableTime("Since when no order is routed to the facility. Null while it is open."),
  },
  { title: "StockAtFacility", description: "The stock of a product at one of the facilities that have it." },
);

const StockParams = Type.Object({
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

const withNames = (stock: StockRecord, { sku, name, barcode }: Product): StockOfProduct => ({
  ...stock,
  sku,
  name,
  barcode,
});

const toWireStockAt = (stock: StockAtFacility, product: Product): Static<typeof StockAtFacilitySchema> => ({
  ...toWireStock(withNames(stock, product)),
  facilityName: stock.facilityName,
  facilityClosedAt: stock.facilityClosedAt?.toISOString() ?? null,
});

/** Filters that all lists of stock have. */
const stockFilterFields = {
  sku: Type.Optional(
    Type.String({
      maxLength: 255,
      format: "text",
      description: "Only products with this SKU. There may be several.",
    }),
  ),
  available: flagField("True: only products with available units. False: only products without."),
  availableBelow: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: ON_HAND_MAX,
      description: "Only products with fewer available units than this.",
    }),
  ),
  q: searchField(
    "A part of the SKU or of the name, or a whole barcode. Case, accents and apostrophes are ignored.",
  ),
  updatedSince: Type.Optional(
    dateTime(
      "Only stock that last changed at or after this time. To follow changes, use `GET /api/changes`, which misses none.",
    ),
  ),
};

export const stockRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/facilities/{id}/stock",
    operationId: "listStock",
    admits: andMonitoring(warehouse),
    tag: "Facilities",
    summary: "List a facility's stock",
    description: "A page can have fewer products than `limit`, or none, and a `nextCursor` that continues.",
    params: FacilityIdParams,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      merchantId: Type.Optional(Type.String({ description: "Only products of this merchant." })),
      ...stockFilterFields,
    }),
    responses: {
      200: {
        description: "A page, the oldest product first.",
        schema: pageOf(StockSchema, "StockPage"),
      },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const position = pagePosition("stock", query);
      if (isProblem(position)) return position;
      const facility = await findFacility(context, caller, params.id);
      if (facility === null) return notFound("facility");
      const errors = idErrors("mer", "merchantId", query);
      if (errors.length > 0) return validationFailed(errors);
      const { sku = null, available = null, availableBelow = null, q: search = null } = query;
      const updatedSince = timeIn(query.updatedSince);
      const merchantId = idIn("mer", query.merchantId);
      const filter = { merchantId, sku, available, availableBelow, search, updatedSince };
      const { stock, readTo } = await listStock(context.db, facility.id, filter, position);
      const rows = stock.map((record) => ({ ...record, id: record.productId }));
      return { status: 200, body: toPage(rows, position, toWireStock, readTo) };
    },
  }),
  route({
    method: "GET",
    path: "/api/facilities/{id}/stock/{productId}",
    operationId: "getStock",
    admits: andMonitoring(warehouse),
    tag: "Facilities",
    summary: "Get the stock of a product at a facility",
    description:
      "A product without a stock record at any facility is made to order, and is always available.",
    params: StockParams,
    responses: { 200: { description: "The stock.", schema: StockSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const facility = await findFacility(context, caller, params.id);
      if (facility === null) return notFound("facility");
      const product = await findProduct(context, caller, params.productId);
      if (product === null) return notFound("product");
      const stock = await readStock(context.db, facility.id, product);
      if (stock === null) return notFound("stock record");
      return { status: 200, body: toWireStock(withNames(stock, product)) };
    },
  }),
  route({
    method: "PUT",
    path: "/api/facilities/{id}/stock/{productId}",
    operationId: "setStock",
    admits: warehouse,
    tag: "Facilities",
    summary: "Set the stock of a product at a facility",
    description:
      "With its first stock record, a product is no longer made to order, and is out of stock at facilities without a record. `onHand` cannot be less than `reserved`. Orders on hold as `out_of_stock` are released automatically when there is enough stock, the oldest first.",
    params: StockParams,
    body: Type.Object(
      {
        onHand: Type.Integer({
          minimum: 0,
          maximum: ON_HAND_MAX,
          description: "Units on hand, including reserved ones.",
        }),
        expectedOnHand: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: ON_HAND_STORED_MAX,
            description:
              "Units that were on hand when counting began; 0 if there was no record. If it is another number by now, the request is rejected with `stock-changed`. Absent: the units are set in any case.",
          }),
        ),
      },
      { title: "StockRequest", description: "The stock of a product at a facility." },
    ),
    responses: { 200: { description: "The new stock.", schema: StockSchema } },
    problems: ["not-found", "stock-changed", "validation-failed"],
    handle: async ({ caller, params, by, body: { onHand, expectedOnHand: expected } }, { context }) => {
      const facility = await findFacility(context, caller, params.id);
      if (facility === null) return notFound("facility");
      const product = await findProduct(context, caller, params.productId);
      if (product === null) return notFound("product");
      const set = await setStock(context, facility.id, product, { onHand, expected }, by);
      switch (set.outcome) {
        case "set":
          return { status: 200, body: toWireStock(withNames(set.stock, product)) };
        case "below-reserved":
          return belowReserved(set.reserved);
        case "moved":
          return stockChanged(set.onHand);
        default:
          return set satisfies never;
      }
    },
  }),
];

const belowReserved = (reserved: number): Problem =>
  validationFailed([{ pointer: "/onHand", rule: "reserved_quantity", min: reserved }]);

/** Our choice (docs/design/fulfilment.md, "Stock"): 409, because the request is valid and only the state has changed. */
const stockChanged = (onHand: number): Problem => ({
  code: "stock-changed",
  detail: `The stock has moved: ${onHand} units are on hand. Count again, or send the difference.`,
  members: { onHand },
});

export const productStockRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/products/{id}/stock",
    operationId: "listStockOfProduct",
    admits: andMonitoring(everyone),
    tag: "Facilities",
    summary: "List the stock of a product at all facilities",
    description:
      "The facilities that have a stock record of the product, the oldest facility first; for staff of named facilities these alone. A product without any is made to order, and is always available.",
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
      const stock = await listStockOfProduct(
        context.db,
        product,
        stockFacilitiesOf(caller, product.merchantId),
        position,
      );
      return { status: 200, body: toPage(stock, position, (record) => toWireStockAt(record, product)) };
    },
  }),
];

const { sku, name, barcode, merchantId, productId, onHand, reserved, available, updatedAt } =
  StockSchema.properties;
const { facilityId, facilityName, facilityClosedAt } = StockAtFacilitySchema.properties;

const MerchantStockSchema = Type.Object(
  {
    merchantId,
    productId,
    sku,
    name,
    barcode,
    onHand: Type.Integer({ description: "Units on hand at all facilities together." }),
    reserved: Type.Integer({
      description: "Units of `onHand` that are reserved for orders not shipped yet.",
    }),
    available: Type.Integer({
      description:
        "Units available to new orders: `onHand` minus `reserved` of the facilities that are open.",
    }),
    updatedAt: dateTime("When one of the numbers last changed, at any facility."),
    facilities: Type.Array(
      Type.Object(
        { facilityId, facilityName, facilityClosedAt, onHand, reserved, available, updatedAt },
        { title: "StockOfMerchantAtFacility", description: "What one facility has of the product." },
      ),
      { description: "The facilities that have a stock record of the product, the oldest first." },
    ),
  },
  { title: "StockOfMerchant", description: "The stock of one of a merchant's products." },
);

const toWireMerchantStock = (stock: MerchantStock): Static<typeof MerchantStockSchema> => ({
  merchantId: toTypeId("mer", stock.merchantId),
  productId: stock.id,
  sku: stock.sku,
  name: stock.name,
  barcode: stock.barcode,
  onHand: stock.onHand,
  reserved: stock.reserved,
  available: stock.available,
  updatedAt: stock.updatedAt.toISOString(),
  facilities: stock.facilities.map((at) => ({
    facilityId: toTypeId("fac", at.facilityId),
    facilityName: at.facilityName,
    facilityClosedAt: at.facilityClosedAt?.toISOString() ?? null,
    onHand: at.onHand,
    reserved: at.reserved,
    available: at.onHand - at.reserved,
    updatedAt: at.updatedAt.toISOString(),
  })),
});

export const merchantStockRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/merchants/{id}/stock",
    operationId: "listStockOfMerchant",
    admits: andMonitoring(merchantSide),
    tag: "Facilities",
    summary: "List the stock of a merchant's products",
    description:
      "The products that have a stock record at any facility. All others are made to order, and always available. A page can have fewer products than `limit`, or none, and a `nextCursor` that continues.",
    params: MerchantIdParams,
    query: Type.Object({ limit: limitField, cursor: cursorField, ...stockFilterFields }),
    responses: {
      200: {
        description: "A page, the oldest product first.",
        schema: pageOf(MerchantStockSchema, "StockOfMerchantPage"),
      },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const position = pagePosition("stock-of-merchant", query);
      if (isProblem(position)) return position;
      const merchantId = seenMerchantId(caller, params.id);
      const merchant = merchantId === null ? null : await readMerchant(context.db, merchantId);
      if (merchant === null) return notFound("merchant");
      const { sku = null, available = null, availableBelow = null, q: search = null } = query;
      const updatedSince = timeIn(query.updatedSince);
      const filter = { sku, available, availableBelow, search, updatedSince };
      const { stock, readTo } = await listStockOfMerchant(context.db, merchant.id, filter, position);
      return { status: 200, body: toPage(stock, position, toWireMerchantStock, readTo) };
    },
  }),
];

const ReasonSchema = enumeration(
  "StockAdjustmentReason",
  ADJUSTMENT_REASONS,
  "`received`: goods arrived. `returned`: goods came back without a return of an order. `found`, `lost`, `damaged`: as a count or a look shows. `sample`: taken for another use. `correction`: an earlier change was wrong. `other`: see the note.",
);
const KindSchema = enumeration(
  "StockMovementKind",
  MOVEMENT_KINDS,
  "`set`: a count by hand. `adjusted`: a change by a difference. `shipped`, `returned`: by an order. `voided`: a shipment that never left, whose goods are back.",
);

const NOTE_TEXT = "A note about the adjustment.";
const REFERENCE_TEXT = "The client's own name of the adjustment, unique for the product at the facility.";

const MovementSchema = Type.Object(
  {
    merchantId: idField("mer", "Id of the merchant whose product it is."),
    facilityId: idField("fac", "Id of the facility."),
    productId: Type.String({ format: "uuid", description: "Id of the product." }),
    sku: Type.String({ description: "Present SKU of the product." }),
    name: Type.String({ description: "Present name of the product." }),
    kind: KindSchema,
    difference: Type.Integer({ description: "Change of `onHand`, in units. Negative if units left." }),
    onHand: Type.Integer({ description: "Units on hand after the movement." }),
    reason: nullable(ReasonSchema, "Why the stock was adjusted. Null for other kinds."),
    note: nullable(Type.String(), `${NOTE_TEXT} Null if there is none.`),
    reference: nullable(Type.String(), `${REFERENCE_TEXT} Null if there is none.`),
    orderId: nullable(Type.String(), "Id of the order that shipped or came back. Null for other kinds."),
    externalOrderId: nullable(
      Type.String(),
      "The partner's own id of that order. Null if there is no order, or if the partner gave it none.",
    ),
    actor: describedAs(ActorSchema, "Who moved the stock."),
    createdAt: dateTime("When the stock was moved."),
  },
  { title: "StockMovement", description: "A change of the units on hand. It never changes." },
);

const toWireMovement = (movement: MovementOfProduct): Static<typeof MovementSchema> => ({
  merchantId: toTypeId("mer", movement.merchantId),
  facilityId: toTypeId("fac", movement.facilityId),
  productId: movement.productId,
  sku: movement.sku,
  name: movement.name,
  kind: movement.kind,
  difference: movement.difference,
  onHand: movement.onHand,
  reason: movement.reason,
  note: movement.note,
  reference: movement.reference,
  orderId: movement.orderId === null ? null : toTypeId("ord", movement.orderId),
  externalOrderId: movement.externalOrderId,
  actor: toWireActor(movement.actor),
  createdAt: movement.createdAt.toISOString(),
});

const AdjustmentSchema = Type.Object(
  {
    difference: Type.Integer({
      minimum: -ON_HAND_MAX,
      maximum: ON_HAND_MAX,
      description: "Units to add; negative to take away. Not 0.",
      examples: [-2],
    }),
    reason: ReasonSchema,
    note: Type.Optional(
      Type.String({ minLength: 1, maxLength: 500, format: "text", description: NOTE_TEXT }),
    ),
    reference: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        format: "text",
        description: `${REFERENCE_TEXT} A request that repeats it changes nothing, so that a retry is safe.`,
      }),
    ),
  },
  { title: "StockAdjustment", description: "A change of the stock by a difference." },
);

export const stockMovementRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/facilities/{id}/stock/{productId}/adjust",
    operationId: "adjustStock",
    admits: warehouse,
    tag: "Facilities",
    summary: "Adjust the stock of a product by a difference",
    description:
      "Changes `onHand` by the difference, whatever it is at that moment. The result cannot be less than `reserved`. The first record of a product at a facility is made with `PUT`.",
    params: StockParams,
    body: AdjustmentSchema,
    responses: {
      200: {
        description: "The new stock. For a repeated reference: the present stock.",
        schema: StockSchema,
      },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, by, body }, { context }) => {
      const facility = await findFacility(context, caller, params.id);
      if (facility === null) return notFound("facility");
      const product = await findProduct(context, caller, params.productId);
      if (product === null) return notFound("product");
      const { difference, reason, note = null, reference = null } = body;
      if (difference === 0) return validationFailed([{ pointer: "/difference", rule: "not_zero" }]);
      const adjustment = { difference, reason, note, reference };
      const adjusted = await adjustStock(context, facility.id, product, adjustment, by);
      switch (adjusted.outcome) {
        case "adjusted":
          return { status: 200, body: toWireStock(withNames(adjusted.stock, product)) };
        case "no-record":
          return notFound("stock record");
        case "reference-taken":
          return REFERENCE_TAKEN;
        case "out-of-range":
          return outOfRange(adjusted);
        default:
          return adjusted satisfies never;
      }
    },
  }),
  route({
    method: "GET",
    path: "/api/facilities/{id}/stock-movements",
    operationId: "listStockMovements",
    admits: warehouse,
    tag: "Facilities",
    summary: "List the movements of a facility's stock",
    description:
      "Every change of the units on hand, newest first, kept for two years. A page may be short and still have a `nextCursor`.",
    isList: true,
    params: FacilityIdParams,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      merchantId: Type.Optional(Type.String({ description: "Only movements of this merchant's products." })),
      productId: Type.Optional(
        Type.String({ format: "uuid", description: "Only movements of this product." }),
      ),
      kind: Type.Optional(describedAs(KindSchema, "Only movements of this kind.")),
    }),
    responses: {
      200: { description: "A page, newest first.", schema: pageOf(MovementSchema, "StockMovementPage") },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const position = pagePosition("stock-movements", query, UUID_MAX);
      if (isProblem(position)) return position;
      const facility = await findFacility(context, caller, params.id);
      if (facility === null) return notFound("facility");
      const errors = idErrors("mer", "merchantId", query);
      if (errors.length > 0) return validationFailed(errors);
      const { productId = null, kind = null } = query;
      const filter = { merchantId: idIn("mer", query.merchantId), productId, kind };
      const { movements, readTo } = await listMovements(context.db, facility.id, filter, position);
      return { status: 200, body: toPage(movements, position, toWireMovement, readTo) };
    },
  }),
];

const REFERENCE_TAKEN: Problem = validationFailed([
  { pointer: "/reference", rule: "reference_used", usedFor: "stock_adjustment" },
]);

const outOfRange = ({ lowest, highest }: { lowest: number; highest: number }): Problem =>
  validationFailed([{ pointer: "/difference", rule: "stock_difference", min: lowest, max: highest }]);
