import { type Static, Type } from "typebox";
import { orderScope } from "../../audit/grant.ts";
import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import { idErrors, idIn } from "../../http/route.ts";
import { OrderStatusSchema } from "../../orders/order-wire.ts";
import type { OrderOwner } from "../../orders/owners-sql.ts";
import {
  EXPORTED_LINES,
  type ExportFilter,
  exportOrders,
  toJsonLine,
  toLineRows,
} from "../../orders/reading/export-orders.ts";
import type { Context } from "../../platform/context.ts";
import { toTypeId } from "../../platform/ids.ts";
import { rawCsvRow } from "../../platform/tables/csv.ts";
import { writeTable } from "../../platform/tables/write-table.ts";
import { timeIn } from "../../platform/time.ts";
import { isProblem, notFound, type Problem, validationFailed } from "../../platform/wire/problems.ts";
import { dateTime, describedAs } from "../../platform/wire/schemas.ts";
import { factOfOwner, ownerKind } from "../../webhooks/owner.ts";
import {
  type BackOfficeCaller,
  type BackOfficeRoute,
  everyoneButSupport,
  ownerOf,
  route,
} from "../access.ts";
import { ExportFormatSchema, findConnection, findMerchant, tableFiles } from "../lookups.ts";

const ExportQuery = Type.Object({
  merchantId: Type.Optional(Type.String({ description: "Only orders of this merchant." })),
  connectionId: Type.Optional(Type.String({ description: "Only orders of this connection." })),
  facilityId: Type.Optional(Type.String({ description: "Only orders that this facility ships." })),
  since: Type.Optional(dateTime("Only orders created at or after this time.")),
  until: Type.Optional(dateTime("Only orders created before this time.")),
  status: Type.Optional(describedAs(OrderStatusSchema, "Only orders with this status.")),
  format: Type.Optional(
    describedAs(
      ExportFormatSchema,
      "Form of the file: a row per order line, or an object per order. Default: `csv`.",
    ),
  ),
});
type ExportQuery = Static<typeof ExportQuery>;

export const exportRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/orders/export",
    operationId: "exportOrders",
    needsRecentAuthentication: true,
    admits: everyoneButSupport,
    tag: "Orders",
    summary: "Export orders",
    description:
      "Real orders that the caller sees, connection by connection, the oldest first. A merchant gets its own orders, and staff of named facilities those that are routed to them. Each order is in the state in which it is read. The file is sent while the orders are read: if the connection closes before the end of the response, the file is not complete.",
    isList: true,
    query: ExportQuery,
    responses: {
      200: {
        description: "The orders.",
        file: [
          ...tableFiles(rawCsvRow(EXPORTED_LINES.columns)),
          { mediaType: "application/x-ndjson", example: '{"id":"ord_01m7y7np16fe68bxp4h91tdmdn"}\n' },
        ],
      },
    },
    problems: ["not-found", "limit-reached", "validation-failed"],
    handle: async ({ caller, query, by }, { bulk }) => {
      const errors = [
        ...idErrors("mer", "merchantId", query),
        ...idErrors("con", "connectionId", query),
        ...idErrors("fac", "facilityId", query),
      ];
      if (errors.length > 0) return validationFailed(errors);
      const { merchantId } = ownerOf(caller); // All callers of a merchant share its exports.
      return bulk.export(caller, merchantId, (context) => startExport(context, caller, by, query));
    },
  }),
];

/** The filter that a valid query describes, within what the caller sees. A connection or a merchant that is missing for it is a problem. */
async function toFilter(
  context: Context,
  caller: BackOfficeCaller,
  { merchantId, connectionId, facilityId, since, until, status }: ExportQuery,
): Promise<ExportFilter | Problem> {
  const merchant = merchantId === undefined ? null : await findMerchant(context, caller, merchantId);
  if (merchantId !== undefined && merchant === null)
    return notFound(connectionId === undefined ? "merchant" : "connection");
  const connection = connectionId === undefined ? null : await findConnection(context, caller, connectionId);
  const isMerchants = merchant === null || connection?.merchantId === merchant.id;
  if (connectionId !== undefined && (connection === null || !isMerchants)) return notFound("connection");
  return {
    scope: orderScope(caller.grants),
    merchantId: connection?.merchantId ?? merchant?.id ?? null,
    connectionId: connection?.id ?? null,
    facilityId: idIn("fac", facilityId),
    since: timeIn(since),
    until: timeIn(until),
    status: status ?? null,
  };
}

async function startExport(context: Context, caller: BackOfficeCaller, by: Initiator, query: ExportQuery) {
  const filter = await toFilter(context, caller, query);
  if (isProblem(filter)) return filter;
  const { format = "csv" } = query;
  await recordExport(context, by, filter);
  if (format !== "ndjson") return writeTable(format, "orders", EXPORTED_LINES, rowsOf(context, filter));
  return { parts: textsOf(context, filter), mediaType: "application/x-ndjson", fileName: "orders.ndjson" };
}

async function* rowsOf(context: Context, filter: ExportFilter) {
  for await (const exported of exportOrders(context, filter)) yield toLineRows(exported);
}

async function* textsOf(context: Context, filter: ExportFilter) {
  for await (const exported of exportOrders(context, filter)) yield toJsonLine(exported);
}

/**
 * An export reads addresses of buyers: an entry before the first of them is written, or, for a caller of several merchants that
 * names none, an entry for each (docs/design/isolation-and-limits.md, "Audit log").
 */
async function recordExport(context: Context, by: Initiator, filter: ExportFilter): Promise<void> {
  const { scope, merchantId, connectionId, facilityId, since, until, status } = filter;
  const details = {
    facilityId: facilityId === null ? undefined : toTypeId("fac", facilityId),
    since: since ?? undefined,
    until: until ?? undefined,
    status: status ?? undefined,
  };
  if (connectionId !== null) {
    const fact = { merchantId, connectionId, subject: "con", ids: [connectionId] } as const;
    return recordAudit(context.db, context, by, { ...fact, details });
  }
  const own = scope === null || scope.facilityIds.length > 0 ? [null] : scope.merchantIds;
  const facts = (merchantId === null ? own : [merchantId]).map((id) => ({
    merchantId: id,
    subject: "mer" as const,
    ids: id === null ? [] : [id],
    details,
  }));
  await recordAudit(context.db, context, by, ...facts);
}

type ReadOrders = {
  readonly orders: readonly (Pick<OrderOwner, "merchantId" | "connectionId"> & { readonly id: string })[];
  readonly testMode: boolean;
  /** How they were found. Never a text that was searched for: it may name the buyer. */
  readonly details?: Readonly<Record<string, unknown>>;
};

/**
 * Records who reads which addresses, before they are sent (docs/design/isolation-and-limits.md, "Audit log"): an entry for each
 * merchant of a list. A list without orders leaves none.
 */
export async function recordReads(
  context: Context,
  by: Initiator,
  { orders, testMode, details = {} }: ReadOrders,
): Promise<void> {
  const byMerchant = Map.groupBy(orders, ({ merchantId }) => merchantId);
  const facts = [...byMerchant].map(([merchantId, own]) => {
    const [owner] = own;
    if (owner !== undefined && ownerKind(owner) !== "connection")
      return factOfOwner(owner, { subject: "ord", ids: own.map(({ id }) => id), details });
    const connections = new Set(own.map(({ connectionId }) => connectionId));
    const [connectionId = null] = connections.size === 1 ? connections : [];
    const subject = testMode ? ("test" as const) : ("ord" as const);
    return { merchantId, connectionId, subject, ids: own.map(({ id }) => id), details };
  });
  await recordAudit(context.db, context, by, ...facts);
}
