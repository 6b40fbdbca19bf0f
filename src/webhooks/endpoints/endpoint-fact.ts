import type { AuditFact } from "../../audit/audit-entry.ts";
import type { EndpointKey, NewEndpoint } from "./endpoint.ts";

/** What was done to an endpoint, for the audit log. */
export const endpointFact = (
  { merchantId, connectionId, id }: EndpointKey,
  details: AuditFact["details"] = {},
): AuditFact => ({ merchantId, connectionId, subject: "whe", ids: [id], details });

/** Settings that were set or changed. Of an address only the host: partners put tokens into the rest. */
export const auditedSettings = ({
  url,
  eventTypes,
  inFlightMax,
  description,
  mode,
}: Partial<NewEndpoint>) => ({
  host: url === undefined ? undefined : new URL(url).host,
  eventTypes,
  inFlightMax,
  mode,
  description: description ?? undefined,
});
