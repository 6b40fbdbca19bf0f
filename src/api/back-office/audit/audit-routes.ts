import { type Static, Type } from "typebox";
import { auditRange } from "../../../audit/audit-range.ts";
import { listAuditEntries, readAuditEntry } from "../../../audit/audit-sql.ts";
import { bytesOf, fromTypeId } from "../../../platform/ids.ts";
import { encodeCursor, pagePosition, UUID_MAX } from "../../../platform/wire/cursor.ts";
import {
  isProblem,
  notFound,
  type ValidationError,
  validationFailed,
} from "../../../platform/wire/problems.ts";
import { cursorField, dateTime, limitField, pageOf } from "../../../platform/wire/schemas.ts";
import { idErrors, idIn } from "../../http/id-parameters.ts";
import { type BackOfficeRoute, operatorOnly, route } from "../access.ts";
import { AuditEntrySchema, subjectIn, toWireAuditEntry } from "./audit-wire.ts";

const textFilter = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 255, format: "text", description }));

const AuditQuery = Type.Object({
  limit: limitField,
  cursor: cursorField,
  merchantId: Type.Optional(Type.String({ description: "Only entries of this merchant." })),
  connectionId: Type.Optional(Type.String({ description: "Only entries of this connection." })),
  actor: textFilter("Only entries of this actor: its name, its kind, or the id of its token."),
  action: textFilter("Only entries of this operation, such as `createKey`."),
  subjectId: textFilter("Only entries about this id, such as that of an order."),
  from: Type.Optional(dateTime("Only entries at or after this time.")),
  to: Type.Optional(dateTime("Only entries before this time.")),
});
type AuditQuery = Static<typeof AuditQuery>;

function errorsOf(query: AuditQuery): ValidationError[] {
  const isUnknown = query.subjectId !== undefined && subjectIn(query.subjectId) === null;
  return [
    ...idErrors("mer", "merchantId", query),
    ...idErrors("con", "connectionId", query),
    ...(isUnknown ? [{ parameter: "subjectId", detail: "is not an id of the service" }] : []),
  ];
}

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
      const errors = errorsOf(query);
      if (errors.length > 0) return validationFailed(errors);
      const position = pagePosition("audit-entries", query, UUID_MAX);
      if (isProblem(position)) return position;
      const { actor = null, action = null, subjectId } = query;
      const filter = {
        merchantId: idIn("mer", query.merchantId),
        connectionId: idIn("con", query.connectionId),
        actor,
        action,
        subjectId: subjectId === undefined ? null : subjectIn(subjectId),
      };
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
