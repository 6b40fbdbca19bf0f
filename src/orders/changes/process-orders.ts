import type { RecordContext } from "../../lifecycle/applied-transition.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { isOutOfReach, type Queryable } from "../../platform/database/database.ts";
import { toTypeId } from "../../platform/ids.ts";

/** Which of a connection's orders a transaction may lock. */
export type OrderSelection = {
  /** Only these; null: any. */
  readonly only: readonly string[] | null;
  readonly except: readonly string[];
};

/** What a job does with a batch of a connection's orders. */
export type OrderBatch<Locked extends { readonly id: string }> = {
  readonly connection: ConnectionKey;
  /** What could not be done with an order that fails, as in "could not be routed". */
  readonly done: string;
  /** Locks those of the selected orders that there is something to do for. Alone: the batch with this order has failed. */
  lock(tx: Queryable, selection: OrderSelection, alone: boolean): Promise<Locked[]>;
  /** In the same transaction; called with at least one order. */
  process(tx: Queryable, orders: readonly Locked[], at: RecordContext): Promise<void>;
};

/** An order that could not be stored: it is skipped until the end of the run, where it is reported. */
class OrderFailure extends Error {
  readonly connectionId: string;
  readonly orderId: string;

  constructor({ connectionId }: ConnectionKey, orderId: string, done: string, cause: unknown) {
    super(`Order ${toTypeId("ord", orderId)} could not be ${done}.`, { cause });
    this.connectionId = connectionId;
    this.orderId = orderId;
  }
}

/**
 * Processes a batch of a connection's orders in one transaction. If that fails, processes each of them in a transaction of
 * its own, so that an order that cannot be stored delays no other one; what fails alone as well is added to `failures`.
 * Orders among the failures are skipped: they are still due, and would come first again.
 *
 * @param only these orders; null: those that are due
 * @returns how many orders it locked
 * @throws the batch's error, if it had locked no order that could be to blame; and the error of an unavailable database,
 *   which concerns all orders.
 */
export async function processOrders<Locked extends { readonly id: string }>(
  context: Context,
  batch: OrderBatch<Locked>,
  failures: unknown[],
  only: readonly string[] | null = null,
): Promise<number> {
  let orderIds = only ?? [];
  try {
    const selection = { only, except: failedOrders(failures, batch.connection) };
    await processTogether(context, batch, selection, false, (locked) => {
      orderIds = locked;
    });
  } catch (error) {
    if (isOutOfReach(error) || orderIds.length === 0) throw error;
    for (const orderId of orderIds) await processAlone(context, batch, orderId, failures);
  }
  return orderIds.length;
}

async function processAlone<Locked extends { readonly id: string }>(
  context: Context,
  batch: OrderBatch<Locked>,
  orderId: string,
  failures: unknown[],
): Promise<void> {
  try {
    await processTogether(context, batch, { only: [orderId], except: [] }, true, () => undefined);
  } catch (error) {
    if (isOutOfReach(error)) throw error;
    failures.push(new OrderFailure(batch.connection, orderId, batch.done, error));
  }
}

/** @param onLocked told the locked orders within the transaction, which may fail later, or be repeated */
async function processTogether<Locked extends { readonly id: string }>(
  context: Context,
  { connection, lock, process }: OrderBatch<Locked>,
  selection: OrderSelection,
  alone: boolean,
  onLocked: (orderIds: readonly string[]) => void,
): Promise<void> {
  const count = await inTransaction(context, async (tx) => {
    const orders = await lock(tx, selection, alone);
    onLocked(orders.map(({ id }) => id));
    const at = { newId: context.newId, now: context.clock.now() };
    if (orders.length > 0) await process(tx, orders, at);
    return orders.length;
  });
  if (count > 0) context.signals.send("deliveries_due", [connection]);
}

/** Those of a connection's orders that have failed in a run, by their ids. */
const failedOrders = (failures: readonly unknown[], { connectionId }: ConnectionKey): string[] =>
  failures.flatMap((failure) =>
    failure instanceof OrderFailure && failure.connectionId === connectionId ? [failure.orderId] : [],
  );
