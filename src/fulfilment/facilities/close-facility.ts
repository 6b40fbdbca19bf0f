import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { updateFacilityClosed } from "./facilities-sql.ts";
import type { Facility } from "./facility.ts";
import { markRatesChanged } from "./rate-changes-sql.ts";

/**
 * Closes or opens a facility (decision 0095). No order is routed to a closed one; orders that have it as their facility
 * keep it. After it opens, waiting orders are evaluated again. Repeating it has no further effect.
 */
export async function closeFacility(
  context: Context,
  facility: Facility,
  isClosed: boolean,
  by: Initiator,
): Promise<Facility> {
  return inTransaction(context, async (tx) => {
    const changed = await updateFacilityClosed(tx, facility.id, isClosed ? context.clock.now() : null);
    if (changed === null) return facility;
    // Its rates and its stock count again.
    if (!isClosed) await markRatesChanged(tx, facility.id, context.newId());
    await recordAudit(tx, context, by, { merchantId: null, subject: "fac", ids: [facility.id] });
    return changed;
  });
}
