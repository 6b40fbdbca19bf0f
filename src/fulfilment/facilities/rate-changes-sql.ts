import type { Queryable } from "../../platform/database/database.ts";

/** The rates of a facility have changed, and not all waiting orders have been evaluated since. */
export type RateChange = {
  readonly facilityId: string;
  /** Differs for each change, so that a later change is not taken for one that has been evaluated. */
  readonly id: string;
};

/**
 * Marks that a facility's rates change, and locks the facility, so that concurrent changes of its rates wait. Returns
 * false if there is no such facility.
 */
export async function markRatesChanged(
  tx: Queryable,
  facilityId: string,
  changeId: string,
): Promise<boolean> {
  const rows = await tx.query({
    name: "mark-rates-changed",
    text: "update facilities set supply_change_id = $2 where id = $1 returning id",
    values: [facilityId, changeId],
  });
  return rows.length > 0;
}

export async function listRateChanges(db: Queryable): Promise<RateChange[]> {
  const rows = await db.query<{ id: string; supply_change_id: string }>({
    name: "list-rate-changes",
    text: "select id, supply_change_id from facilities where supply_change_id is not null order by supply_change_id",
    values: [],
  });
  return rows.map((row) => ({ facilityId: row.id, id: row.supply_change_id }));
}

/**
 * Clears a change after all waiting orders have been evaluated for it. A later change of the facility's rates stays.
 */
export async function clearRateChange(db: Queryable, { facilityId, id }: RateChange): Promise<void> {
  await db.query({
    name: "clear-rate-change",
    text: "update facilities set supply_change_id = null where id = $1 and supply_change_id = $2",
    values: [facilityId, id],
  });
}
