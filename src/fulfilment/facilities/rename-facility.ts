import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { lockFacility, updateFacilityName } from "./facilities-sql.ts";
import type { Facility } from "./facility.ts";

/** Null if there is no such facility. The name that it has already writes nothing. */
export async function renameFacility(
  context: Context,
  facilityId: string,
  name: string,
  by: Initiator,
): Promise<Facility | null> {
  return inTransaction(context, async (tx) => {
    const before = await lockFacility(tx, facilityId);
    if (before === null || before.name === name) return before;
    const renamed = await updateFacilityName(tx, facilityId, name);
    const fact = { merchantId: null, subject: "fac", ids: [facilityId], details: { name } } as const;
    if (renamed !== null) await recordAudit(tx, context, by, fact);
    return renamed;
  });
}
