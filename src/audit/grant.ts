import { type ConnectionKey, distinctConnections } from "../platform/connection-key.ts";
import { ROLES, type Role } from "./role.ts";
import type { OwnScopes } from "./scope.ts";

export { ROLES, type Role } from "./role.ts";

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

/**
 * A person who has signed in, or a program that has sent a token. One table of access decides for both
 * (docs/design/people.md, "Roles and grants").
 */
export type BackOfficeCaller = {
  readonly type: "person" | "token";
  /** As on the wire: `per_…` or `tok_…`. Null for `OPERATOR_TOKEN` and the command line. */
  readonly id: string | null;
  /** The caller's name in timeline and audit log. */
  readonly name: string;
  /** The caller may do what any one of them allows. */
  readonly grants: readonly Grant[];
  /** What of its role a token may do. Undefined for people, `OPERATOR_TOKEN` and the command line: all of it. */
  readonly scopes?: OwnScopes;
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

/** True if a caller has the rights of a grant, so that it may give them to others. */
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

/** True if a grant names the merchant. */
const hasMerchant = (grants: readonly Grant[], merchantId: string): boolean =>
  grants.some((grant) => grant.role === "merchant" && grant.merchantIds.includes(merchantId));

/** True if a grant names the connection. */
const hasConnection = (
  grants: readonly Grant[],
  { connectionId }: Pick<ConnectionKey, "connectionId">,
): boolean =>
  grants.some(
    (grant) =>
      grant.role === "partner" && grant.connections.some((named) => named.connectionId === connectionId),
  );

/** Whether a grant names the facility, or is for all of them. */
const hasFacility = (grants: readonly Grant[], facilityId: string): boolean =>
  grants.some(
    (grant) =>
      grant.role === "warehouse" && (grant.facilityIds === null || grant.facilityIds.includes(facilityId)),
  );

// What the grants that a route admits let their caller see: all that any one of them shows.
// docs/design/people.md, "Roles and grants", says why a facility separates orders and stock, and not merchants and products.

/** Operator, support and monitoring see all that a route shows. */
const seesAll = (grants: readonly Grant[]): boolean =>
  grants.some(({ role }) => role === "operator" || role === "support" || role === "monitoring");

const isWarehouse = (grants: readonly Grant[]): boolean => grants.some(({ role }) => role === "warehouse");

const isWholeWarehouse = (grants: readonly Grant[]): boolean =>
  grants.some((grant) => grant.role === "warehouse" && grant.facilityIds === null);

const named = <Thing>(grants: readonly Grant[], of: (grant: Grant) => readonly Thing[]): Thing[] => [
  ...new Set(grants.flatMap(of)),
];

const merchantsOf = (grants: readonly Grant[]): string[] =>
  named(grants, (grant) => (grant.role === "merchant" ? grant.merchantIds : []));

const connectionsOf = (grants: readonly Grant[]): ConnectionKey[] =>
  distinctConnections(grants.flatMap((grant) => (grant.role === "partner" ? grant.connections : [])));

const facilitiesOf = (grants: readonly Grant[]): string[] =>
  named(grants, (grant) => (grant.role === "warehouse" ? (grant.facilityIds ?? []) : []));

/** The merchants whose settings, products and connections a caller sees. Null: all of them. */
export const merchantScope = (grants: readonly Grant[]): readonly string[] | null =>
  seesAll(grants) || isWarehouse(grants) ? null : merchantsOf(grants);

/** The merchants all of whose connections are seen, and single connections. A null in its place: all of them. */
export type ConnectionScope = {
  readonly merchantIds: readonly string[];
  readonly connections: readonly ConnectionKey[];
} | null;

/** The connections that a caller sees, with their endpoints and deliveries. Null: all of them. */
export const connectionScope = (grants: readonly Grant[]): ConnectionScope =>
  seesAll(grants) || isWarehouse(grants)
    ? null
    : { merchantIds: merchantsOf(grants), connections: connectionsOf(grants) };

/** A scope as two parameters of a statement: the merchants (null: all), and the single connections. */
export const scopeIds = (scope: ConnectionScope): [readonly string[] | null, readonly string[]] => [
  scope?.merchantIds ?? null,
  scope?.connections.map(({ connectionId }) => connectionId) ?? [],
];

/** The part of a scope that belongs to one merchant. Null: the whole scope. */
export const scopeWithin = (scope: ConnectionScope, merchantId: string | null): ConnectionScope =>
  merchantId === null
    ? scope
    : {
        merchantIds: scope === null || scope.merchantIds.includes(merchantId) ? [merchantId] : [],
        connections: scope?.connections.filter((key) => key.merchantId === merchantId) ?? [],
      };

/** The facilities that a caller sees, with their stock and their work. Null: all of them. */
export const facilityScope = (grants: readonly Grant[]): readonly string[] | null =>
  seesAll(grants) || isWholeWarehouse(grants) ? null : facilitiesOf(grants);

/** The facilities at which a caller sees the stock of a merchant's products: as the merchant, at all of them. Null: all of them. */
export const stockScope = (grants: readonly Grant[], merchantId: string): readonly string[] | null =>
  hasMerchant(grants, merchantId) ? null : facilityScope(grants);

/** An order is seen by its merchant, by its connection, or by the facility that it is routed to. Null: all orders. */
export type OrderScope = {
  readonly merchantIds: readonly string[];
  readonly connections: readonly ConnectionKey[];
  readonly facilityIds: readonly string[];
} | null;

export const orderScope = (grants: readonly Grant[]): OrderScope =>
  seesAll(grants) || isWholeWarehouse(grants)
    ? null
    : {
        merchantIds: merchantsOf(grants),
        connections: connectionsOf(grants),
        facilityIds: facilitiesOf(grants),
      };

/** True if a caller sees a merchant's settings and products. What it may not see is treated as missing. */
export const seesMerchant = (grants: readonly Grant[], merchantId: string): boolean =>
  merchantScope(grants) === null || hasMerchant(grants, merchantId);

/** True if a caller sees a connection, its endpoints and its deliveries. */
export const seesConnection = (grants: readonly Grant[], key: ConnectionKey): boolean =>
  connectionScope(grants) === null || hasMerchant(grants, key.merchantId) || hasConnection(grants, key);

/** The merchants of which a caller sees something: all connections, or one of them. Null: all merchants. */
export function partlySeenMerchants(grants: readonly Grant[]): ReadonlySet<string> | null {
  const scope = connectionScope(grants);
  if (scope === null) return null;
  return new Set([...scope.merchantIds, ...scope.connections.map(({ merchantId }) => merchantId)]);
}

/** True if a caller sees a facility, its stock and its work. */
export const seesFacility = (grants: readonly Grant[], facilityId: string): boolean =>
  facilityScope(grants) === null || hasFacility(grants, facilityId);

/** Whose an order is: what access to it depends on. `facilityId`: null if it is routed nowhere yet. */
export type OrderParties = ConnectionKey & { readonly facilityId: string | null };

/**
 * The role in which a caller sees an order: the one with the most rights of those that show it. It decides what the
 * caller may do with this order, and timelines name it. Null: the order is treated as missing.
 */
export const roleOnOrder = (grants: readonly Grant[], order: OrderParties): Role | null =>
  ROLES.find((role) => grants.some((grant) => grant.role === role && showsOrder(grant, order))) ?? null;

function showsOrder(grant: Grant, order: OrderParties): boolean {
  switch (grant.role) {
    case "operator":
    case "support":
    case "monitoring":
      return true;
    case "warehouse":
      return (
        grant.facilityIds === null ||
        (order.facilityId !== null && grant.facilityIds.includes(order.facilityId))
      );
    case "merchant":
      return grant.merchantIds.includes(order.merchantId);
    case "partner":
      return hasConnection([grant], order);
  }
}
