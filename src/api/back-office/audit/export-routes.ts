import { Readable } from "node:stream";
import { type Static, Type } from "typebox";
import { auditRange } from "../../../audit/audit-range.ts";
import { EXPORTED_ENTRIES_MAX, exportAuditEntries } from "../../../audit/export-audit-entries.ts";
import { recordAudit } from "../../../audit/record-audit.ts";
import { csvRow } from "../../../platform/wire/csv.ts";
import { UUID_MAX } from "../../../platform/wire/cursor.ts";
import { validationFailed } from "../../../platform/wire/problems.ts";
import { describedAs } from "../../../platform/wire/schemas.ts";
import { type BackOfficeRoute, operatorOnly, route } from "../access.ts";
import { ExportFormatSchema } from "../export-format.ts";
import { auditFields, auditFilterErrors, toAuditFilter } from "./audit-filter.ts";
import { type AuditEntrySchema, toWireAuditEntry } from "./audit-wire.ts";

type WireEntry = Static<typeof AuditEntrySchema>;

/** A form of the file. `last` ends a file that does not contain everything. */
type Format = {
  readonly mediaType: string;
  readonly head: string;
  row(entry: WireEntry): string;
  last(continueBefore: string): string;
};

const COLUMNS = [
  "id",
  "createdAt",
  "action",
  "actorKind",
  "actorName",
  "actorId",
  "requestId",
  "merchantId",
  "connectionId",
  "subjectIds",
  "details",
];

const FORMATS: Readonly<Record<"csv" | "ndjson", Format>> = {
  csv: {
    mediaType: "text/csv",
    head: csvRow(COLUMNS),
    row: ({ id, createdAt, action, actor, requestId, merchantId, connectionId, subjectIds, details }) =>
      csvRow([
        id,
        createdAt,
        action,
        actor.kind,
        actor.name ?? "",
        actor.id ?? "",
        requestId ?? "",
        merchantId ?? "",
        connectionId ?? "",
        subjectIds.join(" "),
        Object.keys(details).length === 0 ? "" : JSON.stringify(details),
      ]),
    last: (continueBefore) => csvRow(["not complete", continueBefore, ...COLUMNS.slice(2).map(() => "")]),
  },
  ndjson: {
    mediaType: "application/x-ndjson",
    head: "",
    row: (entry) => `${JSON.stringify(entry)}\n`,
    last: (continueBefore) => `${JSON.stringify({ isComplete: false, continueBefore })}\n`,
  },
};

const ExportQuery = Type.Object({
  ...auditFields,
  format: Type.Optional(
    describedAs(
      ExportFormatSchema,
      "Form of the file: a row per entry, or an object per entry, as the list has it. Default: `csv`.",
    ),
  ),
});

export const auditExportRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/audit-entries/export",
    operationId: "exportAuditEntries",
    admits: operatorOnly,
    tag: "Audit log",
    summary: "Export entries of the audit log",
    description: `Newest first, with the filters of the list. The file is sent while the log is read. It has at most ${EXPORTED_ENTRIES_MAX.toLocaleString("en-US")} entries: if there are more, its last row says that it is not complete, and with which \`to\` the next file continues. The export itself is recorded.`,
    isList: true,
    query: ExportQuery,
    responses: {
      200: {
        description: "The entries.",
        file: [
          { mediaType: FORMATS.csv.mediaType, example: FORMATS.csv.head },
          {
            mediaType: FORMATS.ndjson.mediaType,
            example: '{"isComplete":false,"continueBefore":"2026-03-01T09:30:00.000Z"}\n',
          },
        ],
      },
    },
    problems: ["validation-failed"],
    handle: async ({ query, by }, { context }) => {
      const errors = auditFilterErrors(query);
      if (errors.length > 0) return validationFailed(errors);
      const filter = toAuditFilter(query);
      const range = auditRange({ afterId: UUID_MAX, limit: 0 }, query);
      const format = FORMATS[query.format ?? "csv"];
      await recordAudit(context.db, context, by, {
        merchantId: filter.merchantId,
        connectionId: filter.connectionId,
        subject: "mer",
        ids: filter.merchantId === null ? [] : [filter.merchantId],
        details: detailsOf(query),
      });
      return {
        status: 200,
        body: Readable.from(textsOf(exportAuditEntries(context.db, filter, range), format)),
        headers: { "content-type": `${format.mediaType}; charset=utf-8` },
      };
    },
  }),
];

/** The filters, but for the ids that the entry has elsewhere. */
const detailsOf = ({ actor, action, subjectId, from, to, format }: Static<typeof ExportQuery>) => ({
  actor,
  action,
  subjectId,
  from,
  to,
  format,
});

async function* textsOf(parts: ReturnType<typeof exportAuditEntries>, { head, row, last }: Format) {
  if (head !== "") yield head;
  for await (const part of parts) {
    if (part.entries === null) yield last(part.continueBefore.toISOString());
    else yield part.entries.map((entry) => row(toWireAuditEntry(entry))).join("");
  }
}
