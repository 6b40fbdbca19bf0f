import type { AuditFact } from "../audit/audit-entry.ts";
import { toTypeId } from "../platform/ids.ts";
import type { Token } from "./token.ts";

/** What the audit log contains about a token. An entry about a token of one merchant belongs to that merchant. */
export const tokenFact = (
  { id, name, role, merchantIds, prefix, expiresAt }: Token,
  details: Readonly<Record<string, unknown>> = {},
): AuditFact => ({
  merchantId: merchantIds.length === 1 ? (merchantIds[0] ?? null) : null,
  subject: "tok",
  ids: [id],
  details: {
    name,
    role,
    prefix,
    expiresAt: expiresAt ?? "never",
    ...(merchantIds.length > 0 && { merchantIds: merchantIds.map((merchant) => toTypeId("mer", merchant)) }),
    ...details,
  },
});
