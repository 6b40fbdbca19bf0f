import type { ConnectionKey } from "../platform/connection-key.ts";

/** What a caller of the back office may be (decisions 0038, 0077 and 0120), the one with the most rights first. */
export const ROLES = ["operator", "warehouse", "merchant", "partner", "support", "monitoring"] as const;
export type Role = (typeof ROLES)[number];

/** Merchants, facilities or connections of one grant. */
export const GRANT_THINGS_MAX = 100;

/** A role, and the data that it is for. */
export type Grant =
  | { readonly role: "operator" | "support" | "monitoring" }
  /** Null: all facilities, also those that open later. */
  | { readonly role: "warehouse"; readonly facilityIds: readonly string[] | null }
  | { readonly role: "merchant"; readonly merchantIds: readonly string[] }
  /** The merchant of a connection never changes. */
  | { readonly role: "partner"; readonly connections: readonly ConnectionKey[] };

/** A person who has signed in, or a program that has sent a token. One table of access decides for both (decision 0120). */
export type BackOfficeCaller = {
  readonly type: "person" | "token";
  /** As on the wire: `per_…` or `tok_…`. Null for `OPERATOR_TOKEN` and the command line. */
  readonly id: string | null;
  /** What timeline and audit log call the caller. */
  readonly name: string;
  /** The caller may do what any one of them allows. */
  readonly grants: readonly Grant[];
  /** The sign-in of a person. Absent: the caller sent a token. */
  readonly session?: PersonSignIn;
};

type PersonSignIn = {
  readonly id: string;
  /** When the person last proved who it is. */
  readonly authenticatedAt: Date;
  /** The mail address of the person. */
  readonly email: string;
};

/** The grants with one of these roles: the ones that count for a route that admits the roles. */
export const grantsWith = (grants: readonly Grant[], roles: readonly string[]): Grant[] =>
  grants.filter(({ role }) => roles.includes(role));

/** The role with the most rights among the grants. Null if there are none. */
export const strongestRole = (grants: readonly Grant[]): Role | null =>
  ROLES.find((role) => grants.some((grant) => grant.role === role)) ?? null;

/** Whether a caller has the rights of a grant, so that it may give them to others. */
export function isWithin(grant: Grant, own: readonly Grant[]): boolean {
  if (own.some(({ role }) => role === "operator")) return true;
  switch (grant.role) {
    case "operator":
    case "support":
    case "monitoring":
      return false; // Only the operator gives what sees everything.
    case "warehouse":
      return isWithinFacilities(grant.facilityIds, own);
    case "merchant":
      return grant.merchantIds.every((id) => hasMerchant(own, id));
    case "partner":
      // A merchant decides who else sees its connections.
      return grant.connections.every((key) => hasMerchant(own, key.merchantId) || hasConnection(own, key));
  }
}

const isWithinFacilities = (facilityIds: readonly string[] | null, own: readonly Grant[]): boolean =>
  facilityIds === null
    ? own.some((grant) => grant.role === "warehouse" && grant.facilityIds === null)
    : facilityIds.every((id) => hasFacility(own, id));

/** Whether a grant names the merchant. */
export const hasMerchant = (grants: readonly Grant[], merchantId: string): boolean =>
  grants.some((grant) => grant.role === "merchant" && grant.merchantIds.includes(merchantId));

/** Whether a grant names the connection. */
export const hasConnection = (
  grants: readonly Grant[],
  { connectionId }: Pick<ConnectionKey, "connectionId">,
): boolean =>
  grants.some(
    (grant) =>
      grant.role === "partner" && grant.connections.some((named) => named.connectionId === connectionId),
  );

/** Whether a grant names the facility, or is for all of them. */
export const hasFacility = (grants: readonly Grant[], facilityId: string): boolean =>
  grants.some(
    (grant) =>
      grant.role === "warehouse" && (grant.facilityIds === null || grant.facilityIds.includes(facilityId)),
  );
