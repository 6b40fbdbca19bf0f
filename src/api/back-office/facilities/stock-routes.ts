import { Type } from "typebox";
import { setStock } from "../../../fulfilment/facilities/set-stock.ts";
import { pagePosition, toPage } from "../../../platform/wire/cursor.ts";
import { isProblem, notFound, type Problem, validationFailed } from "../../../platform/wire/problems.ts";
import { cursorField, flagField, limitField, pageOf, searchField } from "../../../platform/wire/schemas.ts";
import { ON_HAND_MAX, ON_HAND_STORED_MAX } from "../../../stock/stock-movement.ts";
import { listStock, readStock } from "../../../stock/stock-sql.ts";
import { idErrors, idIn } from "../../http/id-parameters.ts";
import { andMonitoring, type BackOfficeRoute, route, warehouse } from "../access.ts";
import { FacilityIdParams, findFacility, findProduct } from "../lookups.ts";
import { StockParams, StockSchema, toWireStock, withNames } from "./stock-wire.ts";

export const stockRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/facilities/{id}/stock",
    operationId: "listStock",
    admits: andMonitoring(warehouse),
    tag: "Facilities",
    summary: "List a facility's stock",
    params: FacilityIdParams,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      merchantId: Type.Optional(Type.String({ description: "Only products of this merchant." })),
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
      q: searchField("A part of the SKU or of the name, in either case, or a whole barcode."),
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
      const filter = { merchantId: idIn("mer", query.merchantId), sku, available, availableBelow, search };
      const records = await listStock(context.db, facility.id, filter, position);
      const rows = records.map((stock) => ({ ...stock, id: stock.productId }));
      return { status: 200, body: toPage(rows, position, toWireStock) };
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
  validationFailed([
    { pointer: "/onHand", detail: `must be at least ${reserved}, the quantity reserved for orders` },
  ]);

/** Our choice (decision 0094): 409, because the request is valid and only the state has changed. */
const stockChanged = (onHand: number): Problem => ({
  code: "stock-changed",
  detail: `The stock has moved: ${onHand} units are on hand. Count again, or send the difference.`,
  members: { onHand },
});
