import type { OrderFilter } from "../../src/orders/reading/list-conditions-sql.ts";

/** The filter of a list of all real orders, newest first. */
export const ALL_ORDERS: OrderFilter = {
  scope: null,
  merchantId: null,
  connectionId: null,
  status: null,
  onHold: null,
  holdReason: null,
  ready: null,
  testMode: false,
  facilityId: null,
  countryCode: null,
  createdSince: null,
  createdUntil: null,
  updatedSince: null,
  updatedUntil: null,
  hasFailedDelivery: null,
  orderId: null,
  text: null,
  sort: "newest",
};
