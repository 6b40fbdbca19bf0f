import type { Initiator } from "../../audit/initiator.ts";
import { isShippingPending } from "../../ledger/ledger.ts";
import { readLedger } from "../../ledger/ledger-sql.ts";
import { changesAddress } from "../../lifecycle/corrected-address.ts";
import { asOf } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderKey } from "../../lifecycle/order.ts";
import { addressVersion } from "../../orders/address/address-version.ts";
import { ADDRESS_CORRECTION, hasCorrectionsLeft } from "../../orders/address/corrections-left.ts";
import type { AddressUpdate } from "../../orders/address-schemas.ts";
import { transitionOrder } from "../../orders/changes/transition-order.ts";
import { transitionRefused } from "../../orders/changes/transition-refused.ts";
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
export async function correctAddress(
  context: Context,
  key: OrderKey,
  update: AddressUpdate,
  by: Initiator,
): Promise<Order | Problem> {
  const { countryCode, expectedVersion, ...texts } = update;
  const change = { ...texts, ...(countryCode !== undefined && { countryCode: countryCode.toUpperCase() }) };
  let isPending = false;
  let isPossible = true;
  const corrected = await transitionOrder(context, key, {
    by,
    cause: { operation: ADDRESS_CORRECTION, detail: Object.keys(change).sort().join(", ") },
    async prepare(tx, order) {
      isPending = isShippingPending(await readLedger(tx, order, order.id)); // No outcome is recorded under the lock.
      isPossible = await hasCorrectionsLeft(tx, order);
      return order;
    },
    transition(order) {
      const isChange = changesAddress(order, change);
      const version = addressVersion(order.shippingAddress);
      if (isChange && expectedVersion !== undefined && expectedVersion !== version)
        return versionChanged("The fields of the address", version);
      return isPossible || !isChange
        ? { name: ADDRESS_CORRECTION, change, isShippingPending: isPending }
        : transitionRefused(ADDRESS_CORRECTION, order, "too_many_corrections");
    },
    async alongside(tx, { before, after }, at) {
      if (after !== before && after.status === "ACCEPTED" && after.routedAt === null)
        await assignFacilities(tx, [after], at);
      return null;
    },
  });
  if (isProblem(corrected)) return corrected;
  const [stored = corrected] = await readOrders(context.db, key, [key.id]);
  return asOf(stored, context.clock.now());
}
