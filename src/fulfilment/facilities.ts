import { isDeepStrictEqual } from "node:util";
import { type Initiator, recordAudit } from "../audit/record-audit.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { versionChanged } from "../platform/wire/content-version.ts";
import type { Problem } from "../platform/wire/problems.ts";
import {
  deleteRates,
  type Facility,
  insertFacility,
  insertRates,
  lockFacility,
  markRatesChanged,
  type Rate,
  ratesVersion,
  readRates,
  updateFacility,
  updateFacilityClosed,
} from "./facilities-sql.ts";

/** Creates a facility without stock and rates. The first facility turns routing on. */
export async function createFacility(
  context: Context,
  fields: Pick<Facility, "name" | "countryCode" | "address">,
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

/**
 * Closes or opens a facility (docs/design/fulfilment.md, "Closed facilities"). No order is routed to a closed one; orders that
 * have it as their facility keep it. After it opens, waiting orders are evaluated again. Repeating it has no further effect.
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

/** Null if there is no such facility. What it has already writes nothing. */
export async function changeFacility(
  context: Context,
  facilityId: string,
  change: Partial<Pick<Facility, "name" | "address">>,
  by: Initiator,
): Promise<Facility | null> {
  return inTransaction(context, async (tx) => {
    const before = await lockFacility(tx, facilityId);
    if (before === null) return null;
    const wanted = { ...before, ...change };
    if (isDeepStrictEqual(wanted, before)) return before;
    const changed = await updateFacility(tx, wanted);
    const fact = { merchantId: null, subject: "fac", ids: [facilityId], details: change } as const;
    if (changed !== null) await recordAudit(tx, context, by, fact);
    return changed;
  });
}

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
