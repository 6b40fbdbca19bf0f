import { type Static, Type } from "typebox";
import { readFacility } from "../../../fulfilment/facilities/facilities-sql.ts";
import type { Facility } from "../../../fulfilment/facilities/facility.ts";
import { listOrderLines, type WorkLine } from "../../../fulfilment/work-list/work-list-sql.ts";
import type { Shipment } from "../../../lifecycle/order.ts";
import { OrderSchema, toWireOrder } from "../../../orders/order-wire.ts";
import { RETURN_REASONS } from "../../../orders/returns/order-return.ts";
import { fromTypeId, toTypeId } from "../../../platform/ids.ts";
import { notFound } from "../../../platform/wire/problems.ts";
import { idField, nullable } from "../../../platform/wire/schemas.ts";
import { type BackOfficeRoute, route, warehouse } from "../access.ts";
import { type FoundOrder, findOrder, OrderIdParams } from "../orders/find-order.ts";
import { recordReads } from "../orders/record-reads.ts";
import { PackedLineSchema, toWirePackedLine } from "./scan-wire.ts";
import { EXPECTED_WEIGHT, expectedWeight } from "./work-wire.ts";

const { externalOrderId, createdAt, shippingAddress, note } = OrderSchema.properties;

const PackingSlipSchema = Type.Object(
  {
    orderId: idField(
      "ord",
      "Id of the order. As a barcode on the return slip it finds the order at the door.",
    ),
    externalOrderId,
    createdAt,
    merchantName: Type.String({ description: "Name of the merchant." }),
    connectionName: Type.String({ description: "Name of the connection that placed the order." }),
    shipmentId: nullable(
      Type.String(),
      "Id of the shipment that the slip is for. Null before it has shipped.",
    ),
    carrier: nullable(Type.String(), "Name of the carrier. Null if it is not known yet."),
    trackingNumber: nullable(Type.String(), "Tracking number. Null if it is not known yet."),
    facility: nullable(
      Type.Object(
        {
          id: idField("fac", "Id of the facility."),
          name: Type.String({ description: "Name of the facility." }),
          countryCode: Type.String({ description: "Country of the facility, two upper-case letters." }),
        },
        { title: "SlipFacility", description: "The facility that ships, to which parcels come back." },
      ),
      "The facility that ships. Null if there are no facilities, or the order is not routed yet.",
    ),
    shippingAddress,
    note,
    lines: Type.Array(PackedLineSchema, { description: "What is in the parcel, without prices." }),
    expectedWeightGrams: nullable(Type.Integer(), EXPECTED_WEIGHT),
    returnReasons: Type.Array(Type.String(), {
      description: "The reasons that a return slip can offer to the buyer, as a return names them.",
    }),
  },
  {
    title: "PackingSlip",
    description: "What is printed for a parcel: the packing slip and the return slip.",
  },
);

export const slipRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/orders/{id}/packing-slip",
    operationId: "getPackingSlip",
    admits: warehouse,
    tag: "Work list",
    summary: "Get the slips of a parcel",
    description:
      "All that a packing slip and a return slip print, in one response. Without `shipmentId`: the lines that have not shipped, or the newest shipment if all have.",
    params: OrderIdParams,
    query: Type.Object({
      shipmentId: Type.Optional(Type.String({ description: "Only the lines of this shipment." })),
    }),
    responses: { 200: { description: "The slips.", schema: PackingSlipSchema } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query, by }, { context }) => {
      const found = await findOrder(context, caller, params.id);
      if (found === null) return notFound("order");
      const all = await listOrderLines(context.db, found.order);
      const shipment = slipShipment(found, all, query.shipmentId);
      if (shipment === undefined) return notFound("shipment");
      const { order } = found;
      const facility = order.facilityId === null ? null : await readFacility(context.db, order.facilityId);
      await recordReads(context, by, { orders: [order], testMode: order.testMode });
      const lines = all.filter(({ shipmentId }) => shipmentId === (shipment?.id ?? null));
      return { status: 200, body: toWireSlip(found, { shipment, facility, lines }) };
    },
  }),
];

/** The shipment of the slip. Null: what has not shipped. Undefined: the order has no such shipment. */
function slipShipment(
  { order }: FoundOrder,
  lines: readonly WorkLine[],
  requested: string | undefined,
): Shipment | null | undefined {
  if (requested !== undefined) {
    const id = fromTypeId("shp", requested);
    return order.shipments.find((shipment) => shipment.id === id);
  }
  return lines.some(({ shipmentId }) => shipmentId === null) ? null : (order.shipments.at(-1) ?? null);
}

function toWireSlip(
  { order, owner }: FoundOrder,
  {
    shipment,
    facility,
    lines,
  }: { shipment: Shipment | null; facility: Facility | null; lines: readonly WorkLine[] },
): Static<typeof PackingSlipSchema> {
  const wire = toWireOrder(order);
  return {
    orderId: wire.id,
    externalOrderId: wire.externalOrderId,
    createdAt: wire.createdAt,
    merchantName: owner.merchantName,
    connectionName: owner.connectionName,
    shipmentId: shipment === null ? null : toTypeId("shp", shipment.id),
    carrier: shipment?.carrier ?? null,
    trackingNumber: shipment?.trackingNumber ?? null,
    facility: facility && {
      id: toTypeId("fac", facility.id),
      name: facility.name,
      countryCode: facility.countryCode,
    },
    shippingAddress: wire.shippingAddress,
    note: wire.note,
    lines: lines.map(toWirePackedLine),
    expectedWeightGrams: expectedWeight(lines),
    returnReasons: [...RETURN_REASONS],
  };
}
