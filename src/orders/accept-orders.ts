import type { Queryable } from "../database/database.ts";
import type { NewId } from "../ids.ts";
import { inOneStep, type Service } from "../service.ts";
import { listWantedTypes } from "../webhooks/endpoints/wanted-types-sql.ts";
import { lockDueOrders, saveAcceptances } from "./acceptance-sql.ts";
import { asOf } from "./lifecycle.ts";
import { tellOptIns } from "./opt-in-events.ts";
import { SERVICE } from "./order-step.ts";
import { readOrders } from "./orders-sql.ts";
import { insertSteps } from "./timeline-sql.ts";

/** Rows taken in one transaction: small enough that a partner's cancel never waits for long. */
const BATCH_SIZE = 500;

/**
 * Makes acceptance true in the table for a connection's orders whose window has closed; answers how many. The
 * lifecycle decides, exactly as it does for a read or a cancel of the same moment (decision 0012).
 */
export async function acceptDueOrders(service: Service, connectionId: string): Promise<number> {
  const { clock, newId } = service;
  const now = clock.now();
  const accepted = await inOneStep(service, async (tx: Queryable) => {
    const due = await lockDueOrders(tx, connectionId, now, BATCH_SIZE);
    const accepted = due.flatMap((order) => {
      const current = asOf(order, now);
      return current === order ? [] : [current];
    });
    await saveAcceptances(tx, connectionId, accepted);
    const steps = accepted.map((order) => ({
      ...order,
      actor: SERVICE,
      action: "accept",
      orderId: order.id,
    }));
    await insertSteps(tx, connectionId, steps, { newId, now });
    await tellAcceptances(tx, connectionId, accepted, { newId, now });
    return accepted.length;
  });
  if (accepted > 0) service.wakeDispatchers([connectionId]);
  return accepted;
}

/** Orders are read whole only where somebody wants to hear of acceptances, so that elsewhere a batch stays one update. */
async function tellAcceptances(
  tx: Queryable,
  connectionId: string,
  accepted: readonly { id: string }[],
  step: { newId: NewId; now: Date },
): Promise<void> {
  if (accepted.length === 0 || !(await listWantedTypes(tx, connectionId)).has("order.accepted")) return;
  const orders = await readOrders(
    tx,
    connectionId,
    accepted.map(({ id }) => id),
  );
  const steps = orders.map((after) => ({ before: { ...after, status: "NEW" as const }, after }));
  await tellOptIns(tx, connectionId, steps, step);
}
