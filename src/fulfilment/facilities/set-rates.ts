import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { deleteRates, insertRates } from "./facilities-sql.ts";
import type { Rate } from "./facility.ts";
import { markRatesChanged } from "./rate-changes-sql.ts";

/**
 * Replaces all rates of a facility. Repeating it has no further effect. Orders that waited for a rate are evaluated
 * again. Routed orders keep their price. Returns false if there is no such facility.
 * @param rates no two for the same country, currency and weight
 */
export async function setRates(
  context: Context,
  facilityId: string,
  rates: readonly Rate[],
  by: Initiator,
): Promise<boolean> {
  return inTransaction(context, async (tx) => {
    // This comes first because it locks the facility: two replacements do not mix.
    if (!(await markRatesChanged(tx, facilityId, context.newId()))) return false;
    await deleteRates(tx, facilityId);
    await insertRates(tx, facilityId, rates);
    const countries = [...new Set(rates.map(({ countryCode }) => countryCode))];
    const details = { rates: rates.length, countries };
    await recordAudit(tx, context, by, { merchantId: null, subject: "fac", ids: [facilityId], details });
    return true;
  });
}
