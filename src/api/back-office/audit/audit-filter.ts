import { type Static, Type } from "typebox";
import type { AuditFilter } from "../../../audit/audit-sql.ts";
import type { ValidationError } from "../../../platform/wire/problems.ts";
import { dateTime } from "../../../platform/wire/schemas.ts";
import { idErrors, idIn } from "../../http/id-parameters.ts";
import { subjectIn } from "./audit-wire.ts";

const textFilter = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 255, format: "text", description }));

/** The filters of the audit log: of its list, and of its export. */
export const auditFields = {
  merchantId: Type.Optional(Type.String({ description: "Only entries of this merchant." })),
  connectionId: Type.Optional(Type.String({ description: "Only entries of this connection." })),
  actor: textFilter("Only entries of this actor: its name, its kind, or the id of its person or token."),
  action: textFilter("Only entries of this operation, such as `createKey`."),
  subjectId: textFilter("Only entries about this id, such as that of an order."),
  from: Type.Optional(dateTime("Only entries at or after this time.")),
  to: Type.Optional(dateTime("Only entries before this time.")),
};

const AuditFields = Type.Object(auditFields);
type AuditFields = Static<typeof AuditFields>;

export function auditFilterErrors(query: AuditFields): ValidationError[] {
  const isUnknown = query.subjectId !== undefined && subjectIn(query.subjectId) === null;
  return [
    ...idErrors("mer", "merchantId", query),
    ...idErrors("con", "connectionId", query),
    ...(isUnknown ? [{ parameter: "subjectId", detail: "is not an id of the service" }] : []),
  ];
}

export const toAuditFilter = ({
  merchantId,
  connectionId,
  actor,
  action,
  subjectId,
}: AuditFields): AuditFilter => ({
  merchantId: idIn("mer", merchantId),
  connectionId: idIn("con", connectionId),
  actor: actor ?? null,
  action: action ?? null,
  subjectId: subjectId === undefined ? null : subjectIn(subjectId),
});
