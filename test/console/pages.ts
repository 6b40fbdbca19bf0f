import type { Floor } from "./floor.ts";
import type { PersonName, World } from "./world.ts";

/** A page of the console as its test opens it. */
export type TestedPage = {
  /** Names its screenshots. */
  readonly name: string;
  readonly path: (world: World & Floor) => string;
  /** Who opens it. Null: no person has signed in. */
  readonly person: PersonName | null;
  /** The heading of the page. */
  readonly heading: string | RegExp;
};

/** Every page of the console. The pages are checked, and drawn by `npm run screenshots`. */
export const PAGES: readonly TestedPage[] = [
  { name: "sign-in", path: () => "/sign-in", person: null, heading: "Sign in" },
  { name: "sign-in-link", path: () => "/sign-in#token=of-a-link", person: null, heading: "Sign in" },
  { name: "sign-in-failed", path: () => "/sign-in?error=sign-in-failed", person: null, heading: "Sign in" },
  { name: "welcome", path: () => "/welcome#token=of-a-link", person: null, heading: "Welcome" },
  {
    name: "reset-password",
    path: () => "/reset-password#token=of-a-link",
    person: null,
    heading: "Set a new password",
  },
  { name: "overview", path: () => "/", person: "operator", heading: "Overview" },
  { name: "overview-of-merchant", path: () => "/?days=7", person: "merchant", heading: "Overview" },
  { name: "overview-of-warehouse", path: () => "/", person: "warehouse", heading: "Overview" },
  { name: "overview-of-partner", path: () => "/", person: "partner", heading: "Overview" },
  { name: "account", path: () => "/account", person: "operator", heading: "Your account" },
  { name: "orders", path: () => "/orders", person: "operator", heading: "Orders" },
  { name: "orders-empty", path: () => "/orders?status=RETURNED", person: "operator", heading: "Orders" },
  {
    name: "order-new",
    path: ({ freshOrder }) => `/orders/${freshOrder}`,
    person: "operator",
    heading: "shop-1007",
  },
  {
    name: "order-ready",
    path: ({ readyOrder }) => `/orders/${readyOrder}`,
    person: "warehouse",
    heading: "shop-1004",
  },
  {
    name: "order-shipped",
    path: ({ orders }) => `/orders/${orders.shipped}`,
    person: "merchant",
    heading: "shop-1001",
  },
  {
    name: "order-held",
    path: ({ orders }) => `/orders/${orders.held}`,
    person: "warehouse",
    heading: "shop-1002",
  },
  {
    name: "merchants",
    path: () => "/merchants",
    person: "operator",
    heading: "Merchants",
  },
  {
    name: "merchant",
    path: ({ partner }) => `/merchants/${partner.merchantId}`,
    person: "merchant",
    heading: "Merchant",
  },
  {
    name: "merchant-account",
    path: ({ partner }) => `/merchants/${partner.merchantId}/account?from=2026-03-01`,
    person: "operator",
    heading: "Account of Merchant",
  },
  {
    name: "stock-of-merchant",
    path: ({ partner }) => `/merchants/${partner.merchantId}/stock`,
    person: "merchant",
    heading: "Stock of Merchant",
  },
  {
    name: "charges",
    path: ({ partner }) => `/merchants/${partner.merchantId}/charges`,
    person: "merchant",
    heading: "Charges and refunds",
  },
  {
    name: "payment-failures-empty",
    path: () => "/payment-failures",
    person: "merchant",
    heading: "Declined payments",
  },
  {
    name: "products",
    path: ({ partner }) => `/products/of/${partner.merchantId}`,
    person: "merchant",
    heading: /^Products of/,
  },
  {
    name: "products-empty",
    path: ({ partner }) => `/products/of/${partner.merchantId}?q=no-such-product`,
    person: "merchant",
    heading: /^Products of/,
  },
  {
    name: "product",
    path: ({ partner }) => `/products/${partner.productIds[0]}`,
    person: "merchant",
    heading: /^Product$/,
  },
  {
    name: "import-products",
    path: ({ partner }) => `/products/of/${partner.merchantId}/import`,
    person: "merchant",
    heading: "Import products",
  },
  {
    name: "exposed-products",
    path: ({ partner }) => `/connections/${partner.connectionId}/products`,
    person: "partner",
    heading: "Products of Partner",
  },
  {
    name: "connections",
    path: () => "/connections",
    person: "partner",
    heading: "Connections",
  },
  {
    name: "connection",
    path: ({ partner }) => `/connections/${partner.connectionId}`,
    person: "merchant",
    heading: "Partner",
  },
  {
    name: "connection-of-partner",
    path: ({ partner }) => `/connections/${partner.connectionId}`,
    person: "partner",
    heading: "Partner",
  },
  { name: "endpoints", path: () => "/webhook-endpoints", person: "support", heading: "Webhook endpoints" },
  {
    name: "endpoint",
    path: ({ partner, endpointId }) => `/connections/${partner.connectionId}/webhook-endpoints/${endpointId}`,
    person: "partner",
    heading: /^https:/,
  },
  {
    name: "endpoints-of-warehouse",
    path: () => "/webhook-endpoints",
    person: "warehouse",
    heading: "Webhook endpoints",
  },
  {
    name: "endpoint-of-merchant",
    path: ({ partner, ofMerchant }) =>
      `/merchants/${partner.merchantId}/webhook-endpoints/${ofMerchant.endpointId}`,
    person: "merchant",
    heading: /^https:/,
  },
  {
    name: "endpoint-of-facility",
    path: ({ facilityId, ofFacility }) =>
      `/facilities/${facilityId}/webhook-endpoints/${ofFacility.endpointId}`,
    person: "warehouse",
    heading: /^https:/,
  },
  {
    name: "deliveries-of-merchant",
    path: ({ partner }) => `/merchants/${partner.merchantId}/deliveries`,
    person: "merchant",
    heading: "Deliveries",
  },
  {
    name: "deliveries-of-facility",
    path: ({ facilityId }) => `/facilities/${facilityId}/deliveries`,
    person: "warehouse",
    heading: "Deliveries",
  },
  {
    name: "delivery-of-merchant",
    path: ({ partner, ofMerchant }) => `/merchants/${partner.merchantId}/deliveries/${ofMerchant.deliveryId}`,
    person: "merchant",
    heading: "webhook.ping",
  },
  {
    name: "delivery-of-facility",
    path: ({ facilityId, ofFacility }) => `/facilities/${facilityId}/deliveries/${ofFacility.deliveryId}`,
    person: "warehouse",
    heading: "webhook.ping",
  },
  {
    name: "import-stock",
    path: ({ facilityId }) => `/facilities/${facilityId}/stock/import`,
    person: "warehouse",
    heading: "Import stock",
  },
  { name: "deliveries-of-all", path: () => "/deliveries", person: "merchant", heading: "Deliveries" },
  {
    name: "deliveries",
    path: ({ partner }) => `/connections/${partner.connectionId}/deliveries`,
    person: "partner",
    heading: "Deliveries",
  },
  {
    name: "delivery",
    path: ({ partner, deliveryId }) => `/connections/${partner.connectionId}/deliveries/${deliveryId}`,
    person: "partner",
    heading: "order.created",
  },
  {
    name: "signature-doctor",
    path: () => "/signature-doctor",
    person: "partner",
    heading: "Signature doctor",
  },
  { name: "people", path: () => "/people", person: "operator", heading: "People" },
  {
    name: "person",
    path: ({ people }) => `/people/${people.partner.email}`,
    person: "merchant",
    heading: "Paula",
  },
  { name: "tokens", path: () => "/tokens", person: "operator", heading: "Tokens" },
  { name: "token", path: ({ tokenId }) => `/tokens/${tokenId}`, person: "operator", heading: "Scales" },
  { name: "tokens-empty", path: () => "/tokens", person: "merchant", heading: "Tokens" },
  {
    name: "sandbox",
    path: ({ partner }) => `/sandbox/${partner.connectionId}`,
    person: "partner",
    heading: "Sandbox",
  },
  {
    name: "test-order",
    path: ({ partner, testOrder }) => `/sandbox/${partner.connectionId}/${testOrder}`,
    person: "partner",
    heading: "rehearsal-1",
  },
  { name: "audit-log", path: () => "/audit-log", person: "operator", heading: "Audit log" },
  { name: "system", path: () => "/system", person: "operator", heading: "System" },
  { name: "settings", path: () => "/settings", person: "operator", heading: "Settings" },
  {
    name: "review",
    path: () => "/review",
    person: "warehouse",
    heading: "Review queue",
  },
  { name: "work-list", path: () => "/work", person: "warehouse", heading: "Work list" },
  {
    name: "import-tracking",
    path: () => "/work/import",
    person: "warehouse",
    heading: "Import tracking",
  },
  { name: "packing-table", path: () => "/work/pack", person: "warehouse", heading: "Packing table" },
  {
    name: "commands",
    path: () => "/work/commands",
    person: "warehouse",
    heading: "Command barcodes",
  },
  {
    name: "pick-list",
    path: ({ pickListId }) => `/work/pick-lists/${pickListId}`,
    person: "warehouse",
    heading: "Pick list of Table 3",
  },
  {
    name: "pick-list-slips",
    path: ({ pickListId }) => `/work/pick-lists/${pickListId}/slips`,
    person: "warehouse",
    heading: /^Slips of/,
  },
  {
    name: "slips",
    path: ({ orders }) => `/work/slips/${orders.shipped}`,
    person: "warehouse",
    heading: "Slips of shop-1001",
  },
  { name: "returns", path: () => "/returns", person: "warehouse", heading: "Returns" },
  { name: "facilities", path: () => "/facilities", person: "operator", heading: "Facilities" },
  {
    name: "facility",
    path: ({ facilityId }) => `/facilities/${facilityId}`,
    person: "warehouse",
    heading: "Hall one",
  },
  {
    name: "stock",
    path: ({ facilityId }) => `/facilities/${facilityId}/stock`,
    person: "warehouse",
    heading: "Stock of Hall one",
  },
  {
    name: "stock-of-product",
    path: ({ facilityId, partner }) => `/facilities/${facilityId}/stock/${partner.productIds[1]}`,
    person: "warehouse",
    heading: /./,
  },
  {
    name: "movements",
    path: ({ facilityId }) => `/facilities/${facilityId}/movements`,
    person: "warehouse",
    heading: "Movements of Hall one",
  },
  { name: "choose-merchant", path: () => "/products", person: "operator", heading: "Products" },
  { name: "choose-connection", path: () => "/sandbox", person: "operator", heading: "Sandbox" },
  {
    name: "missing-page",
    path: () => "/no-such-page",
    person: "operator",
    heading: "This page does not exist",
  },
];
