import { type Static, Type } from "typebox";
import { adjustStock } from "../../../fulfilment/facilities/adjust-stock.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { pagePosition, toPage, UUID_MAX } from "../../../platform/wire/cursor.ts";
import { isProblem, notFound, type Problem, validationFailed } from "../../../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  enumeration,
  idField,
  limitField,
  nullable,
  pageOf,
} from "../../../platform/wire/schemas.ts";
import {
  ADJUSTMENT_REASONS,
  MOVEMENT_KINDS,
  type MovementOfProduct,
  ON_HAND_MAX,
} from "../../../stock/stock-movement.ts";
import { listMovements } from "../../../stock/stock-movements-sql.ts";
import { idErrors, idIn } from "../../http/id-parameters.ts";
import { type BackOfficeRoute, route, warehouse } from "../access.ts";
import { ActorSchema, toWireActor } from "../actor-schema.ts";
import { FacilityIdParams, findFacility, findProduct } from "../lookups.ts";
import { StockParams, StockSchema, toWireStock, withNames } from "./stock-wire.ts";

const ReasonSchema = enumeration(
  "StockAdjustmentReason",
  ADJUSTMENT_REASONS,
  "`received`: goods arrived. `returned`: goods came back without a return of an order. `found`, `lost`, `damaged`: as a count or a look shows. `sample`: taken for another use. `correction`: an earlier change was wrong. `other`: see the note.",
);
const KindSchema = enumeration(
  "StockMovementKind",
  MOVEMENT_KINDS,
  "`set`: a count by hand. `adjusted`: a change by a difference. `shipped`, `returned`: by an order.",
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
      if (difference === 0)
        return validationFailed([{ pointer: "/difference", detail: "must be positive or negative, not 0" }]);
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
  { pointer: "/reference", detail: "was already used for a different adjustment of this stock" },
]);

const outOfRange = ({ lowest, highest }: { lowest: number; highest: number }): Problem =>
  validationFailed([
    {
      pointer: "/difference",
      detail: `must be between ${lowest} and ${highest}: the units on hand cannot be fewer than those reserved for orders`,
    },
  ]);
