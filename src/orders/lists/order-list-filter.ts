import type { OrderScope } from "../../access/scope.ts";
import { isSettled } from "../../lifecycle/lifecycle.ts";
import type { OrderStatus } from "../../lifecycle/order.ts";

/** Which orders are listed. A null restricts nothing. */
export type OrderFilter = {
  /** What the caller may see. */
  readonly scope: OrderScope;
  readonly merchantId: string | null;
  readonly connectionId: string | null;
  readonly status: OrderStatus | null;
  readonly onHold: boolean | null;
  readonly holdReason: string | null;
  /** Whether the warehouse can ship the order now. */
  readonly ready: boolean | null;
  readonly testMode: boolean;
  readonly facilityId: string | null;
  readonly countryCode: string | null;
  /** Included, like `updatedSince`; `createdUntil` and `updatedUntil` are not. */
  readonly createdSince: Date | null;
  readonly createdUntil: Date | null;
  readonly updatedSince: Date | null;
  readonly updatedUntil: Date | null;
  readonly hasFailedDelivery: boolean | null;
  /** The service's id of an order, if that was searched for. */
  readonly orderId: string | null;
  /** Otherwise the text that was searched for, as it was typed. */
  readonly text: string | null;
  readonly sort: "newest" | "oldest";
};

/**
 * Whether no index serves the filter, so that orders are read by time until the page is full (decision 0136). Settled
 * orders are most of all orders, and those of a status are met soon.
 */
export const isSparse = (filter: OrderFilter): boolean =>
  (filter.status !== null && isSettled({ status: filter.status }) && !filter.testMode) ||
  filter.countryCode !== null ||
  filter.updatedSince !== null ||
  filter.updatedUntil !== null ||
  filter.hasFailedDelivery !== null;

/** The merchants whose orders are read. Null: all. */
export function merchantsOf({ scope, merchantId }: OrderFilter): readonly string[] | null {
  if (merchantId !== null) return [merchantId];
  if (scope === null || scope.facilityIds.length > 0) return null;
  return [
    ...new Set([...scope.merchantIds, ...scope.connections.map((connection) => connection.merchantId)]),
  ];
}

/** The connections whose orders are read. Null: all of the merchants. */
export function connectionsOf({ scope, connectionId }: OrderFilter): readonly string[] | null {
  if (connectionId !== null) return [connectionId];
  const isPartner = scope !== null && scope.merchantIds.length === 0 && scope.facilityIds.length === 0;
  return isPartner ? scope.connections.map((connection) => connection.connectionId) : null;
}

/** Whether nothing can fit, so that nothing need be read. */
export const isNowhere = (filter: OrderFilter): boolean =>
  merchantsOf(filter)?.length === 0 || connectionsOf(filter)?.length === 0;
