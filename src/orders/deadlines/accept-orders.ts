import { acceptanceOf } from "../../lifecycle/lifecycle.ts";
import type { OrderState } from "../../lifecycle/order.ts";
import { type ConnectionKey, connectionColumns } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { merchantByMerchant } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { inBatches, listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { type OrderBatch, type OrderSelection, processOrders } from "../changes/process-orders.ts";
import { storeTransitions } from "../changes/store-transitions.ts";
import { type OrderStateRow, toOrderState } from "../orders-sql.ts";
import { listConnectionsWithOrders } from "../owners-sql.ts";

/** Orders accepted in one transaction. They are few, so that a partner's cancel never waits long. */
const BATCH_SIZE = 500;

/** Stores the acceptance of all orders whose window has closed. Returns how many orders it processed. */
export async function acceptAllDueOrders(context: Context, stopping?: AbortSignal): Promise<number> {
  return runInTurn(
    listedEachPass(async () =>
      inBatches(await listConnectionsWithDueOrders(context.db, context.clock.now()), BATCH_SIZE),
    ),
    (connections, failures) => acceptDueOrders(context, connections, failures),
    stopping,
  );
}

/**
 * Accepts the next batch of orders of these connections whose window has closed. Skips orders that cannot be stored, and adds
 * them to the run's failures. Returns how many orders it processed. The lifecycle decides, as it does for a read or a cancel at
 * the same time (docs/design/lifecycle.md, "The deadline decides").
 *
 * A batch takes one narrow read and one update, unless an endpoint wants `order.accepted`.
 */
export async function acceptDueOrders(
  context: Context,
  connections: readonly ConnectionKey[],
  failures: unknown[],
): Promise<number> {
  const batch: OrderBatch<OrderState> = {
    connections,
    sizeMax: BATCH_SIZE,
    done: "accepted",
    lock: (tx, selection) => lockDueOrders(tx, selection, context.clock.now()),
    process: (tx, orders, at) =>
      storeTransitions(
        tx,
        orders.flatMap((order) => acceptanceOf(order, at.now) ?? []),
        at,
      ),
  };
  return processOrders(context, batch, failures);
}

/** Connections with real orders past their deadline. */
export const listConnectionsWithDueOrders = (db: Queryable, now: Date): Promise<ConnectionKey[]> =>
  listConnectionsWithOrders(db, {
    name: "list-connections-with-due-orders",
    text: `
      select c.merchant_id, c.id as connection_id
      from connections c
      cross join lateral (
        select o.acceptance_due_at
        from orders o
        where o.merchant_id = c.merchant_id and o.connection_id = c.id and ($1::uuid[] is null or o.merchant_id = any($1))
          and o.status = 'NEW' and not o.test_mode and not o.hold_reasons @> '{payment_failed}' and o.acceptance_due_at <= $2
        order by o.acceptance_due_at
        limit 1) as oldest
      where ($1::uuid[] is null or c.merchant_id = any($1))
      order by oldest.acceptance_due_at`,
    values: [now],
  });

/**
 * Locks due orders, of each connection its share of those due longest. Skips orders that are locked. Uses
 * orders_acceptance_due_idx.
 */
async function lockDueOrders(
  tx: Queryable,
  { connections, share, only, except }: OrderSelection,
  now: Date,
): Promise<OrderState[]> {
  const rows = await merchantByMerchant(tx, connections, (own, merchantId) =>
    tx.query<OrderStateRow>({
      name: "lock-due-orders",
      text: `
        select due.*
        from unnest($1::uuid[], $2::uuid[]) as listed (merchant_id, connection_id)
        cross join lateral (
          select o.merchant_id, o.connection_id, o.id, o.test_mode, o.status, o.hold_reasons, o.updated_at,
                 o.acceptance_due_at, o.canceled_at, o.last_sequence
          from orders o
          where o.merchant_id = listed.merchant_id and o.connection_id = listed.connection_id
            and o.status = 'NEW' and not o.test_mode and not o.hold_reasons @> '{payment_failed}'
            and o.acceptance_due_at <= $3
            and ($4::uuid[] is null or o.id = any($4)) and o.id <> all($5::uuid[])
            and ($7::uuid is null or o.merchant_id = $7)
          order by o.acceptance_due_at
          limit $6
          for no key update skip locked) as due`,
      values: [...connectionColumns(own), now, only, except, share, merchantId],
    }),
  );
  return rows.map(toOrderState);
}
