import type { Context } from "../platform/context.ts";
import { uuidAt } from "../platform/ids.ts";
import { STOCK_MOVEMENTS_KEPT_MS } from "../platform/retention.ts";
import { before } from "../platform/time.ts";
import { deleteOldMovements } from "./stock-movements-sql.ts";

/** Movements of each facility that one statement deletes, so that it is short. */
const BATCH_SIZE = 1_000;

/** Deletes movements that are older than two years, batch by batch. Returns how many. Decision 0094. */
export async function purgeStockMovements(
  { db, clock }: Pick<Context, "db" | "clock">,
  stopping?: AbortSignal,
): Promise<number> {
  const beforeId = uuidAt(before(clock.now(), STOCK_MOVEMENTS_KEPT_MS));
  let count = 0;
  for (;;) {
    const deleted = await deleteOldMovements(db, beforeId, BATCH_SIZE);
    count += deleted;
    if (deleted === 0 || stopping?.aborted) return count;
  }
}
