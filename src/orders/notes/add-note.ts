import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { asOf } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderKey } from "../../lifecycle/order.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { notFound, type Problem } from "../../platform/wire/problems.ts";
import { lockOrderById } from "../orders-sql.ts";
import { markNotErased } from "../personal-data/personal-data-sql.ts";
import { countEntriesOf, insertTimelineEntries } from "../timeline/timeline-sql.ts";

/** The name of a note in the timeline. */
const OPERATION = "note";

/** Notes of one order. */
export const NOTES_MAX = 100;

const LIMIT_REACHED: Problem = {
  code: "limit-reached",
  detail: `The maximum of ${NOTES_MAX} notes of an order is reached.`,
  members: { limit: "orderNotes", maximum: NOTES_MAX },
};

/**
 * Adds a note of the staff to the timeline of a real order, in any status (decision 0138). It changes nothing else of the
 * order. Partners do not see timelines. The erasure of personal data erases it. Under the order's lock, so the limit is
 * exact.
 */
export const addNote = (
  context: Context,
  key: OrderKey,
  text: string,
  by: Initiator,
): Promise<Order | Problem> =>
  inTransaction(context, async (tx) => {
    const stored = await lockOrderById(tx, key, context.clock);
    if (stored === undefined || stored.testMode) return notFound("order");
    if ((await countEntriesOf(tx, stored, OPERATION, NOTES_MAX)) >= NOTES_MAX) return LIMIT_REACHED;
    const at = { newId: context.newId, now: context.clock.now() };
    const order = asOf(stored, at.now);
    const { actor, requestId } = by;
    const cause = { actor, operation: OPERATION, requestId, detail: text };
    await insertTimelineEntries(tx, [{ order, cause, shipmentId: null }], at);
    await markNotErased(tx, order);
    const { merchantId, connectionId, id } = order;
    await recordAudit(tx, context, by, { merchantId, connectionId, subject: "ord", ids: [id] });
    return order;
  });
