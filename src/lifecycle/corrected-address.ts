import { ADDRESS_UNSERVICEABLE } from "./hold-reasons.ts";
import type { Order, ShippingAddress } from "./order.ts";
import type { Transition, TransitionRule } from "./transition.ts";

/** Corrections of one order. Each adds to its timeline, and can add to its ledger. */
export const ADDRESS_CORRECTIONS_MAX = 20;

type Correction = Extract<Transition, { name: "updateShippingAddress" }>;

/** What a correction of the address changes in an order, or the rule that forbids it (decision 0083). */
type Corrected = Partial<Order> | TransitionRule | null;

/** Whether the order would get another address. A repeated correction changes nothing. */
export const changesAddress = (
  order: Pick<Order, "shippingAddress">,
  change: Correction["change"],
): boolean => !isSameAddress({ ...order.shippingAddress, ...change }, order.shippingAddress);

/** Null if nothing changes. Routing depends on the country alone, so an order keeps its route within the country. */
export function correctAddress(order: Order, { change, isShippingPending }: Correction): Corrected {
  if (!changesAddress(order, change)) return null;
  const shippingAddress = { ...order.shippingAddress, ...change };
  if (order.shipments.length > 0) return "already_shipped";
  if (order.routedAt === null) return { shippingAddress, holdReasons: holdsAfter(order) };
  if (shippingAddress.countryCode === order.shippingAddress.countryCode) return { shippingAddress };
  // What the new route costs in addition is known only when the present charge has been paid.
  if (isShippingPending) return "shipping_charge_pending";
  return { shippingAddress, routedAt: null, facilityId: null };
}

/** Before its acceptance, an order that was held for its address is held no longer. After it, routing decides. */
function holdsAfter({ status, holdReasons }: Order): readonly string[] {
  if (status === "ACCEPTED" || !holdReasons.includes(ADDRESS_UNSERVICEABLE)) return holdReasons;
  return holdReasons.filter((reason) => reason !== ADDRESS_UNSERVICEABLE);
}

function isSameAddress(one: ShippingAddress, other: ShippingAddress): boolean {
  const texts = new Map<string, string | null>(Object.entries(other));
  return Object.entries(one).every(([field, text]) => texts.get(field) === text);
}
