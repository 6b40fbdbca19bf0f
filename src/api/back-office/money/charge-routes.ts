import { type Static, Type } from "typebox";
import { type FoundCharge, findCharge } from "../../../ledger/find-charge-sql.ts";
import { fromTypeId, toTypeId } from "../../../platform/ids.ts";
import { notFound } from "../../../platform/wire/problems.ts";
import { idField, nullable, nullableTime } from "../../../platform/wire/schemas.ts";
import { type BackOfficeRoute, maySee, merchantSide, route } from "../access.ts";
import { ChargeSchema, toWireCharge } from "./charge-wire.ts";

export const ChargeDetailSchema = Type.Object(
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

export const toWireChargeDetail = (charge: FoundCharge): Static<typeof ChargeDetailSchema> => ({
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
