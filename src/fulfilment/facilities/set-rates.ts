import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { versionChanged } from "../../platform/wire/content-version.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import { deleteRates, insertRates, lockFacility, readRates } from "./facilities-sql.ts";
import { type Rate, ratesVersion } from "./facility.ts";
import { markRatesChanged } from "./rate-changes-sql.ts";

type Replacement = {
  /** No two for the same country, currency and weight. */
  readonly rates: readonly Rate[];
  /** The version that is to be replaced; undefined if it does not matter. */
  readonly expectedVersion?: string | undefined;
};

/**
 * Replaces all rates of a facility. Repeating it has no further effect, also with a version. Orders that waited for a rate
 * are evaluated again. Routed orders keep their price. Returns the new rates, or null if there is no such facility.
 */
export async function setRates(
  context: Context,
  facilityId: string,
  { rates, expectedVersion }: Replacement,
  by: Initiator,
): Promise<readonly Rate[] | Problem | null> {
  return inTransaction(context, async (tx) => {
    // This comes first: two replacements do not mix.
    if ((await lockFacility(tx, facilityId)) === null) return null;
    const before = await readRates(tx, facilityId);
    const version = ratesVersion(before);
    if (version === ratesVersion(rates)) return before;
    if (expectedVersion !== undefined && expectedVersion !== version)
      return versionChanged("The rates", version);
    await markRatesChanged(tx, facilityId, context.newId());
    await deleteRates(tx, facilityId);
    await insertRates(tx, facilityId, rates);
    const countries = [...new Set(rates.map(({ countryCode }) => countryCode))];
    const details = { rates: rates.length, countries };
    await recordAudit(tx, context, by, { merchantId: null, subject: "fac", ids: [facilityId], details });
    return readRates(tx, facilityId);
  });
}
