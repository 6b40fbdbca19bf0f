import { ORDER_STATUSES, type OrderStatus } from "./order.ts";
import type { TransitionName, TransitionRule } from "./transition.ts";

/** Decision 0010. */
export const SETTLED_STATUSES: readonly OrderStatus[] = ["COMPLETED", "CANCELED", "RETURNED"];

const UNSETTLED = ORDER_STATUSES.filter((status) => !SETTLED_STATUSES.includes(status));
/** Shipments can still change after their order is settled. */
const SHIPPED: readonly OrderStatus[] = ["IN_PROGRESS", ...SETTLED_STATUSES];

type Edge = {
  readonly from: readonly OrderStatus[];
  /** The status after the transition. Null if it does not change. */
  readonly to: OrderStatus | null;
  /** The rule that forbids the transition in any other unsettled status. Null if there is no such status. */
  readonly otherwise: TransitionRule | null;
};

/**
 * The chart of real orders (specification, part 3, "Real orders"). docs/order-states.svg is drawn from it. A test order
 * accepts each transition from any unsettled status.
 */
export const ORDER_CHART: Readonly<Record<TransitionName, Edge>> = {
  cancelByPartner: { from: ["NEW"], to: "CANCELED", otherwise: "not_cancelable" },
  accept: { from: ["NEW"], to: "ACCEPTED", otherwise: "not_new" },
  // For test orders only. A real order is put in review when it is created.
  process: { from: [], to: "PROCESSING", otherwise: "not_new" },
  approve: { from: ["PROCESSING"], to: "ACCEPTED", otherwise: "not_in_review" },
  reject: { from: ["PROCESSING"], to: "CANCELED", otherwise: "not_in_review" },
  hold: { from: UNSETTLED, to: null, otherwise: null },
  addHold: { from: UNSETTLED, to: null, otherwise: null },
  releaseHold: { from: UNSETTLED, to: null, otherwise: null },
  ship: { from: ["ACCEPTED", "IN_PROGRESS"], to: "IN_PROGRESS", otherwise: "not_accepted" },
  updateShippingAddress: { from: ["NEW", "PROCESSING", "ACCEPTED"], to: null, otherwise: "already_shipped" },
  updateShipment: { from: SHIPPED, to: null, otherwise: "no_shipment_out" },
  complete: { from: ["IN_PROGRESS"], to: "COMPLETED", otherwise: "unshipped_lines" },
  cancel: { from: UNSETTLED, to: "CANCELED", otherwise: null },
  returnShipment: { from: SHIPPED, to: "RETURNED", otherwise: "no_shipment_out" },
};
