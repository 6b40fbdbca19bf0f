import type { Grant } from "../access/grant.ts";
import type { AuditFact } from "../audit/audit-entry.ts";
import { toTypeId } from "../platform/ids.ts";
import { merchantsOfGrant, type Token } from "./token.ts";

/** What the audit log contains about a token. An entry about a token of one merchant belongs to that merchant. */
export const tokenFact = (
  { id, name, grant, prefix, expiresAt }: Token,
  details: Readonly<Record<string, unknown>> = {},
): AuditFact => {
  const merchantIds = merchantsOfGrant(grant);
  return {
    merchantId: merchantIds.length === 1 ? (merchantIds[0] ?? null) : null,
    subject: "tok",
    ids: [id],
    details: {
      name,
      role: grant.role,
      prefix,
      expiresAt: expiresAt ?? "never",
      ...thingsOf(grant),
      ...details,
    },
  };
};

/** What the role is for, as on the wire. */
function thingsOf(grant: Grant): Readonly<Record<string, readonly string[]>> {
  if (grant.role === "merchant") return { merchantIds: grant.merchantIds.map((id) => toTypeId("mer", id)) };
  if (grant.role === "warehouse" && grant.facilityIds !== null)
    return { facilityIds: grant.facilityIds.map((id) => toTypeId("fac", id)) };
  return grant.role === "partner"
    ? { connectionIds: grant.connections.map(({ connectionId }) => toTypeId("con", connectionId)) }
    : {};
}
