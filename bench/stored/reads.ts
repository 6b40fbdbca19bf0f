/** What the requests of a list of steps name: ids as the APIs show them. */
export type Names = {
  readonly merchant: string;
  readonly connection: string;
  readonly facility: string;
  readonly product: string;
  readonly endpoint: string;
  /** An order of today, of a month ago and the oldest one. */
  readonly order: string;
  readonly monthOld: string;
  readonly oldest: string;
  readonly delivery: string;
  readonly event: string;
  readonly shipment: string;
  /** Times as query parameters. */
  readonly today: string;
  readonly lastWeek: string;
};

/** Every GET of the partner API whose answer depends on orders. */
export const partnerReads = (n: Names): string[] => [
  `/v1/orders/${n.order}`,
  `/v1/orders/${n.oldest}`,
  "/v1/orders/shop-8",
  "/v1/orders/none",
  "/v1/products",
  "/v1/me",
  "/v1/webhook-endpoints",
  "/v1/events",
  "/v1/events?limit=100",
  `/v1/events?orderId=${n.order}`,
  "/v1/events?type=order.canceled",
  `/v1/events/${n.event}`,
  "/v1/deliveries",
  `/v1/deliveries?orderId=${n.order}`,
  "/v1/deliveries?status=failed",
  "/v1/deliveries?status=pending",
  `/v1/deliveries?endpointId=${n.endpoint}`,
  "/v1/deliveries?eventType=order.canceled",
  "/v1/deliveries?hasFailedAttempts=true",
  `/v1/deliveries?since=${n.lastWeek}`,
  `/v1/deliveries/${n.delivery}`,
];

const STATUSES = ["NEW", "PROCESSING", "ACCEPTED", "IN_PROGRESS", "COMPLETED", "CANCELED", "RETURNED"];

/** Bodies of `POST /v1/orders/search`. */
export const partnerSearches = (n: Names): object[] => [
  {},
  ...STATUSES.map((status) => ({ status: [status] })),
  { onHold: true },
  { testMode: true },
  { createdSince: n.lastWeek },
  { updatedSince: n.today },
];

const ORDER_FILTERS = (n: Names): string[] => [
  "",
  "sort=oldest",
  ...STATUSES.flatMap((status) => [`status=${status}`, `status=${status}&sort=oldest`]),
  "onHold=true",
  "onHold=false",
  "holdReason=out_of_stock",
  "holdReason=payment_failed",
  "ready=true",
  "ready=false",
  "testMode=true",
  `facilityId=${n.facility}`,
  `facilityId=${n.facility}&status=ACCEPTED`,
  "countryCode=GB",
  "countryCode=FR",
  `createdSince=${n.lastWeek}&createdUntil=${n.today}`,
  `updatedSince=${n.today}`,
  "hasFailedDelivery=true",
  "hasFailedDelivery=true&status=NEW",
];

const SEARCHES = ["last4711", "first7 last4711", "nobody", "shop-8", "JD88", "lovelace ada"];

const orderLists = (n: Names): string[] =>
  ["", `merchantId=${n.merchant}`, `connectionId=${n.connection}`].flatMap((scope) =>
    [
      ...ORDER_FILTERS(n),
      ...SEARCHES.map((text) => `q=${encodeURIComponent(text)}`),
      `q=${n.order}`,
      `q=${n.oldest}`,
    ].map((filter) => `/api/orders?${[scope, filter].filter(Boolean).join("&")}`),
  );

/** Every GET of the back office whose answer depends on orders or on what they leave. */
export const backOfficeReads = (n: Names): string[] => [
  ...orderLists(n),
  `/api/orders/${n.order}`,
  `/api/orders/${n.oldest}`,
  `/api/orders/${n.monthOld}/events`,
  `/api/orders/${n.order}/packing-slip`,
  "/api/order-references?externalOrderId=shop-8",
  `/api/shipments/${n.shipment}`,
  `/api/orders/export?since=${n.today}`,
  `/api/orders/export?merchantId=${n.merchant}&since=${n.today}&status=CANCELED`,
  "/api/overview/counts",
  "/api/overview?days=7",
  `/api/overview?days=90&merchantId=${n.merchant}`,
  "/api/work-list/overview",
  "/api/work-list",
  `/api/work-list?facilityId=${n.facility}`,
  "/api/work-list/scan?code=JD88",
  `/api/work-list/scan?code=${n.order}`,
  "/api/pick-lists",
  ...SEARCHES.map((text) => `/api/search?q=${encodeURIComponent(text)}`),
  ...[n.order, n.oldest, n.shipment, n.event, n.delivery].map((id) => `/api/search?q=${id}`),
  `/api/merchants/${n.merchant}/account`,
  `/api/merchants/${n.merchant}/account/entries`,
  `/api/merchants/${n.merchant}/account/entries?kind=refund`,
  `/api/merchants/${n.merchant}/account/entries?orderId=${n.oldest}`,
  `/api/merchants/${n.merchant}/statement?from=${n.lastWeek}&to=${n.today}`,
  ...["", "kind=refund", "kind=shipping", "status=failed", "status=pending", `since=${n.lastWeek}`].map(
    (filter) => `/api/merchants/${n.merchant}/charges?${filter}`,
  ),
  `/api/charges/${n.oldest.replace("ord_", "chg_")}`,
  "/api/payment-failures",
  `/api/merchants/${n.merchant}/products`,
  `/api/products/${n.product}/stock`,
  `/api/facilities/${n.facility}/stock`,
  `/api/facilities/${n.facility}/stock?availableBelow=10`,
  ...["", `productId=${n.product}`, "kind=returned", `merchantId=${n.merchant}`].map(
    (filter) => `/api/facilities/${n.facility}/stock-movements?${filter}`,
  ),
  "/api/webhook-endpoints",
  "/api/webhook-endpoints?health=unhealthy",
  ...["", "status=failed", "status=pending", "eventType=order.canceled", `since=${n.lastWeek}`].map(
    (filter) => `/api/deliveries?${filter}`,
  ),
  ...["", "status=failed", `orderId=${n.order}`, "hasFailedAttempts=true"].map(
    (filter) => `/api/connections/${n.connection}/deliveries?${filter}`,
  ),
  `/api/connections/${n.connection}/deliveries/${n.delivery}`,
  `/api/connections/${n.connection}/events`,
  `/api/connections/${n.connection}/events?orderId=${n.order}`,
  `/api/connections/${n.connection}/events?type=order.canceled`,
  `/api/connections/${n.connection}/test-orders`,
  `/api/connections/${n.connection}/usage`,
  ...["", `subjectId=${n.oldest}`, "action=cancelOrder", "actor=wms", `merchantId=${n.merchant}`].map(
    (filter) => `/api/audit-entries?${filter}`,
  ),
  "/api/system",
  "/api/system/checks",
];
