import type { Queryable } from "../database/database.ts";
import { inOneStep, type Service } from "../service.ts";
import { lockDueOrders, saveAcceptances } from "./acceptance-sql.ts";
import { asOf } from "./lifecycle.ts";

/** Rows taken in one transaction: small enough that a partner's cancel never waits for long. */
const BATCH_SIZE = 500;

/**
 * Makes acceptance true in the table for a connection's orders whose window has closed; answers how many. The
 * lifecycle decides, exactly as it does for a read or a cancel of the same moment (decision 0012).
 */
export async function acceptDueOrders(service: Service, connectionId: string): Promise<number> {
  const now = service.clock.now();
  return inOneStep(service, async (tx: Queryable) => {
    const due = await lockDueOrders(tx, connectionId, now, BATCH_SIZE);
    const accepted = due.flatMap((order) => {
      const current = asOf(order, now);
      return current === order ? [] : [current];
    });
    await saveAcceptances(tx, connectionId, accepted);
    return accepted.length;
  });
}
