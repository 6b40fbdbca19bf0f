import { read } from "../../api/read.ts";
import type { paths } from "../../api/schema.d.ts";
import { stringifySearch } from "../../routing/search.ts";
import { endOf, startOf } from "../../text/format.ts";

type AuditFilters = NonNullable<paths["/api/audit-entries"]["get"]["parameters"]["query"]>;

/** The filters as the service reads them: days become times in the person's zone. */
const toQuery = ({ from, to, ...filters }: AuditFilters) => ({
  ...filters,
  ...(from !== undefined && { from: startOf(from) }),
  ...(to !== undefined && { to: endOf(to) }),
});

/** @param filters as in the address of the list: `from` and `to` are days in the person's zone, both included */
export const auditEntriesQuery = (filters: AuditFilters) =>
  read("/api/audit-entries", { params: { query: { limit: 50, ...toQuery(filters) } } });

/** Where the browser downloads all that the filters show. */
export const auditExportAddress = ({ cursor: _page, ...filters }: AuditFilters, format: "csv" | "ndjson") =>
  `/api/audit-entries/export${stringifySearch({ ...toQuery(filters), format })}`;
