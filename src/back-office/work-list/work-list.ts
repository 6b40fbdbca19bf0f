import { Type } from "typebox";
import type { Initiator } from "../../audit/record-audit.ts";
import { PARCELS_TO_FILL_IN } from "../../fulfilment/import-tracking.ts";
import { putAside, releasePickList, takePickList, takeUp } from "../../fulfilment/pick-lists.ts";
import {
  listPickLists,
  PICK_LIST_ORDERS_MAX,
  type PickList,
  readPickList,
} from "../../fulfilment/pick-lists-sql.ts";
import { exportWork, readWork } from "../../fulfilment/work-list.ts";
import { listPickListWork, listWork, type WorkFilter } from "../../fulfilment/work-list-sql.ts";
import { idErrors, idIn, type RouteResponse } from "../../http/route.ts";
import type { Context } from "../../platform/context.ts";
import { fromTypeId } from "../../platform/ids.ts";
import { rawCsvRow } from "../../platform/tables/csv.ts";
import { writeTable } from "../../platform/tables/write-table.ts";
import { MINUTE_MS } from "../../platform/time.ts";
import { pagePosition, toPage, UUID_MAX } from "../../platform/wire/cursor.ts";
import { isProblem, notFound, validationFailed } from "../../platform/wire/problems.ts";
import {
  cursorField,
  describedAs,
  enumeration,
  flagField,
  limitField,
  pageOf,
} from "../../platform/wire/schemas.ts";
import {
  type BackOfficeCaller,
  type BackOfficeRoute,
  facilitiesOf,
  maySeeFacility,
  route,
  shownFacilities,
  warehouse,
  warehouseButSupport,
} from "../access.ts";
import { findFacility, tableFiles, tableFormatField } from "../lookups.ts";
import { findOwner, OrderIdParams } from "../orders/find-order.ts";
import {
  describeWork,
  EXPORTED_WORK,
  PickListSchema,
  PickListWorkSchema,
  PutAsideReasonSchema,
  PutAsideSchema,
  toCsvWork,
  toParcelRows,
  toWirePickList,
  toWireWork,
  toWorkRows,
  WorkSchema,
  workFilterFields,
} from "./work-wire.ts";

export const PickListIdParams = Type.Object({ id: Type.String({ description: "Id of the pick list." }) });

/** Null for a missing pick list, and for one of a facility that the caller may not see. */
export async function findPickList(
  { db }: Context,
  caller: BackOfficeCaller,
  text: string,
): Promise<PickList | null> {
  const id = fromTypeId("pick", text);
  const pickList = id === null ? null : await readPickList(db, id);
  if (pickList === null || facilitiesOf(caller) === null) return pickList;
  return pickList.facilityId !== null && maySeeFacility(caller, pickList.facilityId) ? pickList : null;
}

const LEASE_MINUTES_DEFAULT = 60;
const LEASE_MINUTES_MAX = 720;
const ORDERS_DEFAULT = 10;

const CSV_HEADERS = { "content-type": "text/csv; charset=utf-8" };
const CSV_FILE = { mediaType: "text/csv", example: "orderId,sku,productName,quantity\r\n" };

const PickListFormatSchema = enumeration(
  "PickListFormat",
  ["json", "csv"],
  "`json`: as described. `csv`: one row for each line.",
);
const formatField = Type.Optional(
  describedAs(PickListFormatSchema, "Format of the response. Default: `json`."),
);

const TakeSchema = Type.Object(
  {
    facilityId: Type.Optional(
      Type.String({
        maxLength: 255,
        format: "text",
        description:
          "The facility whose orders are taken. Absent: orders without a facility, if there are no facilities.",
        examples: ["fac_01m7y7np16fe68bxp4h91tdmdn"],
      }),
    ),
    takenBy: Type.String({
      minLength: 1,
      maxLength: 100,
      format: "text",
      description: "The person or the station that takes the orders.",
      examples: ["Wilma, table 3"],
    }),
    orderLimit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: PICK_LIST_ORDERS_MAX,
        default: ORDERS_DEFAULT,
        description: "Maximum number of orders.",
      }),
    ),
    leaseMinutes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LEASE_MINUTES_MAX,
        default: LEASE_MINUTES_DEFAULT,
        description: "After how many minutes others can take the orders that have not shipped.",
      }),
    ),
    reference: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        format: "text",
        description:
          "The client's own name of the request, unique for the person. A request that repeats it returns the same pick list, so that a retry is safe.",
      }),
    ),
  },
  { title: "PickListRequest", description: "Orders to take from the work list." },
);

export const workListRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/work-list",
    operationId: "listWork",
    admits: warehouse,
    tag: "Work list",
    summary: "List the orders to pick and ship",
    description:
      "Orders that can be shipped now, the oldest first, with the SKU, name, quantity and destination of every line that has not shipped. A page may be short and still have a `nextCursor`.",
    isList: true,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      ...workFilterFields,
    }),
    responses: { 200: { description: "A page, oldest first.", schema: pageOf(WorkSchema, "WorkPage") } },
    problems: ["validation-failed"],
    handle: async ({ caller, query, by }, { context }) => {
      const position = pagePosition("work", query);
      if (isProblem(position)) return position;
      const errors = idErrors("fac", "facilityId", query);
      if (errors.length > 0) return validationFailed(errors);
      const facilityIds = shownFacilities(caller, idIn("fac", query.facilityId));
      const filter = { facilityIds, taken: query.taken ?? null };
      const { items, readTo } = await listWork(context.db, filter, position, context.clock.now());
      const { data: shown, nextCursor } = toPage(items, position, (item) => item, readTo);
      const work = await describeWork(context, by, shown);
      return { status: 200, body: { data: work, nextCursor } };
    },
  }),
  route({
    method: "POST",
    path: "/api/pick-lists",
    operationId: "takePickList",
    admits: warehouse,
    tag: "Work list",
    summary: "Take the oldest orders of the work list",
    description:
      "Takes orders that are free, for a limited time. Two people never get the same order at the same time. A pick list is no condition for shipping.",
    body: TakeSchema,
    responses: {
      200: {
        description: "The reference was used before, or no order is free and `pickList` is null.",
        schema: PickListWorkSchema,
      },
      201: { description: "The orders were taken.", schema: PickListWorkSchema },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, by, body }, { context }) => {
      const { takenBy, reference = null, orderLimit = ORDERS_DEFAULT } = body;
      const facility =
        body.facilityId === undefined ? null : await findFacility(context, caller, body.facilityId);
      if (body.facilityId !== undefined && facility === null)
        return validationFailed([{ pointer: "/facilityId", rule: "not_found", kind: "facility" }]);
      if (facility === null && facilitiesOf(caller) !== null)
        return validationFailed([{ pointer: "/facilityId", rule: "own_facility" }]);
      const leaseMs = (body.leaseMinutes ?? LEASE_MINUTES_DEFAULT) * MINUTE_MS;
      const request = { facilityId: facility?.id ?? null, takenBy, reference, orderLimit, leaseMs };
      const taken = await takePickList(context, request, by);
      switch (taken.outcome) {
        case "taken":
          return taken.replayed
            ? describePickList(context, by, taken.pickList)
            : describeNew(context, taken.pickList);
        case "nothing":
          return { status: 200, body: { pickList: null, orders: [] } };
        case "reference-taken":
          return validationFailed([{ pointer: "/reference", rule: "reference_used", usedFor: "pick_list" }]);
        default:
          return taken satisfies never;
      }
    },
  }),
  route({
    method: "GET",
    path: "/api/pick-lists",
    operationId: "listPickLists",
    admits: warehouse,
    tag: "Work list",
    summary: "List pick lists",
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      facilityId: Type.Optional(Type.String({ description: "Only pick lists of this facility." })),
      open: flagField("True: only those that have not expired and were not released. False: only others."),
    }),
    responses: {
      200: { description: "A page, newest first.", schema: pageOf(PickListSchema, "PickListPage") },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const position = pagePosition("pick-lists", query, UUID_MAX);
      if (isProblem(position)) return position;
      const errors = idErrors("fac", "facilityId", query);
      if (errors.length > 0) return validationFailed(errors);
      const facilityIds = shownFacilities(caller, idIn("fac", query.facilityId));
      const filter = { facilityIds, open: query.open ?? null };
      const lists = await listPickLists(context.db, filter, position, context.clock.now());
      return { status: 200, body: toPage(lists, position, toWirePickList) };
    },
  }),
  route({
    method: "GET",
    path: "/api/pick-lists/{id}",
    operationId: "getPickList",
    admits: warehouse,
    tag: "Work list",
    summary: "Get a pick list with its orders",
    params: PickListIdParams,
    query: Type.Object({ format: formatField }),
    responses: { 200: { description: "The pick list.", schema: PickListWorkSchema, file: CSV_FILE } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query, by }, { context }) => {
      const pickList = await findPickList(context, caller, params.id);
      if (pickList === null) return notFound("pick list");
      return describePickList(context, by, pickList, query.format);
    },
  }),
  route({
    method: "POST",
    path: "/api/pick-lists/{id}/release",
    operationId: "releasePickList",
    admits: warehouse,
    tag: "Work list",
    summary: "Release a pick list",
    description:
      "Gives the orders that have not shipped back to the work list. Repeating the request has no further effect.",
    params: PickListIdParams,
    responses: { 200: { description: "The released pick list.", schema: PickListSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const pickList = await findPickList(context, caller, params.id);
      if (pickList === null) return notFound("pick list");
      return { status: 200, body: toWirePickList(await releasePickList(context, pickList, by)) };
    },
  }),
];

async function describePickList(
  context: Context,
  by: Initiator,
  pickList: PickList,
  format: "json" | "csv" = "json",
): Promise<RouteResponse> {
  const now = context.clock.now();
  const items = pickList.releasedAt === null ? await listPickListWork(context.db, pickList.id, now) : [];
  const orders = await describeWork(context, by, items);
  return format === "csv"
    ? { status: 200, body: toCsvWork(orders), headers: CSV_HEADERS }
    : { status: 200, body: { pickList: toWirePickList(pickList), orders } };
}

/** What was just taken. The operation has recorded who reads it. */
async function describeNew({ db, clock }: Context, pickList: PickList): Promise<RouteResponse> {
  const work = await readWork(db, await listPickListWork(db, pickList.id, clock.now()));
  return { status: 201, body: { pickList: toWirePickList(pickList), orders: work.map(toWireWork) } };
}

const PutAsideRequestSchema = Type.Object(
  { reason: PutAsideReasonSchema },
  { title: "PutAsideRequest", description: "Why an order is put aside." },
);

export const putAsideRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/orders/{id}/put-aside",
    operationId: "putOrderAside",
    admits: warehouse,
    tag: "Work list",
    summary: "Put an order aside",
    description:
      "Marks an order that a person could not finish packing. It stays on the work list, and can ship; new pick lists leave it out until it is taken up again. Repeated, it changes the reason. A mark ends after 30 days.",
    params: OrderIdParams,
    body: PutAsideRequestSchema,
    responses: { 200: { description: "The order was put aside.", schema: PutAsideSchema } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, body, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null || found.testMode) return notFound("order");
      const mark = await putAside(context, found, body.reason, by);
      return { status: 200, body: { ...mark, at: mark.at.toISOString() } };
    },
  }),
  route({
    method: "POST",
    path: "/api/orders/{id}/take-up",
    operationId: "takeOrderUp",
    admits: warehouse,
    tag: "Work list",
    summary: "Take up an order that was put aside",
    description: "Removes the mark. Repeating the request has no further effect.",
    params: OrderIdParams,
    responses: { 204: { description: "The order is not put aside." } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null || found.testMode) return notFound("order");
      await takeUp(context, found, by);
      return { status: 204 };
    },
  }),
];

const WORK_FILES = {
  lines: { name: "work-list", columns: EXPORTED_WORK, toRows: toWorkRows },
  parcels: { name: "parcels", columns: PARCELS_TO_FILL_IN, toRows: toParcelRows },
} as const;

const rowsField = Type.Optional(
  describedAs(
    enumeration(
      "WorkFileRows",
      ["lines", "parcels"],
      "`lines`: a row for each line. `parcels`: a row for each order, with empty cells for its parcel, which an import of shipments reads when they are filled in.",
    ),
    "What a row is about. Default: `lines`.",
  ),
);

export const workExportRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/work-list/export",
    operationId: "exportWork",
    needsRecentAuthentication: true,
    admits: warehouseButSupport,
    tag: "Work list",
    summary: "Export the orders to pick and ship",
    description:
      "All orders that the filters of the list match, the oldest first, as one file. Each order is in the state in which it is read. The file is sent while the orders are read: if the connection closes before the end of the response, the file is not complete.",
    isList: true,
    query: Type.Object({ ...workFilterFields, rows: rowsField, format: tableFormatField }),
    responses: {
      200: { description: "The orders.", file: tableFiles(rawCsvRow(EXPORTED_WORK.columns)) },
    },
    problems: ["limit-reached", "validation-failed"],
    handle: async ({ caller, query, by }, { bulk }) => {
      const errors = idErrors("fac", "facilityId", query);
      if (errors.length > 0) return validationFailed(errors);
      const facilityIds = shownFacilities(caller, idIn("fac", query.facilityId));
      const filter = { facilityIds, taken: query.taken ?? null };
      const { rows = "lines", format = "csv" } = query;
      const { name, columns, toRows } = WORK_FILES[rows];
      return bulk.export(caller, null, async (context) =>
        writeTable(format, name, columns, rowsOf(context, by, filter, toRows)),
      );
    },
  }),
];

async function* rowsOf(context: Context, by: Initiator, filter: WorkFilter, toRows: typeof toWorkRows) {
  for await (const items of exportWork(context.db, filter, context.clock.now()))
    yield toRows(await describeWork(context, by, items));
}
