import { type Role, useHasRole } from "../../api/me.ts";
import type { Grant, GrantRequest } from "../../api/schema.d.ts";
import type { ThingKind } from "../things.ts";

/** What the things of a role are. Null: the role is for everything. */
export const THINGS_OF = {
  operator: null,
  warehouse: "facilities",
  merchant: "merchants",
  partner: "connections",
  support: null,
  monitoring: null,
} as const satisfies Record<Role, ThingKind | null>;

/** The ids of what each chosen role is for. A role that is absent is not chosen. */
export type ChosenRoles = { readonly [Name in Role]?: readonly string[] };

/** All roles, in the order in which they are shown. */
export const ROLES = Object.keys(THINGS_OF) as readonly Role[]; // Its type has exactly these.

/**
 * The roles that the person may give to others. The service decides, and for which things (docs/design/people.md, "Tokens").
 */
export const useGivableRoles = (): readonly Role[] =>
  useHasRole("operator") ? ROLES : ["merchant", "partner"];

/** The things that a role names. Empty: everything. */
export function thingsOf({ role, merchantIds, facilityIds, connectionIds }: Grant): readonly string[] {
  const ids = { merchants: merchantIds, facilities: facilityIds ?? [], connections: connectionIds };
  const kind = THINGS_OF[role];
  return kind === null ? [] : ids[kind];
}

export const toChosen = (grants: readonly Grant[]): ChosenRoles =>
  Object.fromEntries(grants.map((grant) => [grant.role, thingsOf(grant)]));

export const chosenRoles = (chosen: ChosenRoles): readonly Role[] =>
  ROLES.filter((role) => chosen[role] !== undefined);

export const toGrantRequests = (chosen: ChosenRoles): GrantRequest[] =>
  chosenRoles(chosen).map((role) => toGrantRequest(role, chosen[role] ?? []));

export function toGrantRequest(role: Role, ids: readonly string[]): GrantRequest {
  const kind = THINGS_OF[role];
  if (kind === null || ids.length === 0) return { role };
  const things = [...ids];
  switch (kind) {
    case "merchants":
      return { role, merchantIds: things };
    case "facilities":
      return { role, facilityIds: things };
    case "connections":
      return { role, connectionIds: things };
  }
}

/** True if a role needs to name what it is for. The warehouse without facilities is for all of them. */
export const needsThings = (role: Role): boolean => role === "merchant" || role === "partner";
