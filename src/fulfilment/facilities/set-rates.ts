import { isDeepStrictEqual } from "node:util";
import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { deleteRates, insertRates, lockFacility, readRates } from "./facilities-sql.ts";
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
    // This comes first: two replacements do not mix.
    if ((await lockFacility(tx, facilityId)) === null) return false;
    if (areSame(await readRates(tx, facilityId), rates)) return true;
    await markRatesChanged(tx, facilityId, context.newId());
    await deleteRates(tx, facilityId);
    await insertRates(tx, facilityId, rates);
    const countries = [...new Set(rates.map(({ countryCode }) => countryCode))];
    const details = { rates: rates.length, countries };
    await recordAudit(tx, context, by, { merchantId: null, subject: "fac", ids: [facilityId], details });
    return true;
  });
}

/** Whether two lists have the same rates, in any order. */
function areSame(some: readonly Rate[], others: readonly Rate[]): boolean {
  const texts = (rates: readonly Rate[]): string[] =>
    rates
      .map(({ countryCode, currency, maxWeightGrams, priceMinor }) =>
        [countryCode, currency, maxWeightGrams, priceMinor].join(" "),
      )
      .sort();
  return isDeepStrictEqual(texts(some), texts(others));
}
