import type { AppliedTransition, RecordContext } from "../../lifecycle/applied-transition.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { readAccountEmail } from "../../merchants/merchants-sql.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { newlyTracked, trackingMail } from "./tracking-mail-text.ts";

/**
 * Queues a mail with the carrier's tracking to the merchant's account address (specification, part 1), for each
 * shipment whose tracking becomes known by the transition. The mail has the shipment's id, so there is only one,
 * however often the tracking changes.
 */
export async function mailTracking(
  tx: Queryable,
  { before, after }: Pick<AppliedTransition, "before" | "after">,
  { now }: RecordContext,
): Promise<null> {
  const { merchantId, connectionId } = after;
  const tracked = newlyTracked(before, after);
  if (tracked.length === 0) return null;
  const recipient = await readAccountEmail(tx, merchantId);
  for (const shipment of tracked)
    await queueMail(tx, {
      ...trackingMail(after, shipment),
      merchantId,
      connectionId,
      id: shipment.id,
      recipient,
      now,
    });
  return null;
}
