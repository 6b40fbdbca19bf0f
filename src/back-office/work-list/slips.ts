import { type Static, Type } from "typebox";
import { type Facility, readFacility } from "../../fulfilment/facilities-sql.ts";
import { readWork } from "../../fulfilment/work-list.ts";
import {
  listOrderLines,
  listPickListWork,
  readWorkMarks,
  type WorkLine,
  type WorkNames,
} from "../../fulfilment/work-list-sql.ts";
import type { Order, Shipment } from "../../lifecycle/order.ts";
import { isOpen } from "../../lifecycle/parts.ts";
import { OrderSchema, toWireOrder } from "../../orders/order-wire.ts";
import { RETURN_REASONS } from "../../orders/returns/returns-sql.ts";
import { fromTypeId, toTypeId } from "../../platform/ids.ts";
import { notFound } from "../../platform/wire/problems.ts";
import { idField, nullable } from "../../platform/wire/schemas.ts";
import { type BackOfficeRoute, route, warehouse } from "../access.ts";
import { FacilityAddressSchema } from "../facilities.ts";
import { recordReads } from "../orders/export.ts";
import { type FoundOrder, findOrder, OrderIdParams } from "../orders/find-order.ts";
import { PackedLineSchema, toWirePackedLine } from "./scan.ts";
import { findPickList, PickListIdParams } from "./work-list.ts";
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
    box: nullable(
      Type.Integer(),
      "The box of the order on its pick list. Null if it is on none, and for a shipment.",
    ),
    facility: nullable(
      Type.Object(
        {
          id: idField("fac", "Id of the facility."),
          name: Type.String({ description: "Name of the facility." }),
          countryCode: Type.String({ description: "Country of the facility, two upper-case letters." }),
          address: nullable(FacilityAddressSchema, "Its address. Null if it is not known."),
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

const PickListSlipsSchema = Type.Object(
  {
    slips: Type.Array(PackingSlipSchema, {
      description: "The slips of the orders that can still be shipped, oldest first. Empty after a release.",
    }),
  },
  { title: "PickListSlips", description: "What is printed for the parcels of a pick list." },
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
      const lines = all.filter(shipment === null ? isOpen : ({ shipmentId }) => shipmentId === shipment.id);
      const { pickList } = await readWorkMarks(context.db, order, context.clock.now());
      const box = shipment === null ? (pickList?.box ?? null) : null;
      return { status: 200, body: toWireSlip(order, found.owner, { shipment, box, facility, lines }) };
    },
  }),
  route({
    method: "GET",
    path: "/api/pick-lists/{id}/packing-slips",
    operationId: "listPackingSlips",
    admits: warehouse,
    tag: "Work list",
    summary: "Get the slips of a pick list",
    description:
      "The slips of all orders of the pick list that can still be shipped, each with the lines that have not shipped, so that they are printed at once.",
    params: PickListIdParams,
    responses: { 200: { description: "The slips.", schema: PickListSlipsSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const { db, clock } = context;
      const pickList = await findPickList(context, caller, params.id);
      if (pickList === null) return notFound("pick list");
      const items = pickList.releasedAt === null ? await listPickListWork(db, pickList.id, clock.now()) : [];
      const work = await readWork(db, items);
      const facility = pickList.facilityId === null ? null : await readFacility(db, pickList.facilityId);
      await recordReads(context, by, { orders: work, testMode: false });
      const slips = work.map(({ order, lines, pickList: listed, ...names }) =>
        toWireSlip(order, names, { shipment: null, box: listed?.box ?? null, facility, lines }),
      );
      return { status: 200, body: { slips } };
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
  return lines.some(isOpen) ? null : (order.shipments.at(-1) ?? null);
}

function toWireSlip(
  order: Order,
  { merchantName, connectionName }: WorkNames,
  {
    shipment,
    box,
    facility,
    lines,
  }: {
    readonly shipment: Shipment | null;
    readonly box: number | null;
    readonly facility: Facility | null;
    readonly lines: readonly WorkLine[];
  },
): Static<typeof PackingSlipSchema> {
  const wire = toWireOrder(order);
  return {
    orderId: wire.id,
    externalOrderId: wire.externalOrderId,
    createdAt: wire.createdAt,
    merchantName,
    connectionName,
    shipmentId: shipment === null ? null : toTypeId("shp", shipment.id),
    carrier: shipment?.carrier ?? null,
    trackingNumber: shipment?.trackingNumber ?? null,
    box,
    facility: facility && {
      id: toTypeId("fac", facility.id),
      name: facility.name,
      countryCode: facility.countryCode,
      address: facility.address,
    },
    shippingAddress: wire.shippingAddress,
    note: wire.note,
    lines: lines.map(toWirePackedLine),
    expectedWeightGrams: expectedWeight(lines),
    returnReasons: [...RETURN_REASONS],
  };
}
