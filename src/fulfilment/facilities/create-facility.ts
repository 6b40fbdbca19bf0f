import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { insertFacility } from "./facilities-sql.ts";
import type { Facility } from "./facility.ts";

/** Creates a facility without stock and rates. The first facility turns routing on. */
export async function createFacility(
  context: Context,
  fields: Pick<Facility, "name" | "countryCode">,
  by: Initiator,
): Promise<Facility> {
  const { clock, newId } = context;
  return inTransaction(context, async (tx) => {
    const facility: Facility = { ...fields, id: newId(), createdAt: clock.now(), closedAt: null };
    await insertFacility(tx, facility);
    const fact = { merchantId: null, subject: "fac", ids: [facility.id], details: fields } as const;
    await recordAudit(tx, context, by, fact);
    return facility;
  });
}
