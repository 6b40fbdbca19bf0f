import type { Field, RequestCommand } from "./command.ts";
import { list, money, orEmpty, orNone, wholeNumber, yesOrNo } from "./values.ts";

const named = (help: string, required = false): Field => ({
  flag: "--name <name>",
  body: "name",
  help,
  required,
});

const search = (help: string): Field => ({ flag: "--search <text>", query: "q", help });

const REVIEW: readonly Field[] = [
  {
    ...{ flag: "--max-quantity <pieces>", body: "reviewPolicy.maxQuantity", read: orNone(wholeNumber) },
    help: "review orders of more pieces; none: no limit",
  },
  {
    ...{ flag: "--max-order-value <amount>", body: "reviewPolicy.maxOrderValue", read: orNone(money) },
    help: 'review orders worth more, such as "500.00 EUR"; none: no limit',
  },
  {
    ...{ flag: "--countries <codes>", body: "reviewPolicy.countries", read: orNone(list) },
    help: "review orders to other countries than these, such as DE,AT; none: no limit",
  },
];

const product = (required: boolean): readonly Field[] => [
  { flag: "--sku <sku>", body: "sku", help: "the merchant's article number", required },
  named("what it is called", required),
  { flag: "--price <amount>", body: "price", help: 'per piece, such as "12.50 EUR"', required, read: money },
  { flag: "--weight-grams <grams>", body: "weightGrams", help: "per piece", read: orNone(wholeNumber) },
  { flag: "--description <text>", body: "description", help: "empty: none", read: orEmpty },
  { flag: "--image-url <url>", body: "imageUrl", help: "empty: none", read: orEmpty },
];

const MERCHANT_SETTINGS: readonly Field[] = [
  {
    ...{ flag: "--credit-limit <amount>", body: "creditLimit", read: orNone(money) },
    help: 'what it may owe, such as "500.00 EUR"; none: unlimited',
  },
  {
    ...{ flag: "--complete-when-shipped <yes|no>", body: "completeWhenShipped", read: yesOrNo },
    help: "complete orders by themselves once all is shipped and paid for",
  },
];

/** Merchants, connections, keys, products and deliveries. Each command is one request of the back office API. */
export const OFFICE_COMMANDS: readonly RequestCommand[] = [
  {
    ...{ words: "merchant create", method: "POST", path: "/api/merchants", help: "create a merchant" },
    fields: [
      named("the company's name", true),
      {
        flag: "--account-email <address>",
        body: "accountEmail",
        help: "where its mail goes",
        required: true,
      },
      { flag: "--currency <code>", body: "currency", help: "of all its prices and charges; EUR by default" },
      ...MERCHANT_SETTINGS,
    ],
  },
  {
    ...{ words: "merchant list", method: "GET", path: "/api/merchants", help: "list merchants" },
    fields: [search("a part of the name or of the account's address")],
    columns: ["id", "name", "accountEmail", "currency", "creditLimit"],
  },
  {
    ...{ words: "merchant change", method: "PATCH", path: "/api/merchants/{id}", help: "change a merchant" },
    fields: [
      named("the company's name"),
      { flag: "--account-email <address>", body: "accountEmail", help: "where its mail goes" },
      ...MERCHANT_SETTINGS,
    ],
  },
  { words: "merchant show", method: "GET", path: "/api/merchants/{id}", help: "show a merchant" },
  {
    ...{ words: "connection create", method: "POST", path: "/api/merchants/{merchant}/connections" },
    help: "connect a partner to a merchant",
    fields: [named("the partner's name", true), ...REVIEW],
  },
  {
    ...{ words: "connection list", method: "GET", path: "/api/merchants/{merchant}/connections" },
    help: "list a merchant's connections",
    fields: [search("a part of the name")],
    columns: ["id", "name", "createdAt"],
  },
  { words: "connection show", method: "GET", path: "/api/connections/{id}", help: "show a connection" },
  {
    ...{ words: "connection change", method: "PATCH", path: "/api/connections/{id}" },
    help: "change a connection; its review policy is replaced whole when any of its limits is given",
    fields: [named("the partner's name"), ...REVIEW],
  },
  {
    ...{ words: "key create", method: "POST", path: "/api/connections/{connection}/keys" },
    help: "issue a key, which is shown this once",
    fields: [
      named("to recognise it by"),
      { flag: "--expires-at <time>", body: "expiresAt", help: "such as 2030-01-31T00:00:00Z" },
    ],
  },
  {
    ...{
      words: "key list",
      method: "GET",
      path: "/api/connections/{connection}/keys",
      help: "list a connection's keys",
    },
    fields: [
      {
        ...{ flag: "--live <yes|no>", query: "live", read: yesOrNo },
        help: "only those that open the API now, or only others",
      },
    ],
    columns: ["id", "name", "prefix", "createdAt", "expiresAt", "revokedAt"],
  },
  { words: "key revoke", method: "POST", path: "/api/keys/{id}/revoke", help: "refuse a key from now on" },
  {
    ...{ words: "product create", method: "POST", path: "/api/merchants/{merchant}/products" },
    help: "add a product to a merchant's catalogue",
    fields: product(true),
  },
  {
    ...{ words: "product list", method: "GET", path: "/api/merchants/{merchant}/products" },
    help: "list a merchant's catalogue",
    fields: [
      { flag: "--sku <sku>", query: "sku", help: "only with this article number" },
      { flag: "--status <status>", query: "status", help: "active or discontinued" },
      { flag: "--connection <connection>", query: "connectionId", help: "only what is exposed to it" },
      search("a part of the article number or of the name"),
    ],
    columns: ["id", "sku", "name", "price", "status"],
  },
  {
    ...{ words: "product change", method: "PATCH", path: "/api/products/{id}", help: "change a product" },
    fields: [
      ...product(false),
      { flag: "--status <status>", body: "status", help: "active or discontinued" },
    ],
  },
  {
    ...{ words: "product expose", method: "PUT", path: "/api/connections/{connection}/products/{id}" },
    help: "let a connection's partner see and order a product",
  },
  {
    ...{ words: "product withdraw", method: "DELETE", path: "/api/connections/{connection}/products/{id}" },
    help: "take a product from a connection's partner",
  },
  {
    ...{ words: "delivery list", method: "GET", path: "/api/connections/{connection}/deliveries" },
    help: "list webhook deliveries, newest first",
    fields: [
      { flag: "--status <status>", query: "status", help: "pending, succeeded or failed" },
      { flag: "--order <order>", query: "orderId", help: "only of this order" },
      { flag: "--endpoint <endpoint>", query: "endpointId", help: "only to this endpoint" },
      { flag: "--event <event>", query: "eventId", help: "only of this event" },
    ],
    columns: ["id", "eventType", "orderId", "status", "createdAt", "nextAttemptAt", "attempts"],
  },
  {
    ...{ words: "delivery show", method: "GET", path: "/api/connections/{connection}/deliveries/{id}" },
    help: "show a delivery with its attempts",
  },
  {
    ...{ words: "delivery redeliver", method: "POST" },
    path: "/api/connections/{connection}/deliveries/{id}/redeliver",
    help: "send a delivery once more, at once",
  },
];
