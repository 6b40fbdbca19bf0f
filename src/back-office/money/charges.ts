import { type Static, Type } from "typebox";
import {
  type ChargePosition,
  type FoundCharge,
  findCharge,
  type ListedCharge,
  listCharges,
} from "../../ledger/ledger-sql.ts";
import { bytesOf, fromTypeId, toTypeId, uuidAt, uuidOf } from "../../platform/ids.ts";
import { parseTime } from "../../platform/time.ts";
import { badCursor, decodeCursor, encodeCursor, UUID_MAX, UUID_MIN } from "../../platform/wire/cursor.ts";
import { notFound } from "../../platform/wire/problems.ts";
import {
  cursorField,
  describedAs,
  idField,
  limitField,
  nullable,
  nullableTime,
  PAGE_SIZE_DEFAULT,
  pageOf,
} from "../../platform/wire/schemas.ts";
import { type BackOfficeRoute, maySee, merchantSide, route } from "../access.ts";
import { findMerchant, MerchantIdParams } from "../lookups.ts";
import { ChargeSchema, toWireCharge } from "./charge-wire.ts";

const ChargeDetailSchema = Type.Object(
  {
    ...ChargeSchema.properties,
    merchantId: idField("mer", "Id of the merchant."),
    orderId: idField("ord", "Id of the order."),
    gatewayReference: nullable(
      Type.String(),
      "The gateway's id of the payment, such as Stripe's. Null unless the charge succeeded.",
    ),
    processedAt: nullableTime("When the gateway's result was recorded. Null while the charge is pending."),
  },
  { title: "ChargeDetail", description: "A charge or a refund, with its order. The service changes it." },
);

const toWireChargeDetail = (charge: FoundCharge): Static<typeof ChargeDetailSchema> => ({
  ...toWireCharge(charge),
  merchantId: toTypeId("mer", charge.merchantId),
  orderId: toTypeId("ord", charge.orderId),
  gatewayReference: charge.gatewayReference,
  processedAt: charge.processedAt?.toISOString() ?? null,
});

export const chargeRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/charges/{id}",
    operationId: "getCharge",
    admits: merchantSide,
    tag: "Money",
    summary: "Get a charge or a refund",
    params: Type.Object({ id: Type.String({ description: "Id of the charge." }) }),
    responses: { 200: { description: "The charge.", schema: ChargeDetailSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const id = fromTypeId("chg", params.id);
      const charge = id === null ? null : await findCharge(context.db, id);
      if (charge === null || !maySee(caller, charge.merchantId)) return notFound("charge");
      return { status: 200, body: toWireChargeDetail(charge) };
    },
  }),
];

const ListedChargeSchema = Type.Object(
  {
    ...ChargeDetailSchema.properties,
    externalOrderId: nullable(Type.String(), "The partner's own id of the order. Null if it has none."),
  },
  { title: "ListedCharge", description: "A charge or a refund in a list. The service changes it." },
);

const LIST = "charges";
const timeField = (description: string) => Type.Optional(Type.String({ format: "date-time", description }));

/** A cursor of this list is the position of a charge: the ids of its order and of itself. */
const encodePosition = ({ orderId, id }: ChargePosition): string =>
  encodeCursor(LIST, Buffer.concat([bytesOf(orderId), bytesOf(id)]));

function readPosition(cursor: string | undefined): ChargePosition | null {
  if (cursor === undefined) return { orderId: UUID_MAX, id: UUID_MAX };
  const position = decodeCursor(LIST, cursor);
  if (position?.length !== 32) return null;
  return { orderId: uuidOf(position.subarray(0, 16)), id: uuidOf(position.subarray(16)) };
}

const toWireListed = (charge: ListedCharge) => ({
  ...toWireChargeDetail(charge),
  externalOrderId: charge.externalOrderId,
});

export const chargeListRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/merchants/{id}/charges",
    operationId: "listCharges",
    admits: merchantSide,
    tag: "Money",
    summary: "List the charges and refunds of a merchant",
    description:
      "Charges and refunds over all orders, those of the newest order first. A page may be short and still have a `nextCursor`. The account entries and the statement list what was booked, at its time.",
    params: MerchantIdParams,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      kind: Type.Optional(describedAs(ChargeSchema.properties.kind, "Only entries of this kind.")),
      status: Type.Optional(describedAs(ChargeSchema.properties.status, "Only entries with this status.")),
      since: timeField("Only of orders that were created at or after this time."),
      until: timeField("Only of orders that were created before this time."),
    }),
    responses: {
      200: {
        description: "A page, the newest order first.",
        schema: pageOf(ListedChargeSchema, "ChargePage"),
      },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const { kind = null, status = null, since, until, limit = PAGE_SIZE_DEFAULT } = query;
      const after = readPosition(query.cursor);
      if (after === null) return badCursor;
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      const filter = {
        kind,
        status,
        sinceId: since === undefined ? UUID_MIN : uuidAt(parseTime(since)),
        untilId: until === undefined ? UUID_MAX : uuidAt(parseTime(until)),
      };
      const { charges, readTo } = await listCharges(context.db, merchant.id, filter, after, limit);
      const shown = charges.slice(0, limit);
      const last = charges.length > limit ? (shown.at(-1) ?? null) : readTo;
      return {
        status: 200,
        body: {
          data: shown.map(toWireListed),
          nextCursor: last === null ? null : encodePosition(last),
        },
      };
    },
  }),
];
