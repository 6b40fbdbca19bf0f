import type { RecordContext } from "../../lifecycle/applied-transition.ts";
import type { OrderKey } from "../../lifecycle/order.ts";
import { type ConnectionKey, distinctConnections } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { isNodeDown } from "../../platform/database/citus.ts";
import { isNodeLost, isOutOfReach, planBatch, type Queryable } from "../../platform/database/database.ts";
import { toTypeId } from "../../platform/ids.ts";
import { inParts, shareOf } from "../../platform/run-in-turn.ts";

/** Which orders a transaction may lock. */
export type OrderSelection = {
  /** Of these connections. */
  readonly connections: readonly ConnectionKey[];
  /** The largest number of orders of each connection. */
  readonly share: number;
  /** Only these orders. Null selects any. */
  readonly only: readonly string[] | null;
  readonly except: readonly string[];
};

/** The work of a job on a batch of orders of many connections. */
export type OrderBatch<Locked extends OrderKey> = {
  /** The connections that share the batch. The one that waits longest is first. */
  readonly connections: readonly ConnectionKey[];
  /** The number of orders in one transaction, unless there are more connections. */
  readonly sizeMax: number;
  /** The step that failed for an order, as in "could not be routed". */
  readonly done: string;
  /** Locks those of the selected orders that need the job. `again`: a batch with these orders has failed. */
  lock(tx: Queryable, selection: OrderSelection, again: boolean): Promise<Locked[]>;
  /** Runs in the same transaction, with at least one order. Returns the connections that have deliveries to send. */
  process(tx: Queryable, orders: readonly Locked[], at: RecordContext): Promise<readonly ConnectionKey[]>;
};

/** An order that could not be stored. The run skips it from then on, and reports it at its end. */
export class OrderFailure extends Error {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly orderId: string;

  constructor({ merchantId, connectionId, id }: OrderKey, done: string, cause: unknown) {
    super(`Order ${toTypeId("ord", id)} could not be ${done}.`, { cause });
    this.merchantId = merchantId;
    this.connectionId = connectionId;
    this.orderId = id;
  }
}

/**
 * Processes a batch of orders of many connections in one transaction, an equal share of each. If that fails, processes smaller
 * parts. If a part fails, processes its orders one by one, so that an order that cannot be stored does not delay others. Orders
 * that fail alone are added to `failures`. Orders among the failures are skipped: they are still due and would come first again
 * (docs/design/database.md, "Shared batches").
 *
 * @param only these orders; null: those that are due
 * @returns how many orders it locked
 * @throws the batch's error, if it had locked no order that could have caused it; and the error of an unavailable
 *   database or of a lost node of Citus, which concerns all orders.
 */
export async function processOrders<Locked extends OrderKey>(
  context: Context,
  batch: OrderBatch<Locked>,
  failures: unknown[],
  only: readonly OrderKey[] | null = null,
): Promise<number> {
  const { connections, sizeMax } = batch;
  const selection = {
    connections,
    share: only?.length ?? shareOf(sizeMax, connections.length),
    only: only?.map(idOf) ?? null,
    except: failedOrders(failures, connections),
  };
  let orders: readonly OrderKey[] = only ?? [];
  try {
    await processTogether(context, batch, selection, false, (locked) => {
      orders = locked;
    });
  } catch (error) {
    if (endsBatch(context, error) || orders.length === 0) throw error;
    await processParts(context, batch, orders, failures);
  }
  return orders.length;
}

/**
 * True if a batch is not repeated in parts. After the loss of a node of Citus, each part would wait for it again: the next
 * search lists the merchants on the other nodes. A batch of those that fails has orders that need all nodes
 * (docs/design/distribution.md, "A node that is down").
 */
const endsBatch = ({ db }: Context, error: unknown): boolean =>
  isOutOfReach(error) || (isNodeLost(error) && !isNodeDown(db));

async function processParts<Locked extends OrderKey>(
  context: Context,
  batch: OrderBatch<Locked>,
  orders: readonly OrderKey[],
  failures: unknown[],
): Promise<void> {
  for (const part of inParts(orders)) {
    const selection = {
      connections: distinctConnections(part),
      share: part.length,
      only: part.map(idOf),
      except: [],
    };
    try {
      await processTogether(context, batch, selection, true, () => undefined);
    } catch (error) {
      if (endsBatch(context, error)) throw error;
      const [order, ...others] = part;
      if (others.length > 0) await processParts(context, batch, part, failures);
      else if (order !== undefined) failures.push(new OrderFailure(order, batch.done, error));
    }
  }
}

/** @param onLocked is called with the locked orders, in the transaction, which can still fail or be repeated */
async function processTogether<Locked extends OrderKey>(
  context: Context,
  { lock, process }: OrderBatch<Locked>,
  selection: OrderSelection,
  again: boolean,
  onLocked: (orders: readonly OrderKey[]) => void,
): Promise<void> {
  let orders: readonly Locked[] = [];
  const sending = await inTransaction(context, async (tx) => {
    await planBatch(tx);
    orders = await lock(tx, selection, again);
    onLocked(orders);
    const at = { newId: context.newId, now: context.clock.now() };
    return orders.length === 0 ? [] : process(tx, orders, at);
  });
  context.signals.send("deliveries_due", sending);
  // Jobs process real orders only.
  context.signals.sendOrders(orders.map((order) => ({ ...keyOf(order), testMode: false })));
}

const keyOf = ({ merchantId, connectionId, id }: OrderKey): OrderKey => ({ merchantId, connectionId, id });

const idOf = ({ id }: OrderKey): string => id;

/** The orders of some connections that have failed in a run, by id. */
function failedOrders(failures: readonly unknown[], connections: readonly ConnectionKey[]): string[] {
  const ours = new Set(connections.map(({ connectionId }) => connectionId));
  return failures.flatMap((failure) =>
    failure instanceof OrderFailure && ours.has(failure.connectionId) ? [failure.orderId] : [],
  );
}
