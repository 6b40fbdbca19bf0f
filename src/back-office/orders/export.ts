import { type Static, Type } from "typebox";
import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import { idErrors, idIn } from "../../http/route.ts";
import { OrderStatusSchema } from "../../orders/order-wire.ts";
import type { OrderOwner } from "../../orders/owners-sql.ts";
import {
  csvFormat,
  type ExportFilter,
  type ExportFormat,
  exportOrders,
  isExportable,
  ndjsonFormat,
} from "../../orders/reading/export-orders.ts";
import type { Context } from "../../platform/context.ts";
import { timeIn } from "../../platform/time.ts";
import { notFound, type Problem, validationFailed } from "../../platform/wire/problems.ts";
import { dateTime, describedAs } from "../../platform/wire/schemas.ts";
import { type BackOfficeRoute, operatorAlone, route } from "../access.ts";
import { ExportFormatSchema } from "../lookups.ts";

const ExportQuery = Type.Object({
  merchantId: Type.Optional(Type.String({ description: "Only orders of this merchant." })),
  connectionId: Type.Optional(Type.String({ description: "Only orders of this connection." })),
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

type File = { readonly mediaType: string; readonly format: ExportFormat };
const FILES: Readonly<Record<"csv" | "ndjson", File>> = {
  csv: { mediaType: "text/csv", format: csvFormat },
  ndjson: { mediaType: "application/x-ndjson", format: ndjsonFormat },
};

export const exportRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/orders/export",
    operationId: "exportOrders",
    needsRecentAuthentication: true,
    admits: operatorAlone,
    tag: "Orders",
    summary: "Export orders",
    description:
      "Real orders, connection by connection, the oldest first. Each order is in the state in which it is read. The file is sent while the orders are read: if the connection closes before the end of the response, the file is not complete.",
    isList: true,
    query: ExportQuery,
    responses: {
      200: {
        description: "The orders.",
        file: [
          { mediaType: FILES.csv.mediaType, example: csvFormat.head },
          { mediaType: FILES.ndjson.mediaType, example: '{"id":"ord_01m7y7np16fe68bxp4h91tdmdn"}\n' },
        ],
      },
    },
    problems: ["not-found", "limit-reached", "validation-failed"],
    handle: async ({ caller, query, by }, { bulk }) => {
      const errors = [...idErrors("mer", "merchantId", query), ...idErrors("con", "connectionId", query)];
      if (errors.length > 0) return validationFailed(errors);
      return bulk.export(caller, null, (context) =>
        startExport(context, by, toFilter(query), FILES[query.format ?? "csv"]),
      );
    },
  }),
];

const toFilter = ({ merchantId, connectionId, since, until, status }: ExportQuery): ExportFilter => ({
  merchantId: idIn("mer", merchantId),
  connectionId: idIn("con", connectionId),
  since: timeIn(since),
  until: timeIn(until),
  status: status ?? null,
});

async function startExport(
  context: Context,
  by: Initiator,
  filter: ExportFilter,
  { mediaType, format }: File,
) {
  if (!(await isExportable(context, filter))) return noSuchOwner(filter);
  await recordExport(context, by, filter);
  return { parts: textsOf(context, filter, format), mediaType };
}

const noSuchOwner = ({ merchantId, connectionId }: ExportFilter): Problem =>
  merchantId !== null && connectionId === null ? notFound("merchant") : notFound("connection");

async function* textsOf(context: Context, filter: ExportFilter, { head, write }: ExportFormat) {
  if (head !== "") yield head;
  for await (const exported of exportOrders(context, filter)) yield write(exported);
}

/**
 * An export reads addresses of buyers: one entry before the first of them is written
 * (docs/design/isolation-and-limits.md, "Audit log").
 */
async function recordExport(context: Context, by: Initiator, filter: ExportFilter): Promise<void> {
  const { merchantId, connectionId, since, until, status } = filter;
  const [subject, id] =
    connectionId === null ? (["mer", merchantId] as const) : (["con", connectionId] as const);
  await recordAudit(context.db, context, by, {
    merchantId,
    connectionId,
    subject,
    ids: id === null ? [] : [id],
    details: { since: since ?? undefined, until: until ?? undefined, status: status ?? undefined },
  });
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
    const connections = new Set(own.map(({ connectionId }) => connectionId));
    const [connectionId = null] = connections.size === 1 ? connections : [];
    const subject = testMode ? ("test" as const) : ("ord" as const);
    return { merchantId, connectionId, subject, ids: own.map(({ id }) => id), details };
  });
  await recordAudit(context.db, context, by, ...facts);
}
