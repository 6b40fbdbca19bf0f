import { type Static, Type } from "typebox";
import {
  AUDIT_KINDS,
  type AuditEntry,
  type AuditFilter,
  auditRange,
  listAuditEntries,
  readAuditEntry,
  SUBJECT_PREFIXES,
  type SubjectType,
} from "../audit/audit-sql.ts";
import { EXPORTED_ENTRIES_MAX, exportAuditEntries, recordAudit } from "../audit/record-audit.ts";
import { idErrors, idIn } from "../http/route.ts";
import { bytesOf, fromTypeId, parseUuid, toTypeId } from "../platform/ids.ts";
import { rawCsvRow } from "../platform/tables/csv.ts";
import { writeTable } from "../platform/tables/write-table.ts";
import { encodeCursor, pagePosition, UUID_MAX } from "../platform/wire/cursor.ts";
import { isProblem, notFound, type ValidationError, validationFailed } from "../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  enumeration,
  idField,
  limitField,
  nullable,
  pageOf,
} from "../platform/wire/schemas.ts";
import { type BackOfficeRoute, operatorOnly, route } from "./access.ts";
import { ActorSchema, toWireActor } from "./actor-schema.ts";
import { ExportFormatSchema, tableFiles } from "./lookups.ts";

const textFilter = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 255, format: "text", description }));

/** The filters of the audit log: of its list, and of its export. */
const auditFields = {
  merchantId: Type.Optional(Type.String({ description: "Only entries of this merchant." })),
  connectionId: Type.Optional(Type.String({ description: "Only entries of this connection." })),
  actor: textFilter("Only entries of this actor: its name, its kind, or the id of its person or token."),
  action: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 5_000,
      format: "text",
      description:
        "Only entries of this operation, such as `createKey`, or of several with commas between them.",
    }),
  ),
  kind: Type.Optional(
    describedAs(
      enumeration(
        "AuditKind",
        AUDIT_KINDS,
        "`change`: something was changed. `read`: personal data was read, or exported. `sign-in`: a person signed in or out, or failed to.",
      ),
      "Only entries of this kind.",
    ),
  ),
  subjectId: textFilter("Only entries about this id, such as that of an order."),
  from: Type.Optional(dateTime("Only entries at or after this time.")),
  to: Type.Optional(dateTime("Only entries before this time.")),
};

const AuditFields = Type.Object(auditFields);
type AuditFields = Static<typeof AuditFields>;

function auditFilterErrors(query: AuditFields): ValidationError[] {
  const isUnknown = query.subjectId !== undefined && subjectIn(query.subjectId) === null;
  return [
    ...idErrors("mer", "merchantId", query),
    ...idErrors("con", "connectionId", query),
    ...(isUnknown ? [{ parameter: "subjectId", rule: "format" as const, format: "id" as const }] : []),
  ];
}

const toAuditFilter = ({
  merchantId,
  connectionId,
  actor,
  action,
  kind,
  subjectId,
}: AuditFields): AuditFilter => ({
  merchantId: idIn("mer", merchantId),
  connectionId: idIn("con", connectionId),
  actor: actor ?? null,
  actions: action?.split(",") ?? null,
  kind: kind ?? null,
  subjectId: subjectId === undefined ? null : subjectIn(subjectId),
});

const AuditEntrySchema = Type.Object(
  {
    id: idField("aud", "Id of the entry, set by the service."),
    createdAt: dateTime("When the operation took place."),
    action: Type.String({
      description:
        "The operation, by its name in the API, such as `createKey` or `getOrder`. More values may be added.",
      examples: ["createKey"],
    }),
    actor: describedAs(ActorSchema, "Who requested the operation."),
    requestId: nullable(
      Type.String(),
      "`x-request-id` of the request. Null if no request caused the operation.",
    ),
    merchantId: nullable(
      Type.String(),
      "Id of the merchant that the entry belongs to. Null if it belongs to none, such as one about a facility.",
    ),
    connectionId: nullable(Type.String(), "Id of the connection. Null if the operation was not about one."),
    subjectIds: Type.Array(Type.String(), {
      description: "Ids of what was changed, or of the orders that were read.",
    }),
    details: Type.Record(Type.String(), Type.String(), {
      description:
        "What was set, changed or filtered by, as texts. Long ones are cut. Never a key, a secret or an address.",
    }),
  },
  {
    title: "AuditEntry",
    description:
      "A change, or a read of personal data. The service never changes an entry, and deletes it after AUDIT_RETENTION_DAYS.",
  },
);

const wireIdOf = (type: SubjectType, id: string): string => (type === "product" ? id : toTypeId(type, id));

const toWireAuditEntry = (entry: AuditEntry): Static<typeof AuditEntrySchema> => ({
  id: toTypeId("aud", entry.id),
  createdAt: entry.createdAt.toISOString(),
  action: entry.action,
  actor: toWireActor(entry.actor),
  requestId: entry.requestId,
  merchantId: entry.merchantId === null ? null : toTypeId("mer", entry.merchantId),
  connectionId: entry.connectionId === null ? null : toTypeId("con", entry.connectionId),
  subjectIds: entry.subjectIds.map((id) => wireIdOf(entry.subjectType, id)),
  details: { ...entry.details },
});

/** The UUID of something that entries can be about; null if the text is no such id. */
const subjectIn = (text: string): string | null =>
  parseUuid(text) ??
  SUBJECT_PREFIXES.map((prefix) => fromTypeId(prefix, text)).find((id) => id !== null) ??
  null;

const AuditQuery = Type.Object({ limit: limitField, cursor: cursorField, ...auditFields });

export const auditRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/audit-entries",
    operationId: "listAuditEntries",
    admits: operatorOnly,
    tag: "Audit log",
    summary: "List entries of the audit log",
    description:
      "Newest first. A page reads a limited part of the log, so it may be short or empty and still have a `nextCursor`.",
    query: AuditQuery,
    responses: {
      200: { description: "A page of entries.", schema: pageOf(AuditEntrySchema, "AuditEntryPage") },
    },
    problems: ["validation-failed"],
    handle: async ({ query }, { context }) => {
      const errors = auditFilterErrors(query);
      if (errors.length > 0) return validationFailed(errors);
      const position = pagePosition("audit-entries", query, UUID_MAX);
      if (isProblem(position)) return position;
      const filter = toAuditFilter(query);
      const range = auditRange(position, query);
      const { entries, continueBeforeId } = await listAuditEntries(context.db, filter, range);
      const nextCursor =
        continueBeforeId === null ? null : encodeCursor(position.list, bytesOf(continueBeforeId));
      return { status: 200, body: { data: entries.map(toWireAuditEntry), nextCursor } };
    },
  }),
  route({
    method: "GET",
    path: "/api/audit-entries/{id}",
    operationId: "getAuditEntry",
    admits: operatorOnly,
    tag: "Audit log",
    summary: "Get an entry of the audit log",
    params: Type.Object({ id: Type.String({ description: "Id of the entry." }) }),
    responses: { 200: { description: "The entry.", schema: AuditEntrySchema } },
    problems: ["not-found"],
    handle: async ({ params }, { context }) => {
      const id = fromTypeId("aud", params.id);
      const entry = id === null ? null : await readAuditEntry(context.db, id);
      return entry === null ? notFound("audit entry") : { status: 200, body: toWireAuditEntry(entry) };
    },
  }),
];

type WireEntry = Static<typeof AuditEntrySchema>;

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

const toRow = (entry: WireEntry): unknown[] => {
  const { id, createdAt, action, actor, requestId, merchantId, connectionId, subjectIds, details } = entry;
  return [
    ...[id, createdAt, action, actor.kind, actor.name ?? "", actor.id ?? "", requestId ?? ""],
    ...[merchantId ?? "", connectionId ?? "", subjectIds.join(" ")],
    Object.keys(details).length === 0 ? "" : JSON.stringify(details),
  ];
};

/** The last row of a file that does not contain everything. */
const lastRow = (continueBefore: string): unknown[] => [
  ...["not complete", continueBefore],
  ...COLUMNS.slice(2).map(() => ""),
];

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
    needsRecentAuthentication: true,
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
          ...tableFiles(rawCsvRow(COLUMNS)),
          {
            mediaType: "application/x-ndjson",
            example: '{"isComplete":false,"continueBefore":"2026-03-01T09:30:00.000Z"}\n',
          },
        ],
      },
    },
    problems: ["limit-reached", "validation-failed"],
    handle: async ({ caller, query, by }, { bulk }) => {
      const errors = auditFilterErrors(query);
      if (errors.length > 0) return validationFailed(errors);
      const filter = toAuditFilter(query);
      const range = auditRange({ afterId: UUID_MAX, limit: 0 }, query);
      const { format = "csv" } = query;
      return bulk.export(caller, null, async (context) => {
        await recordAudit(context.db, context, by, {
          merchantId: filter.merchantId,
          connectionId: filter.connectionId,
          subject: "mer",
          ids: filter.merchantId === null ? [] : [filter.merchantId],
          details: detailsOf(query),
        });
        const parts = exportAuditEntries(context.db, filter, range);
        if (format !== "ndjson")
          return writeTable(format, "audit", { columns: COLUMNS, numbers: [] }, rowsOf(parts));
        return { parts: textsOf(parts), mediaType: "application/x-ndjson", fileName: "audit.ndjson" };
      });
    },
  }),
];

/** The filters, but for the ids that the entry has elsewhere. */
const detailsOf = ({ actor, action, kind, subjectId, from, to, format }: Static<typeof ExportQuery>) => ({
  actor,
  action,
  kind,
  subjectId,
  from,
  to,
  format,
});

type Parts = ReturnType<typeof exportAuditEntries>;

async function* rowsOf(parts: Parts): AsyncGenerator<unknown[][]> {
  for await (const part of parts) {
    if (part.entries === null) yield [lastRow(part.continueBefore.toISOString())];
    else yield part.entries.map((entry) => toRow(toWireAuditEntry(entry)));
  }
}

async function* textsOf(parts: Parts): AsyncGenerator<string> {
  for await (const part of parts) {
    const objects: object[] =
      part.entries === null
        ? [{ isComplete: false, continueBefore: part.continueBefore.toISOString() }]
        : part.entries.map(toWireAuditEntry);
    yield objects.map((object) => `${JSON.stringify(object)}\n`).join("");
  }
}
