import { byService, type Initiator, recordAudit } from "../audit/record-audit.ts";
import { eraseRefundNotes } from "../ledger/refunds.ts";
import { asOf, isSettled } from "../lifecycle/lifecycle.ts";
import type { Order, OrderKey } from "../lifecycle/order.ts";
import { deleteMails } from "../mail/mails-sql.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { isOutOfReach, planBatch, type Queryable } from "../platform/database/database.ts";
import { before, CLOCK_SKEW_MAX_MS } from "../platform/time.ts";
import type { Problem } from "../platform/wire/problems.ts";
import { eraseResponses } from "../webhooks/log/erase-sql.ts";
import { rewriteEventBodies } from "../webhooks/publishing-sql.ts";
import { eraseCancellationNotes } from "./cancellations/cancellations-sql.ts";
import { inSeenOrder, type Staff } from "./changes/change-order.ts";
import { insertTimelineEntries } from "./changes/timeline-sql.ts";
import { transitionRefused } from "./changes/transition-order.ts";
import { readOrders } from "./orders-sql.ts";
import {
  ERASED,
  eraseAddresses,
  erasedEventBody,
  eraseTimelineDetails,
  eraseTracking,
  listOrdersToErase,
  markAsErased,
} from "./personal-data-sql.ts";
import { eraseReturnNotes } from "./returns/returns-sql.ts";

const OPERATION = "erasePersonalData";

/** Orders erased in one transaction: few enough that it is short. */
const BATCH_SIZE = 200;

/**
 * Erases the personal data of the buyer of an order, wherever it is stored
 * (docs/design/isolation-and-limits.md, "Personal data"). Returns the order, or 409 `order_not_settled`. A retry is safe: it
 * changes nothing.
 */
export function erasePersonalData(context: Context, staff: Staff, key: OrderKey): Promise<Order | Problem> {
  return inSeenOrder(context, staff, key, async (tx, stored, at, by) => {
    const order = asOf(stored, at.now);
    if (!isSettled(order)) return transitionRefused(OPERATION, order, "order_not_settled");
    const erased = await eraseOrders(tx, at, [key], { unchangedSince: order.updatedAt, by });
    if (erased === 0) return order;
    const { merchantId, connectionId, id } = order;
    await recordAudit(tx, at, by, { merchantId, connectionId, subject: "ord", ids: [id] });
    const [after = order] = await readOrders(tx, order, [id]);
    return after;
  });
}

/**
 * Erases the personal data of orders that have been settled for PERSONAL_DATA_DAYS, in batches over all connections. An
 * interrupted run continues with the next one. Orders that cannot be erased are skipped, and reported at the end.
 * Returns how many it erased.
 */
export async function eraseOldPersonalData(context: Context, stopping?: AbortSignal): Promise<number> {
  const { config, clock, db } = context;
  if (config.personalDataMs === null) return 0;
  const unchangedSince = before(clock.now(), config.personalDataMs);
  const failures = new Map<string, unknown>();
  const erase = (keys: readonly OrderKey[]) =>
    inTransaction(context, (tx) =>
      eraseOrders(tx, context, keys, { unchangedSince, by: byService(OPERATION) }),
    );
  let count = 0;
  while (!stopping?.aborted) {
    const keys = await listOrdersToErase(db, unchangedSince, [...failures.keys()], BATCH_SIZE);
    if (keys.length === 0) break;
    count += await erase(keys).catch((error: unknown) => eraseEach(error, keys, erase, failures));
    if (failures.size >= BATCH_SIZE) break; // What fails for so many orders is no matter of single ones.
  }
  if (failures.size > 0)
    throw new AggregateError(
      [...failures.values()].slice(0, 10),
      `${failures.size} orders could not be erased.`,
    );
  return count;
}

/** After a batch has failed: each of its orders alone, so that one that cannot be erased delays no other one. */
async function eraseEach(
  batchError: unknown,
  keys: readonly OrderKey[],
  erase: (keys: readonly OrderKey[]) => Promise<number>,
  failures: Map<string, unknown>,
): Promise<number> {
  if (isOutOfReach(batchError)) throw batchError;
  let count = 0;
  for (const key of keys)
    try {
      count += await erase([key]);
    } catch (error) {
      if (isOutOfReach(error)) throw error;
      failures.set(key.id, error);
    }
  return count;
}

/** All places, in one transaction: an order is erased whole or not at all. */
async function eraseOrders(
  tx: Queryable,
  { clock, newId }: Context,
  keys: readonly OrderKey[],
  { unchangedSince, by }: { readonly unchangedSince: Date; readonly by: Initiator },
): Promise<number> {
  await planBatch(tx);
  const now = clock.now();
  // First, because it locks the orders: a transition that is in progress commits its event before this is done.
  const erased = await markAsErased(tx, keys, { unchangedSince, now });
  const [first] = erased;
  if (first === undefined) return 0;
  const oldest = erased.reduce(
    (time, { createdAt }) => (createdAt < time ? createdAt : time),
    first.createdAt,
  );
  const since = before(oldest, CLOCK_SKEW_MAX_MS);
  await deleteMails(tx, await eraseTracking(tx, erased, now)); // A tracking mail has the id of its shipment.
  await eraseAddresses(tx, erased);
  await eraseTimelineDetails(tx, erased);
  await eraseRefundNotes(tx, erased, ERASED, now);
  await eraseReturnNotes(tx, erased, ERASED, now);
  await eraseCancellationNotes(tx, erased, ERASED, now);
  await rewriteEventBodies(tx, erased, since, erasedEventBody);
  await eraseResponses(tx, erased, since);
  const cause = { actor: by.actor, operation: OPERATION, requestId: by.requestId };
  const entries = erased.map((order) => ({ order, cause, shipmentId: null }));
  await insertTimelineEntries(tx, entries, { newId, now });
  return erased.length;
}
