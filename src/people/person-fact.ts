import type { Grant } from "../access/grant.ts";
import type { AuditFact } from "../audit/audit-entry.ts";
import { toTypeId } from "../platform/ids.ts";
import type { Person } from "./person.ts";

/**
 * What the audit log contains about a person. An entry about a person of one merchant belongs to that merchant. The address
 * is that of staff, not of a buyer.
 */
export const personFact = (
  { id, name, email, grants }: Pick<Person, "id" | "name" | "email" | "grants">,
  details: Readonly<Record<string, unknown>> = {},
): AuditFact => ({
  merchantId: onlyMerchantOf(grants),
  subject: "per",
  ids: [id],
  details: { name, email, grants: grants.map(grantText), ...details },
});

/** The merchant of all grants. Null if they are of several, or of none. */
function onlyMerchantOf(grants: readonly Grant[]): string | null {
  const merchantIds = new Set(grants.flatMap(merchantsOf));
  const [only = null] = merchantIds.size === 1 ? merchantIds : [];
  return only;
}

/** A null stands for all merchants, or for none. */
function merchantsOf(grant: Grant): readonly (string | null)[] {
  if (grant.role === "merchant") return grant.merchantIds;
  return grant.role === "partner" ? grant.connections.map(({ merchantId }) => merchantId) : [null];
}

function grantText(grant: Grant): string {
  switch (grant.role) {
    case "merchant":
      return `merchant ${grant.merchantIds.map((id) => toTypeId("mer", id)).join(" ")}`;
    case "partner":
      return `partner ${grant.connections.map(({ connectionId }) => toTypeId("con", connectionId)).join(" ")}`;
    case "warehouse":
      return grant.facilityIds === null
        ? grant.role
        : `warehouse ${grant.facilityIds.map((id) => toTypeId("fac", id)).join(" ")}`;
    default:
      return grant.role;
  }
}
