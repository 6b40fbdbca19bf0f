import { ROLES, type Role } from "../src/audit/grant.ts";
import { rolesOf, type ScopedRoute } from "../src/back-office/access.ts";
import { backOfficeRoutes } from "../src/back-office/routes.ts";

export const ACCESS_PAGE = "docs/access.md";

/** The page after this line is written from the route table. */
const MARK = "<!-- `npm run describe` writes the rest of this page. -->";

/** The page about access with the present table. @param page its text, whose beginning people write */
export function describedAccess(page: string): string {
  const [written = ""] = page.split(MARK);
  return `${written}${MARK}\n\n${accessTables()}\n`;
}

/** A table for each tag of the route table, with a column for each role. */
function accessTables(): string {
  const byTag = Map.groupBy(backOfficeRoutes, ({ tag }) => tag);
  return [...byTag].map(([tag, rows]) => [`### ${tag}`, "", ...tableOf(rows)].join("\n")).join("\n\n");
}

const tableOf = (rows: readonly ScopedRoute[]): string[] => [
  `| Request | Scope | ${ROLES.join(" | ")} |`,
  `|---|---|${ROLES.map(() => "---|").join("")}`,
  ...rows.map(
    (row) => `| \`${row.method} ${row.path}\` | ${scopeOf(row)} | ${marksOf(rolesOf(row)).join(" | ")} |`,
  ),
];

const scopeOf = ({ scope }: ScopedRoute): string => (scope === "every-token" ? "none" : `\`${scope}\``);

const marksOf = (admitted: readonly Role[]): string[] =>
  ROLES.map((role) => (admitted.includes(role) ? "yes" : ""));
