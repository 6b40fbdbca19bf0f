import type { Grant, Role } from "../access/grant.ts";
import { versionOf } from "../platform/wire/content-version.ts";

/** A row of person_grants. */
export type GrantRow = {
  role: Role;
  merchant_ids: string[];
  facility_ids: string[] | null;
  connection_ids: string[];
};

export function toGrant({ role, merchant_ids, facility_ids, connection_ids }: GrantRow): Grant {
  switch (role) {
    case "operator":
    case "support":
    case "monitoring":
      return { role };
    case "warehouse":
      return { role, facilityIds: facility_ids };
    case "merchant":
      return { role, merchantIds: merchant_ids };
    case "partner":
      return {
        role,
        connections: connection_ids.map((connectionId, index) => ({
          merchantId: merchant_ids[index] ?? "", // A constraint: there are as many of both.
          connectionId,
        })),
      };
  }
}

export function toGrantRow(grant: Grant): GrantRow {
  const row = { role: grant.role, merchant_ids: [], facility_ids: null, connection_ids: [] };
  switch (grant.role) {
    case "operator":
    case "support":
    case "monitoring":
      return row;
    case "warehouse":
      return { ...row, facility_ids: grant.facilityIds === null ? null : [...grant.facilityIds] };
    case "merchant":
      return { ...row, merchant_ids: [...grant.merchantIds] };
    case "partner":
      return {
        ...row,
        merchant_ids: grant.connections.map(({ merchantId }) => merchantId),
        connection_ids: grant.connections.map(({ connectionId }) => connectionId),
      };
  }
}

/** As they are read: a person has one of each role at most. */
export const sortedByRole = (grants: readonly Grant[]): Grant[] =>
  grants.toSorted((a, b) => (a.role < b.role ? -1 : 1));

/** The version of a person's grants. Their order does not matter (decision 0208). */
export const grantsVersion = (grants: readonly Grant[]): string =>
  versionOf(grants.map((grant) => JSON.stringify(toGrantRow(grant))).sort());
