import type { Initiator } from "../../../audit/initiator.ts";
import { recordAudit } from "../../../audit/record-audit.ts";
import type { OrderOwner } from "../../../orders/order-owners-sql.ts";
import type { Context } from "../../../platform/context.ts";

type ReadOrders = {
  readonly orders: readonly (Pick<OrderOwner, "merchantId" | "connectionId"> & { readonly id: string })[];
  readonly testMode: boolean;
  /** How they were found. Never a text that was searched for: it may name the buyer. */
  readonly details?: Readonly<Record<string, unknown>>;
};

/**
 * Records who reads which addresses, before they are sent (decision 0070): an entry for each merchant of a list. A list
 * without orders leaves none.
 */
export async function recordReads(
  context: Context,
  by: Initiator,
  { orders, testMode, details = {} }: ReadOrders,
): Promise<void> {
  const byMerchant = Map.groupBy(orders, ({ merchantId }) => merchantId);
  const facts = [...byMerchant].map(([merchantId, own]) => {
    const connections = new Set(own.map(({ connectionId }) => connectionId));
    const [connectionId = null] = connections.size === 1 ? connections : [];
    const subject = testMode ? ("test" as const) : ("ord" as const);
    return { merchantId, connectionId, subject, ids: own.map(({ id }) => id), details };
  });
  await recordAudit(context.db, context, by, ...facts);
}
