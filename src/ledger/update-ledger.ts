import type { RecordContext } from "../lifecycle/applied-transition.ts";
import type { OrderKey } from "../lifecycle/order.ts";
import type { Queryable } from "../platform/database/database.ts";
import { requireRecentAuthentication, type Unproved } from "../platform/wire/problems.ts";
import {
  failedCharges,
  type LedgerChange,
  type LedgerEntry,
  ledgerEffectOf,
  type NewEntry,
  refundsOwed,
  waivers,
} from "./ledger.ts";
import { cancelUnsentEntries, insertEntries, insertGoodsCharges, readLedgers } from "./ledger-sql.ts";
import { resolveFailures } from "./payment-failures-sql.ts";

/**
 * Stores the effects of transitions on ledgers, in the transaction that has locked the orders. An entry that a worker
 * has claimed is left to the worker: it locks the order to record the outcome, and then sees the order as it is.
 */
export async function updateLedger(
  tx: Queryable,
  transitions: readonly LedgerChange[],
  at: RecordContext & Unproved,
): Promise<void> {
  const byEffect = Map.groupBy(transitions, ledgerEffectOf);
  for (const orders of ofEachMerchant(byEffect.get("charge") ?? []))
    await insertGoodsCharges(tx, orders, at.now);
  for (const orders of ofEachMerchant(byEffect.get("refund") ?? [])) await refund(tx, orders, at);
  for (const orders of ofEachMerchant(byEffect.get("waive") ?? [])) await waive(tx, orders, at);
}

/** Orders of one merchant. Never empty. */
type ChangedKey = OrderKey & { readonly requestId: string | null };
type Orders = readonly [ChangedKey, ...ChangedKey[]];

/** Ledgers are changed merchant by merchant, in the order of the merchants' ids, because each is on its own shard. */
const ofEachMerchant = (transitions: readonly LedgerChange[]): Orders[] =>
  [...Map.groupBy(transitions, ({ after }) => after.merchantId)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, group]) => group.map(keyOf) as unknown as Orders); // Groups are never empty.

/** Cancels unsent charges of canceled orders, and refunds what is left of the others. Earlier refunds are still made. */
async function refund(tx: Queryable, orders: Orders, at: RecordContext & Unproved): Promise<void> {
  const ledgerOf = await readLedgers(tx, orders[0], orders.map(idOf));
  const pending = orders.flatMap(({ id }) => ledgerOf(id).filter(isPendingCharge));
  // A pending charge may be on its way to the gateway, and is refunded as soon as it is known to be paid.
  if (orders.some(({ id }) => ledgerOf(id).some(isOrMayBePaid))) requireRecentAuthentication(at);
  await cancelUnsentEntries(tx, orders[0].merchantId, orders.map(idOf), pending.map(idOf), at.now);
  await resolveFailures(tx, orders, "canceled", at.now);
  await insertEntries(
    tx,
    orders.flatMap((order) => refundsOwed(ledgerOf(order.id), at.now).map(entryOf(order, at))),
    at.now,
  );
}

/**
 * Releasing the hold for a failed payment lets the order proceed unpaid: declined charges are waived
 * (docs/design/money.md, "Each payment happens once"). After a payment there is nothing to waive.
 */
async function waive(tx: Queryable, orders: Orders, at: RecordContext & Unproved): Promise<void> {
  const { merchantId } = orders[0];
  const orderIds = orders.map(idOf);
  const ledgerOf = await readLedgers(tx, orders[0], orderIds);
  const declined = orders.flatMap(({ id }) => failedCharges(ledgerOf(id)));
  if (declined.length === 0) return;
  requireRecentAuthentication(at);
  await resolveFailures(tx, orders, "waived", at.now);
  const canceled = await cancelUnsentEntries(tx, merchantId, orderIds, declined.map(idOf), at.now);
  const asCanceled = (entry: LedgerEntry): LedgerEntry =>
    canceled.has(entry.id) ? { ...entry, status: "canceled" } : entry;
  const entries = orders.flatMap((order) =>
    waivers(ledgerOf(order.id).map(asCanceled), at.now).map(entryOf(order, at)),
  );
  await insertEntries(tx, entries, at.now);
  await cancelUnsentEntries(tx, merchantId, orderIds, entries.map(idOf), at.now);
}

const isOrMayBePaid = ({ kind, status }: LedgerEntry): boolean =>
  kind !== "refund" && (status === "succeeded" || status === "pending");

const isPendingCharge = ({ kind, status }: LedgerEntry): boolean => status === "pending" && kind !== "refund";

const idOf = ({ id }: { readonly id: string }): string => id;

const keyOf = ({ after: { merchantId, connectionId, id }, requestId = null }: LedgerChange): ChangedKey => ({
  merchantId,
  connectionId,
  id,
  requestId,
});

const entryOf =
  (order: ChangedKey, { newId }: RecordContext) =>
  (entry: NewEntry) => ({ ...entry, order, id: newId(), requestId: order.requestId });
