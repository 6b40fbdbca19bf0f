import { type Static, Type } from "typebox";
import { type AuditEntry, SUBJECT_PREFIXES, type SubjectType } from "../../../audit/audit-entry.ts";
import { fromTypeId, parseUuid, toTypeId } from "../../../platform/ids.ts";
import { dateTime, describedAs, idField, nullable } from "../../../platform/wire/schemas.ts";
import { ActorSchema, toWireActor } from "../actor-schema.ts";

export const AuditEntrySchema = Type.Object(
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

export const toWireAuditEntry = (entry: AuditEntry): Static<typeof AuditEntrySchema> => ({
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
export const subjectIn = (text: string): string | null =>
  parseUuid(text) ??
  SUBJECT_PREFIXES.map((prefix) => fromTypeId(prefix, text)).find((id) => id !== null) ??
  null;
