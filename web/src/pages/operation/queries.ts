import { read } from "../../api/read.ts";
import type { paths } from "../../api/schema.d.ts";
import { stringifySearch } from "../../routing/search.ts";
import { endOf, startOf } from "../../text/format.ts";

/** What is shown. A log of reads and sign-ins hides the changes that one looks for, so these are the default. */
export const KINDS = ["all", "change", "read", "sign-in"] as const;

type Query = NonNullable<paths["/api/audit-entries"]["get"]["parameters"]["query"]>;
export type AuditFilters = Omit<Query, "kind"> & { readonly kind?: (typeof KINDS)[number] | undefined };

/** Who looks for an operation or for a thing wants all that there is about it. */
export const kindOf = ({ kind, action, subjectId }: AuditFilters): (typeof KINDS)[number] =>
  kind ?? (action === undefined && subjectId === undefined ? "change" : "all");

/** The filters as the service reads them: days become times in the person's zone. */
const toQuery = ({ from, to, kind: _, ...filters }: AuditFilters, kind: (typeof KINDS)[number]) => ({
  ...filters,
  ...(kind !== "all" && { kind }),
  ...(from !== undefined && { from: startOf(from) }),
  ...(to !== undefined && { to: endOf(to) }),
});

/** @param filters as in the address of the list: `from` and `to` are days in the person's zone, both included */
export const auditEntriesQuery = (filters: AuditFilters) =>
  read("/api/audit-entries", { params: { query: { limit: 50, ...toQuery(filters, kindOf(filters)) } } });

/** Where the browser downloads all that the filters show. */
export const auditExportAddress = ({ cursor: _page, ...filters }: AuditFilters, format: "xlsx" | "ndjson") =>
  `/api/audit-entries/export${stringifySearch({ ...toQuery(filters, kindOf(filters)), format })}`;

/** The page shows the system as it is, without being loaded again. The service reads it at most once in some seconds. */
const REFRESH_MS = 10_000;

export const systemQuery = () => ({ ...read("/api/system"), refetchInterval: REFRESH_MS });

export const checksQuery = () => ({ ...read("/api/system/checks"), staleTime: 60_000 });

export const settingsQuery = () => read("/api/settings");
