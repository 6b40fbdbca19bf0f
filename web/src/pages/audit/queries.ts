import { read } from "../../api/read.ts";
import type { paths } from "../../api/schema.d.ts";
import { endOf, startOf } from "../../text/days.ts";

type AuditFilters = NonNullable<paths["/api/audit-entries"]["get"]["parameters"]["query"]>;

/** @param filters as in the address of the list: `from` and `to` are days in the person's zone, both included */
export const auditEntriesQuery = ({ from, to, ...filters }: AuditFilters) =>
  read("/api/audit-entries", {
    params: {
      query: {
        limit: 50,
        ...filters,
        ...(from !== undefined && { from: startOf(from) }),
        ...(to !== undefined && { to: endOf(to) }),
      },
    },
  });
