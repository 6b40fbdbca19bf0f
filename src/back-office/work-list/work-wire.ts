import { type Static, Type } from "typebox";
import type { Initiator } from "../../audit/record-audit.ts";
import { type PickList, PUT_ASIDE_REASONS, type WorkItem } from "../../fulfilment/pick-lists-sql.ts";
import { readWork, type Work } from "../../fulfilment/work-list.ts";
import type { WorkLine } from "../../fulfilment/work-list-sql.ts";
import { LABEL_COLUMNS, OrderSchema, toWireOrder } from "../../orders/order-wire.ts";
import type { Context } from "../../platform/context.ts";
import { toTypeId } from "../../platform/ids.ts";
import { rawCsvRow } from "../../platform/tables/csv.ts";
import type { TableColumns } from "../../platform/tables/write-table.ts";
import {
  dateTime,
  enumeration,
  flagField,
  idField,
  nullable,
  nullableTime,
} from "../../platform/wire/schemas.ts";
import { recordReads } from "../orders/export.ts";

const { externalOrderId, createdAt, shippingAddress, note } = OrderSchema.properties;

const FACILITY_TEXT = "Id of the facility that ships. Null if there are no facilities.";
const TAKEN_BY_TEXT = "The person or the station that has taken the orders.";

/** A line's product, for a person at a packing table. */
export const lineFields = {
  id: idField("line", "Id of the line."),
  productId: Type.String({ format: "uuid", description: "Id of the product." }),
  sku: Type.String({ description: "Present SKU of the product." }),
  name: Type.String({ description: "Present name of the product." }),
  barcode: nullable(Type.String(), "Present barcode of the product. Null if it has none."),
  imageUrl: nullable(Type.String(), "Address of a picture of the product. Null if there is none."),
  weightGrams: nullable(Type.Integer(), "Weight of one unit in grams. Null if it is not known."),
};

export const toWireLine = (line: WorkLine) => ({
  id: toTypeId("line", line.id),
  productId: line.productId,
  sku: line.sku,
  name: line.name,
  barcode: line.barcode,
  imageUrl: line.imageUrl,
  weightGrams: line.weightGrams,
});

export const EXPECTED_WEIGHT =
  "Weight of these units together, in grams. Null if the weight of one is not known.";

/** The weight that a parcel with all units of these lines should have, without its packaging. */
export const expectedWeight = (lines: readonly WorkLine[]): number | null =>
  lines.reduce<number | null>(
    (sum, { weightGrams, quantity }) =>
      sum === null || weightGrams === null ? null : sum + weightGrams * quantity,
    0,
  );

const WorkLineSchema = Type.Object(
  { ...lineFields, quantity: Type.Integer({ description: "Units to pick." }) },
  { title: "WorkLine", description: "Units of a product to pick." },
);

export const workPickListField = nullable(
  Type.Object(
    {
      id: idField("pick", "Id of the pick list."),
      takenBy: Type.String({ description: TAKEN_BY_TEXT }),
      expiresAt: dateTime("When others can take the order."),
      box: Type.Integer({
        description:
          "The box that its goods are picked into. The number stays when other orders have shipped.",
      }),
    },
    { title: "WorkPickList", description: "The pick list that an order is on." },
  ),
  "The pick list that the order is on. Null if it is free.",
);

export const toWireWorkPickList = (pickList: WorkItem["pickList"]) =>
  pickList && {
    id: toTypeId("pick", pickList.id),
    takenBy: pickList.takenBy,
    expiresAt: pickList.expiresAt.toISOString(),
    box: pickList.box,
  };

export const PutAsideReasonSchema = enumeration(
  "PutAsideReason",
  PUT_ASIDE_REASONS,
  "Why an order was put aside. `missing`: goods are not there. `damaged`: goods are damaged. `packaging`: nothing to pack it into. `question`: a question about the order. `other`: none of these.",
);

export const PutAsideSchema = Type.Object(
  {
    reason: PutAsideReasonSchema,
    by: Type.String({ description: "Name of the person who put it aside." }),
    at: dateTime("When it was put aside."),
  },
  { title: "PutAside", description: "An order that lies beside a packing table." },
);

export const putAsideField = nullable(
  PutAsideSchema,
  "Why a person could not finish packing it. Null if it was not put aside.",
);

export const toWirePutAside = (putAside: WorkItem["putAside"]) =>
  putAside && { ...putAside, at: putAside.at.toISOString() };

export const WorkSchema = Type.Object(
  {
    orderId: idField("ord", "Id of the order."),
    externalOrderId,
    merchantId: idField("mer", "Id of the merchant whose products are ordered."),
    merchantName: Type.String({ description: "Name of the merchant." }),
    facilityId: nullable(Type.String(), FACILITY_TEXT),
    createdAt,
    shippingAddress,
    note,
    lines: Type.Array(WorkLineSchema, { description: "The lines that have not shipped." }),
    expectedWeightGrams: nullable(Type.Integer(), EXPECTED_WEIGHT),
    pickList: workPickListField,
    putAside: putAsideField,
  },
  { title: "Work", description: "An order that can be shipped now." },
);

export const toWireWork = ({
  order,
  lines,
  pickList,
  putAside,
  merchantName,
}: Work): Static<typeof WorkSchema> => {
  const wire = toWireOrder(order);
  return {
    orderId: wire.id,
    externalOrderId: wire.externalOrderId,
    merchantId: toTypeId("mer", order.merchantId),
    merchantName,
    facilityId: order.facilityId === null ? null : toTypeId("fac", order.facilityId),
    createdAt: wire.createdAt,
    shippingAddress: wire.shippingAddress,
    note: wire.note,
    lines: lines.map((line) => ({ ...toWireLine(line), quantity: line.quantity })),
    expectedWeightGrams: expectedWeight(lines),
    pickList: toWireWorkPickList(pickList),
    putAside: toWirePutAside(putAside),
  };
};

export const EXPORTED_WORK: TableColumns = {
  columns: [
    "orderId",
    "externalOrderId",
    "merchantId",
    "facilityId",
    "createdAt",
    "lineId",
    "productId",
    "sku",
    "productName",
    "quantity",
    ...LABEL_COLUMNS,
    "pickListId",
    "takenBy",
    "note",
  ],
  numbers: ["quantity"],
};

/** One row for each order, as `PARCELS_TO_FILL_IN` has its columns. */
export const toParcelRows = (work: readonly Static<typeof WorkSchema>[]): unknown[][] =>
  work.map(({ orderId, externalOrderId, createdAt, shippingAddress, note }) =>
    [
      ...[orderId, externalOrderId, "", "", "", createdAt],
      ...LABEL_COLUMNS.map((column) => shippingAddress[column]),
      note,
    ].map((cell) => cell ?? ""),
  );

/** One row for each line. */
export const toWorkRows = (work: readonly Static<typeof WorkSchema>[]): unknown[][] =>
  work.flatMap((order) =>
    order.lines.map((line) =>
      [
        order.orderId,
        order.externalOrderId,
        order.merchantId,
        order.facilityId,
        order.createdAt,
        line.id,
        line.productId,
        line.sku,
        line.name,
        line.quantity,
        ...LABEL_COLUMNS.map((column) => order.shippingAddress[column]),
        order.pickList?.id,
        order.pickList?.takenBy,
        order.note,
      ].map((cell) => cell ?? ""),
    ),
  );

export const toCsvWork = (work: readonly Static<typeof WorkSchema>[]): string =>
  [EXPORTED_WORK.columns, ...toWorkRows(work)].map(rawCsvRow).join("");

/** Which orders of the work list are shown. */
export const workFilterFields = {
  facilityId: Type.Optional(Type.String({ description: "Only orders of this facility." })),
  taken: flagField("True: only orders on a pick list. False: only those that are free."),
};

export const PickListSchema = Type.Object(
  {
    id: idField("pick", "Id of the pick list, set by the service."),
    facilityId: nullable(Type.String(), FACILITY_TEXT),
    takenBy: Type.String({ description: TAKEN_BY_TEXT }),
    reference: nullable(Type.String(), "The client's own name of the request. Null if it has none."),
    orderLimit: Type.Integer({ description: "How many orders were requested." }),
    takenAt: dateTime("When the orders were taken."),
    expiresAt: dateTime("When others can take the orders that have not shipped by then."),
    releasedAt: nullableTime("When the orders were given back. Null if they were not."),
  },
  { title: "PickList", description: "Orders that one person has taken. It changes only by its release." },
);

export const toWirePickList = (pickList: PickList): Static<typeof PickListSchema> => ({
  id: toTypeId("pick", pickList.id),
  facilityId: pickList.facilityId === null ? null : toTypeId("fac", pickList.facilityId),
  takenBy: pickList.takenBy,
  reference: pickList.reference,
  orderLimit: pickList.orderLimit,
  takenAt: pickList.takenAt.toISOString(),
  expiresAt: pickList.expiresAt.toISOString(),
  releasedAt: pickList.releasedAt?.toISOString() ?? null,
});

export const PickListWorkSchema = Type.Object(
  {
    pickList: nullable(PickListSchema, "The pick list. Null if no order was free."),
    orders: Type.Array(WorkSchema, { description: "Its orders that can still be shipped, oldest first." }),
  },
  { title: "PickListWork", description: "A pick list with its orders." },
);

/**
 * Orders with their destinations. Who reads them is recorded before they are sent
 * (docs/design/isolation-and-limits.md, "Audit log").
 */
export async function describeWork(
  context: Context,
  by: Initiator,
  items: readonly WorkItem[],
): Promise<Static<typeof WorkSchema>[]> {
  const work = await readWork(context.db, items);
  await recordReads(context, by, { orders: work, testMode: false });
  return work.map(toWireWork);
}
