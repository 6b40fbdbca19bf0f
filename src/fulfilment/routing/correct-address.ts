import { isShippingPending } from "../../ledger/ledger.ts";
import { readLedger } from "../../ledger/ledger-sql.ts";
import { changesAddress } from "../../lifecycle/corrected-address.ts";
import { applyTransition, isChange } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderKey } from "../../lifecycle/order.ts";
import { addressVersion } from "../../orders/address/address-version.ts";
import { ADDRESS_CORRECTION, hasCorrectionsLeft } from "../../orders/address/corrections-left.ts";
import type { AddressUpdate } from "../../orders/address-schemas.ts";
import { inSeenOrder, type Staff, storeOutcome } from "../../orders/changes/change-order.ts";
import { orderOrRefusal, transitionRefused } from "../../orders/changes/transition-refused.ts";
import { readOrders } from "../../orders/orders-sql.ts";
import type { Context } from "../../platform/context.ts";
import { versionChanged } from "../../platform/wire/content-version.ts";
import { isProblem, type Problem } from "../../platform/wire/problems.ts";
import { assignFacilities } from "./assign-facilities.ts";

/**
 * Corrects the address of a real order that has not shipped (decision 0083). If the country changes, the order loses its
 * route and its reservations, and an accepted order is routed again in the same transaction: no other order gets its goods
 * in between. A retry is safe: it changes nothing. If the address has another version than expected, it is rejected
 * (decision 0223).
 */
export function correctAddress(
  context: Context,
  staff: Staff,
  key: OrderKey,
  { countryCode, expectedVersion, ...texts }: AddressUpdate,
): Promise<Order | Problem> {
  const change = { ...texts, ...(countryCode !== undefined && { countryCode: countryCode.toUpperCase() }) };
  return inSeenOrder(context, staff, key, async (tx, order, at, by) => {
    if (changesAddress(order, change)) {
      const version = addressVersion(order.shippingAddress);
      if (expectedVersion !== undefined && expectedVersion !== version)
        return versionChanged("The fields of the address", version);
      if (!(await hasCorrectionsLeft(tx, order)))
        return transitionRefused(ADDRESS_CORRECTION, order, "too_many_corrections");
    }
    const isPending = isShippingPending(await readLedger(tx, order, order.id)); // No outcome is recorded under the lock.
    const correction = { name: ADDRESS_CORRECTION, change, isShippingPending: isPending } as const;
    const outcome = applyTransition(order, correction, at.now);
    const cause = { operation: ADDRESS_CORRECTION, by, detail: Object.keys(change).sort().join(", ") };
    await storeOutcome(tx, order, outcome, cause, at);
    const corrected = orderOrRefusal(ADDRESS_CORRECTION, outcome);
    if (isProblem(corrected)) return corrected;
    const isUnrouted = corrected.status === "ACCEPTED" && corrected.routedAt === null;
    if (!isUnrouted || !isChange(outcome)) return corrected;
    await assignFacilities(tx, [corrected], at);
    const [routed = corrected] = await readOrders(tx, corrected, [corrected.id]);
    return routed;
  });
}
