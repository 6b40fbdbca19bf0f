import { openFailures, resolveFailures } from "../../ledger/failures/payment-failures-sql.ts";
import { failedCharges, type LedgerEntry } from "../../ledger/ledger.ts";
import type { RecordContext } from "../../lifecycle/applied-transition.ts";
import { wasCanceled } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** An order whose ledger has new outcomes. */
type Recorded = {
  readonly order: Order;
  readonly recorded: {
    readonly ledger: readonly LedgerEntry[];
    /** Whether any charge succeeded. */
    readonly hasPaid: boolean;
  };
};

/**
 * Records which orders have a failed payment now, and whose was paid, for the mails to their merchants. Before the
 * transitions of the orders are stored: what is paid is not waived.
 */
export async function recordFailures(
  tx: Queryable,
  outcomes: readonly Recorded[],
  { newId, now }: RecordContext,
): Promise<void> {
  const owing = outcomes.filter(({ order }) => !wasCanceled(order));
  const failed = owing.flatMap(({ order, recorded }) => {
    const [declined] = failedCharges(recorded.ledger);
    return declined === undefined
      ? []
      : [{ order, id: newId(), reason: declined.failureReason ?? "declined" }];
  });
  const stillFailed = new Set(failed.map(({ order }) => order.id));
  const paid = owing.filter(({ order, recorded }) => recorded.hasPaid && !stillFailed.has(order.id));
  await openFailures(tx, failed, now);
  await resolveFailures(
    tx,
    paid.map(({ order }) => order),
    "paid",
    now,
  );
}
