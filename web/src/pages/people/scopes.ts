import type { Grant, NamedScope, Scope } from "../../api/schema.d.ts";

type Role = Grant["role"];

const ALL = ["operator", "warehouse", "merchant", "partner", "support"] as const;
const PARTNERS = ["operator", "merchant", "partner"] as const;
const FACILITIES = ["operator", "warehouse", "support", "monitoring"] as const;

/**
 * Which roles can have which scope. The rule is the service's (`src/audit/scope.ts`), and
 * `test/unit/console/scopes.test.ts` compares the two.
 */
const ROLES_OF = {
  "orders:read": ALL,
  "orders:write": ["operator", "warehouse", "merchant"],
  "fulfilment:read": ["operator", "warehouse", "support"],
  "fulfilment:write": ["operator", "warehouse"],
  "catalog:read": [...ALL, "monitoring"],
  "catalog:write": ["operator", "merchant"],
  "stock:read": ["operator", "warehouse", "merchant", "support", "monitoring"],
  "stock:write": ["operator", "warehouse"],
  "facilities:read": FACILITIES,
  "facilities:write": ["operator", "warehouse"],
  "merchants:read": ["operator", "warehouse", "merchant", "support", "monitoring"],
  "merchants:write": ["operator"],
  "money:read": ["operator", "merchant", "support", "monitoring"],
  "money:write": ["operator"],
  "connections:read": [...ALL, "monitoring"],
  "connections:write": ["operator", "merchant"],
  "keys:read": [...PARTNERS, "support"],
  "keys:write": PARTNERS,
  "endpoints:read": [...ALL, "monitoring"],
  "endpoints:write": [...PARTNERS, "warehouse"],
  "deliveries:read": ALL,
  "deliveries:write": [...PARTNERS, "warehouse"],
  "test-orders:read": [...PARTNERS, "support"],
  "test-orders:write": PARTNERS,
  "overview:read": ALL,
  "changes:read": ["operator", "warehouse", "merchant", "support"],
  "views:read": ALL,
  "views:write": ALL,
  "audit:read": ["operator", "support"],
  "system:read": ["operator", "support", "monitoring"],
  "people:read": ["operator", "merchant", "support"],
  "people:write": ["operator", "merchant"],
  "tokens:read": ["operator", "merchant", "support"],
  "tokens:write": ["operator", "merchant"],
} as const satisfies Record<Scope, readonly Role[]>;

const SCOPES = Object.keys(ROLES_OF) as readonly Scope[]; // Its type has exactly these.

/** Those that issue credentials or move money. A token has them only if they are chosen by name. */
export const SENSITIVE: readonly Scope[] = [
  "keys:write",
  "endpoints:write",
  "tokens:write",
  "people:write",
  "money:write",
  "merchants:write",
];

export const scopesOfRole = (role: Role): readonly Scope[] =>
  SCOPES.filter((scope) => (ROLES_OF[scope] as readonly Role[]).includes(role));

export const isReading = (scope: Scope): boolean => scope.endsWith(":read");

type SubjectOf<Name extends Scope> = Name extends `${infer Subject}:${string}` ? Subject : never;
export type ScopeSubject = SubjectOf<Scope>;

export const subjectOf = (scope: Scope): ScopeSubject => scope.split(":")[0] as ScopeSubject; // As its type says.

/** Scopes by what they are about, in the order of the table. */
export const bySubject = (scopes: readonly Scope[]): ReadonlyMap<ScopeSubject, readonly Scope[]> =>
  Map.groupBy(scopes, subjectOf);

/** What people choose for a token: a set, or single scopes. */
export const SCOPE_CHOICES = ["usual", "reading", "single"] as const;
export type ScopeChoice = (typeof SCOPE_CHOICES)[number];

/** As the request names them. Undefined: all but the sensitive ones, which is the default of the service. */
export function toNamedScopes(choice: ScopeChoice, single: readonly Scope[]): NamedScope[] | undefined {
  switch (choice) {
    case "usual":
      return undefined;
    case "reading":
      return ["*:read"];
    case "single":
      return [...single];
  }
}

/** What the scopes of a token are together, for a list. */
export function scopesInShort(role: Role, scopes: readonly Scope[]): "all" | "reading" | "usual" | "some" {
  const possible = scopesOfRole(role);
  const isExactly = (others: readonly Scope[]) =>
    others.length === scopes.length && others.every((scope) => scopes.includes(scope));
  if (isExactly(possible.filter(isReading))) return "reading";
  if (isExactly(possible.filter((scope) => !SENSITIVE.includes(scope)))) return "usual";
  return isExactly(possible) ? "all" : "some";
}
