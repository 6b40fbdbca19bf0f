/**
 * The roles of callers of the back office (docs/design/people.md, "Roles and grants" and "Tokens"), the one with the most
 * rights first.
 */
export const ROLES = ["operator", "warehouse", "merchant", "partner", "support", "monitoring"] as const;
export type Role = (typeof ROLES)[number];
