import type { Problem } from "../platform/wire/problems.ts";
import type { Role } from "./role.ts";

/**
 * The scopes of tokens: what of its role a token may do (docs/design/people.md, "Scopes of tokens"). Each route of the back office
 * belongs to one. `roles` are those that a route of the scope admits; the others cannot have it.
 */
const TABLE = {
  "orders:read": {
    about: "orders, their shipments and their exports",
    roles: ["operator", "warehouse", "merchant", "partner", "support"],
  },
  "orders:write": {
    about: "review, hold, cancel and correct orders, add notes, and erase personal data",
    roles: ["operator", "warehouse", "merchant"],
  },
  "fulfilment:read": {
    about: "the work list, pick lists and packing slips",
    roles: ["operator", "warehouse", "support"],
  },
  "fulfilment:write": {
    about: "pick, ship and complete orders, and record returns",
    roles: ["operator", "warehouse"],
  },
  "catalog:read": {
    about: "products, and which connections they are exposed to",
    roles: ["operator", "warehouse", "merchant", "partner", "support", "monitoring"],
  },
  "catalog:write": {
    about: "create, change, import, expose and withdraw products",
    roles: ["operator", "merchant"],
  },
  "stock:read": {
    about: "stock and its movements",
    roles: ["operator", "warehouse", "merchant", "support", "monitoring"],
  },
  "stock:write": { about: "count and adjust stock", roles: ["operator", "warehouse"] },
  "facilities:read": {
    about: "facilities and shipping rates",
    roles: ["operator", "warehouse", "support", "monitoring"],
  },
  "facilities:write": { about: "change facilities and shipping rates", roles: ["operator", "warehouse"] },
  "merchants:read": {
    about: "merchants and their settings",
    roles: ["operator", "warehouse", "merchant", "support", "monitoring"],
  },
  "merchants:write": { about: "create and change merchants", roles: ["operator"] },
  "money:read": {
    about: "accounts, charges and statements",
    roles: ["operator", "merchant", "support", "monitoring"],
  },
  "money:write": { about: "record payments, refund, and change how a merchant pays", roles: ["operator"] },
  "connections:read": {
    about: "connections and their use of limits",
    roles: ["operator", "warehouse", "merchant", "partner", "support", "monitoring"],
  },
  "connections:write": { about: "create and change connections", roles: ["operator", "merchant"] },
  "keys:read": {
    about: "API keys, without the keys themselves",
    roles: ["operator", "merchant", "partner", "support"],
  },
  "keys:write": { about: "issue, rotate and revoke API keys", roles: ["operator", "merchant", "partner"] },
  "endpoints:read": {
    about: "webhook endpoints and their health",
    roles: ["operator", "warehouse", "merchant", "partner", "support", "monitoring"],
  },
  "endpoints:write": {
    about: "create, change and delete webhook endpoints, and rotate their secrets",
    roles: ["operator", "warehouse", "merchant", "partner"],
  },
  "deliveries:read": {
    about: "events and their deliveries",
    roles: ["operator", "warehouse", "merchant", "partner", "support"],
  },
  "deliveries:write": {
    about: "send deliveries again, and pause, resume and ping endpoints",
    roles: ["operator", "warehouse", "merchant", "partner"],
  },
  "test-orders:read": { about: "test orders", roles: ["operator", "merchant", "partner", "support"] },
  "test-orders:write": {
    about: "create and change test orders",
    roles: ["operator", "merchant", "partner"],
  },
  "overview:read": {
    about: "figures, search and live updates, over all that the role shows",
    roles: ["operator", "warehouse", "merchant", "partner", "support"],
  },
  "changes:read": {
    about: "what has changed, of all that the other scopes of the token can read",
    roles: ["operator", "warehouse", "merchant", "support"],
  },
  "views:read": {
    about: "saved views of the program itself",
    roles: ["operator", "warehouse", "merchant", "partner", "support"],
  },
  "views:write": {
    about: "save and delete views of the program itself",
    roles: ["operator", "warehouse", "merchant", "partner", "support"],
  },
  "audit:read": { about: "the audit log", roles: ["operator", "support"] },
  "system:read": {
    about: "the state and the settings of the service",
    roles: ["operator", "support", "monitoring"],
  },
  "people:read": { about: "people and their sessions", roles: ["operator", "merchant", "support"] },
  "people:write": { about: "invite people, and change what they may do", roles: ["operator", "merchant"] },
  "tokens:read": {
    about: "tokens, without the tokens themselves",
    roles: ["operator", "merchant", "support"],
  },
  "tokens:write": { about: "create, rotate and revoke tokens", roles: ["operator", "merchant"] },
} as const satisfies Record<string, { readonly about: string; readonly roles: readonly Role[] }>;

export type Scope = keyof typeof TABLE;
export const SCOPES = Object.keys(TABLE) as readonly Scope[]; // The keys of the record.

/** A route with `every-token` asks for no scope: with it, a program looks at its own token. */
export type RouteScope = Scope | "every-token";

/** What a scope is for, after "read" for one that reads. */
export const aboutScope = (scope: Scope): string =>
  isReading(scope) ? `read ${TABLE[scope].about}` : TABLE[scope].about;

/**
 * What a token can do only if its creator has named the scope: they issue credentials, or move money. A person proves for these who it
 * is, and a program that does not need them loses nothing.
 */
export const NAMED_ONLY: readonly Scope[] = [
  "keys:write",
  "endpoints:write",
  "tokens:write",
  "people:write",
  "money:write",
  "merchants:write",
];

const isReading = (scope: Scope): boolean => scope.endsWith(":read");

/** The scopes that a token with a role can have. */
export const scopesOfRole = (role: Role): readonly Scope[] =>
  SCOPES.filter((scope) => (TABLE[scope].roles as readonly Role[]).includes(role));

/** Short names of several scopes, and those of a role that each means. They are resolved when the token is created. */
export const SCOPE_SETS = ["*", "*:read"] as const;
export type NamedScope = Scope | (typeof SCOPE_SETS)[number];

/** The scopes that a request names for a role, each once. Undefined: all but those that must be named. */
export function namedScopes(role: Role, named: readonly NamedScope[] | undefined): readonly Scope[] {
  const possible = scopesOfRole(role);
  if (named === undefined) return possible.filter((scope) => !NAMED_ONLY.includes(scope));
  return SCOPES.filter(
    (scope) =>
      named.includes(scope) ||
      (possible.includes(scope) && (named.includes("*") || (named.includes("*:read") && isReading(scope)))),
  );
}

/** Scopes of a caller. Undefined: it has all of its roles. */
export type OwnScopes = readonly Scope[] | undefined;

/** True if a caller may use the routes of a scope. */
export const hasScope = (own: OwnScopes, scope: RouteScope): boolean =>
  own === undefined || scope === "every-token" || own.includes(scope);

/** The first of these scopes that a caller lacks. Null: it has them all. */
export const lackedScope = (own: OwnScopes, scopes: readonly Scope[]): Scope | null =>
  scopes.find((scope) => !hasScope(own, scope)) ?? null;

/** 403: the token may do less than its role. */
export const scopeRequired = (scope: Scope, detail = `This token lacks the scope ${scope}.`): Problem => ({
  code: "scope-required",
  detail: `${detail} The scopes of a token never change: use another token, or create one with this scope.`,
  members: { scope },
});
