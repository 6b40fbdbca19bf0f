import { Type } from "typebox";
import { auditRange } from "../../../audit/audit-range.ts";
import { listAuditEntries, readAuditEntry } from "../../../audit/audit-sql.ts";
import { bytesOf, fromTypeId } from "../../../platform/ids.ts";
import { encodeCursor, pagePosition, UUID_MAX } from "../../../platform/wire/cursor.ts";
import { isProblem, notFound, validationFailed } from "../../../platform/wire/problems.ts";
import { cursorField, limitField, pageOf } from "../../../platform/wire/schemas.ts";
import { type BackOfficeRoute, operatorOnly, route } from "../access.ts";
import { auditFields, auditFilterErrors, toAuditFilter } from "./audit-filter.ts";
import { AuditEntrySchema, toWireAuditEntry } from "./audit-wire.ts";

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
