import type { Static } from "typebox";
import type { OrderSchema } from "../../../orders/order-wire.ts";
import type { ActorSchema } from "../actor-schema.ts";
import type { BackOfficeOrderSchema, OrderSummarySchema } from "./order-schemas.ts";

type Summary = Static<typeof OrderSummarySchema>;
type Order = Static<typeof BackOfficeOrderSchema>;
type PartnersFields =
  | keyof Static<typeof OrderSchema>
  | "merchantId"
  | "merchantName"
  | "connectionId"
  | "connectionName";

/** The fields of a list that partners' developers do not see. A new field must be here, or be a partner's field. */
const HIDDEN: Omit<Summary, PartnersFields> = { goods: null, facilityId: null, routedAt: null };

/** Changes that partners see in an order's timeline. Payments, routing and notes are the merchant's business. */
const SHOWN_OPERATIONS: ReadonlySet<string> = new Set([
  "create",
  "process",
  "accept",
  "approve",
  "reject",
  "cancel",
  "cancelByPartner",
  "hold",
  "addHold",
  "releaseHold",
  "ship",
  "updateShipment",
  "complete",
  "returnShipment",
  "updateShippingAddress",
  "erasePersonalData",
]);

/** An order of a list without prices and routing, for the developers of its partner (decision 0122). */
export const summaryForPartner = (order: Summary): Summary => ({ ...order, ...HIDDEN });

/**
 * An order without the merchant's business: prices, charges, refunds, routing, notes and names of staff (decision 0122).
 * The timeline says which role made a change.
 */
export function orderForPartner(order: Order): Order {
  const hidden: Omit<Order, PartnersFields> = {
    ...HIDDEN,
    charges: [],
    refunds: [],
    returns: order.returns.map((returned) => ({
      ...returned,
      note: null,
      reference: null,
      refundId: null,
      actor: withoutName(returned.actor),
    })),
    holds: order.holds.map((hold) => ({ ...hold, placedBy: withoutName(hold.placedBy) })),
    shippingAddressVersion: order.shippingAddressVersion,
    personalDataErasedAt: order.personalDataErasedAt,
    timeline: order.timeline
      .filter(({ operation }) => SHOWN_OPERATIONS.has(operation))
      .map((entry) => ({
        ...entry,
        actor: withoutName(entry.actor),
        detail: null,
        requestId: entry.actor.kind === "partner" ? entry.requestId : null,
      })),
    actions: [],
  };
  return { ...order, ...hidden, lines: order.lines.map((line) => ({ ...line, unitPrice: null })) };
}

const withoutName = ({ kind }: Static<typeof ActorSchema>): Static<typeof ActorSchema> => ({
  kind,
  name: null,
  id: null,
});
