import { type Static, Type } from "typebox";
import type { WorkItem } from "../../fulfilment/pick-lists-sql.ts";
import { SCANNED_MAX, type ScannedOrder, scanCode } from "../../fulfilment/work-list.ts";
import {
  listOrderLines,
  listUsedCarriers,
  readWorkMarks,
  type WorkLine,
} from "../../fulfilment/work-list-sql.ts";
import { asOf } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import { canceledQuantity, isOpen } from "../../lifecycle/parts.ts";
import { possibleTransitions, type RequestedTransitionName } from "../../lifecycle/possible-transitions.ts";
import { OrderSchema, toWireOrder } from "../../orders/order-wire.ts";
import { readOrders } from "../../orders/orders-sql.ts";
import { ORDER_CODES, type OrderCode, type OrderOwner } from "../../orders/owners-sql.ts";
import { idsIn, isCommand, readCode } from "../../platform/codes.ts";
import type { Context } from "../../platform/context.ts";
import { type IdPrefix, toTypeId } from "../../platform/ids.ts";
import { enumeration, idField, nullable } from "../../platform/wire/schemas.ts";
import type { ProductOfCode } from "../../products/products-sql.ts";
import { type BackOfficeCaller, type BackOfficeRoute, maySee, route, warehouse } from "../access.ts";
import { findConnection, findFacility, findMerchant } from "../lookups.ts";
import { recordReads } from "../orders/export.ts";
import { seenBy } from "../orders/find-order.ts";
import { BackOfficeShipmentSchema, toBackOfficeShipment } from "../orders/order-wire.ts";
import {
  EXPECTED_WEIGHT,
  expectedWeight,
  lineFields,
  putAsideField,
  toWireLine,
  toWirePutAside,
  toWireWorkPickList,
  workPickListField,
} from "./work-wire.ts";

const { externalOrderId, createdAt, status, onHold, onHoldReasons, shippingAddress, note } =
  OrderSchema.properties;

/** A line of an order, shipped or not, with its product. */
export const PackedLineSchema = Type.Object(
  {
    ...lineFields,
    quantity: Type.Integer({ description: "Units of the line." }),
    shipmentId: nullable(Type.String(), "Id of the shipment that has the line. Null: it has not shipped."),
    returnedQuantity: Type.Integer({ description: "Units that came back." }),
    canceledQuantity: Type.Integer({
      description: "Units that were canceled: 0, or all of the line, which never ships then.",
    }),
  },
  { title: "PackedLine", description: "A line of an order, with its product as it is now." },
);

export const toWirePackedLine = (line: WorkLine): Static<typeof PackedLineSchema> => ({
  ...toWireLine(line),
  quantity: line.quantity,
  shipmentId: line.shipmentId === null ? null : toTypeId("shp", line.shipmentId),
  returnedQuantity: line.returnedQuantity,
  canceledQuantity: canceledQuantity(line),
});

const ScannedOrderSchema = Type.Object(
  {
    matchedBy: enumeration(
      "OrderCode",
      ORDER_CODES,
      "What of the order the code is. `orderId`: its id. `shipmentId`: the id of a shipment. `externalOrderId`: the partner's own id. `trackingNumber`: that of a shipment. `returnReference`: the reference of a return.",
    ),
    orderId: idField("ord", "Id of the order."),
    externalOrderId,
    merchantId: idField("mer", "Id of the merchant whose products are ordered."),
    merchantName: Type.String({ description: "Name of the merchant." }),
    facilityId: nullable(
      Type.String(),
      "Id of the facility that ships. Null if there are no facilities, or it is not routed yet.",
    ),
    createdAt,
    status,
    onHold,
    onHoldReasons,
    canShip: Type.Boolean({
      description:
        "Whether a line of the order can be shipped now. The request routes an order that is not routed yet, and fails if the goods are not there.",
    }),
    canReturn: Type.Boolean({
      description: "Whether something of the order is out, so that it can come back.",
    }),
    shippingAddress,
    note,
    lines: Type.Array(PackedLineSchema, { description: "All lines, those that have shipped too." }),
    expectedWeightGrams: nullable(Type.Integer(), `Of the lines that have not shipped. ${EXPECTED_WEIGHT}`),
    shipments: Type.Array(BackOfficeShipmentSchema, { description: "The shipments, oldest first." }),
    pickList: workPickListField,
    putAside: putAsideField,
    carriers: Type.Array(Type.String(), {
      description: "The carriers of the merchant's latest shipments, the most frequent first, at most 12.",
    }),
  },
  { title: "ScannedOrder", description: "An order that a scanned code names." },
);

const ScannedProductSchema = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Id of the product." }),
    merchantId: idField("mer", "Id of the merchant."),
    sku: lineFields.sku,
    name: lineFields.name,
    barcode: lineFields.barcode,
    imageUrl: lineFields.imageUrl,
    weightGrams: lineFields.weightGrams,
    matchedBy: enumeration(
      "ProductCode",
      ["barcode", "sku"],
      "What of the product the code is. `barcode`: its barcode. `sku`: the merchant's own code.",
    ),
  },
  { title: "ScannedProduct", description: "A product that a scanned code names." },
);

const OtherCodeSchema = Type.Object(
  {
    kind: enumeration(
      "OtherCode",
      ["order", "testOrder", "shipment", "pickList", "merchant", "connection", "facility", "id", "command"],
      "What the code is by its form. `order`, `testOrder`, `shipment`, `pickList`: an id of one that the caller does not see, or that does not exist. `merchant`, `connection`, `facility`: an id of one. `id`: another id of the service. `command`: a command of the packing table.",
    ),
    id: nullable(Type.String(), "The id as the API writes it. Null for a command."),
    name: nullable(
      Type.String(),
      "Name of the merchant, the connection or the facility. Null for anything else, and if the caller does not see it.",
    ),
  },
  { title: "OtherScanned", description: "A code that names neither an order nor a product." },
);
type OtherCode = Static<typeof OtherCodeSchema>;

const OTHER_KINDS: Readonly<Partial<Record<IdPrefix, OtherCode["kind"]>>> = {
  ...{ ord: "order", test: "testOrder", shp: "shipment", pick: "pickList" },
  ...{ mer: "merchant", con: "connection", fac: "facility" },
};

const ScanSchema = Type.Object(
  {
    code: Type.String({
      description:
        "The code that was looked for: without spaces and prefixes of the scanner, and an id as the API writes it.",
    }),
    orders: Type.Array(ScannedOrderSchema, {
      description: `Orders that the code names: by tracking numbers and returns first, then by the ids of partners, each newest first, at most ${SCANNED_MAX}. Empty if there is none.`,
    }),
    products: Type.Array(ScannedProductSchema, {
      description: `Products that the code names, by their barcode first, at most ${SCANNED_MAX}. Empty if there is none, or if the code is the id of an order or a shipment.`,
    }),
    other: nullable(
      OtherCodeSchema,
      "What else the code is, if it is no order that the caller sees, but has the form of an id of the service or of a printed command. Null: it has none of these forms.",
    ),
  },
  { title: "Scan", description: "What a scanned code names." },
);

type OrderToPack = {
  readonly order: Order;
  readonly owner: OrderOwner;
  readonly matchedBy: OrderCode;
  readonly lines: readonly WorkLine[];
  readonly carriers: readonly string[];
} & Pick<WorkItem, "pickList" | "putAside">;

function toWireScannedOrder(
  { order, owner, matchedBy, lines, pickList, putAside, carriers }: OrderToPack,
  now: Date,
): Static<typeof ScannedOrderSchema> {
  const wire = toWireOrder(order);
  const possible = possibleTransitions(order, now);
  const can = (name: RequestedTransitionName) =>
    possible.some((transition) => transition.name === name && transition.rule === null);
  return {
    matchedBy,
    orderId: wire.id,
    externalOrderId: wire.externalOrderId,
    merchantId: toTypeId("mer", order.merchantId),
    merchantName: owner.merchantName,
    facilityId: order.facilityId === null ? null : toTypeId("fac", order.facilityId),
    createdAt: wire.createdAt,
    status: wire.status,
    onHold: wire.onHold,
    onHoldReasons: wire.onHoldReasons,
    canShip: can("ship"),
    canReturn: can("returnShipment"),
    shippingAddress: wire.shippingAddress,
    note: wire.note,
    lines: lines.map(toWirePackedLine),
    expectedWeightGrams: expectedWeight(lines.filter(isOpen)),
    shipments: order.shipments.map((shipment) => toBackOfficeShipment(order, shipment)),
    pickList: toWireWorkPickList(pickList),
    putAside: toWirePutAside(putAside),
    carriers: [...carriers],
  };
}

const toWireScannedProduct = (product: ProductOfCode): Static<typeof ScannedProductSchema> => ({
  id: product.id,
  merchantId: toTypeId("mer", product.merchantId),
  sku: product.sku,
  name: product.name,
  barcode: product.barcode,
  imageUrl: product.imageUrl,
  weightGrams: product.weightGrams,
  matchedBy: product.matchedBy,
});

export const scanRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/work-list/scan",
    operationId: "scanCode",
    admits: warehouse,
    tag: "Work list",
    summary: "Find what a scanned code names",
    description:
      "An order by its id, the id of a shipment, the partner's own id, a tracking number or the reference of a return; a product by its barcode or SKU. Ids and SKUs are found in any case, ids also in the digits that the console prints as a barcode, and numeric barcodes with more or fewer zeros before them, as GS1 element strings, and behind the prefixes of AIM. Orders come with their lines and products, so that nothing else has to be read to pack them or to take them back. Test orders are not found.",
    query: Type.Object({
      code: Type.String({
        minLength: 1,
        maxLength: 255,
        format: "text",
        description: "What the scanner has read, as it is.",
        examples: ["4006381333931"],
      }),
    }),
    responses: { 200: { description: "What the code names.", schema: ScanSchema } },
    problems: ["validation-failed"],
    handle: async ({ caller, query, by }, { context }) => {
      const code = idsIn(query.code)[0]?.id ?? readCode(query.code);
      const now = context.clock.now();
      const found = await scanCode(context.db, query.code, now);
      const orders = await Promise.all(found.orders.map((order) => readToPack(context, caller, order, now)));
      const shown = orders.filter((order) => order !== null);
      const other = shown.length > 0 ? null : await findOther(context, caller, code);
      await recordReads(context, by, { orders: shown.map(({ order }) => order), testMode: false });
      return {
        status: 200,
        body: {
          code,
          orders: shown.map((order) => toWireScannedOrder(order, now)),
          products: found.products
            .filter(({ merchantId }) => maySee(caller, merchantId))
            .map(toWireScannedProduct),
          other,
        },
      };
    },
  }),
];

/** What a code is by its form, which is known without a look-up: so it tells nothing of what the caller does not see. */
async function findOther(
  context: Context,
  caller: BackOfficeCaller,
  code: string,
): Promise<OtherCode | null> {
  if (isCommand(code)) return { kind: "command", id: null, name: null };
  const [found] = idsIn(code);
  if (found === undefined) return null;
  const { id, prefix } = found;
  const named = await findNamed(context, caller, id);
  return { kind: OTHER_KINDS[prefix] ?? "id", id, name: named?.name ?? null };
}

const findNamed = async (context: Context, caller: BackOfficeCaller, id: string) =>
  (await findMerchant(context, caller, id)) ??
  (await findConnection(context, caller, id)) ??
  (await findFacility(context, caller, id));

/** The order as a person packs it, or takes it back. Null if the caller may not see it. */
async function readToPack(
  { db }: Context,
  caller: BackOfficeCaller,
  { matchedBy, ...found }: ScannedOrder,
  now: Date,
): Promise<OrderToPack | null> {
  const owner = seenBy(caller, found);
  if (owner === null) return null;
  const key = { merchantId: owner.merchantId, id: owner.id };
  const [orders, lines, marks, carriers] = await Promise.all([
    readOrders(db, owner, [owner.id]),
    listOrderLines(db, key),
    readWorkMarks(db, key, now),
    listUsedCarriers(db, owner.merchantId),
  ]);
  const [order] = orders;
  return order === undefined
    ? null
    : { order: asOf(order, now), owner, matchedBy, lines, carriers, ...marks };
}
