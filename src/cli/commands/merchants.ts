import { LIMIT_NAMES, STORED_LIMITS } from "../../merchants/limits.ts";
import type { Field, RequestCommand } from "./command.ts";
import { list, money, orNone, time, wholeNumber, yesOrNo } from "./values.ts";

const MERCHANT: readonly Field[] = [
  { name: "name", flag: "--name <name>", help: "name of the company" },
  { name: "accountEmail", flag: "--account-email <address>", help: "where carrier tracking mail is sent" },
];

const MERCHANT_SETTINGS: readonly Field[] = [
  {
    name: "creditLimit",
    flag: "--credit-limit <amount>",
    help: 'how much the merchant may owe, such as "500.00 EUR"; none: unlimited',
    read: orNone(money),
  },
  {
    name: "completeWhenShipped",
    flag: "--complete-when-shipped <yes|no>",
    help: "complete orders automatically when everything is shipped and paid",
    read: yesOrNo,
  },
];

const CONNECTION: readonly Field[] = [
  { name: "name", flag: "--name <name>", help: "name of the partner" },
  {
    name: "reviewPolicy.maxQuantity",
    flag: "--max-quantity <units>",
    help: "review orders of more units; none: no limit",
    read: orNone(wholeNumber),
  },
  {
    name: "reviewPolicy.maxOrderValue",
    flag: "--max-order-value <amount>",
    help: 'review orders of a higher value, such as "500.00 EUR"; none: no limit',
    read: orNone(money),
  },
  {
    name: "reviewPolicy.countries",
    flag: "--countries <codes>",
    help: "review orders to other countries than these, such as DE,AT; none: no limit",
    read: orNone(list),
  },
];

/** Such as `--limit-test-orders <number>`. */
const LIMITS: readonly Field[] = LIMIT_NAMES.map((name) => ({
  name: `limits.${name}`,
  flag: `--limit-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} <number>`,
  help: `maximum number of ${STORED_LIMITS[name].unit}; none: the default, ${STORED_LIMITS[name].standard}`,
  read: orNone(wholeNumber),
}));

const search = (help: string): Field => ({ name: "q", flag: "--search <text>", help });

const KEY = {
  note: "The key is shown only this once. Store it now.",
  ifLost: (id: string) => `The key is lost: replace it with \`key rotate ${id} --overlap-hours 0\`.`,
};

/** Merchants with their accounts, connections and keys. */
export const MERCHANT_COMMANDS: readonly RequestCommand[] = [
  {
    words: "merchant create",
    operationId: "createMerchant",
    fields: [
      ...MERCHANT,
      {
        name: "currency",
        flag: "--currency <code>",
        help: "currency of all prices and charges; EUR by default",
      },
      ...MERCHANT_SETTINGS,
    ],
  },
  {
    words: "merchant list",
    operationId: "listMerchants",
    fields: [search("part of the name or of the email address")],
    columns: ["id", "name", "accountEmail", "currency", "creditLimit"],
  },
  {
    words: "merchant change",
    operationId: "updateMerchant",
    fields: [...MERCHANT, ...MERCHANT_SETTINGS],
  },
  { words: "merchant show", operationId: "getMerchant" },
  { words: "account show", argument: "merchant", argumentIsAlsoOption: true, operationId: "getAccount" },
  {
    words: "account list",
    argument: "merchant",
    argumentIsAlsoOption: true,
    operationId: "listAccountEntries",
    fields: [
      { name: "kind", flag: "--kind <kind>", help: "only charge, refund or payment" },
      {
        name: "orderId",
        flag: "--order <order>",
        help: "only entries of this order: its id, or the partner's own",
        namesOrder: true,
      },
    ],
    columns: [
      "id",
      "kind",
      "amount",
      "orderId",
      "externalOrderId",
      "chargeKind",
      "reference",
      "note",
      "createdAt",
    ],
  },
  {
    words: "account statement",
    argument: "merchant",
    argumentIsAlsoOption: true,
    operationId: "getStatement",
    csvOperationId: "getStatementCsv",
    help: "show the balance before and after a period, and what was booked in it",
    fields: [
      {
        name: "from",
        flag: "--from <time>",
        help: "begin of the period, such as 2026-01-01 or 2026-01-01T12:00:00Z; this month by default",
        read: time,
      },
      { name: "to", flag: "--to <time>", help: "end of the period; now by default", read: time },
    ],
    columns: ["createdAt", "kind", "amount", "balance", "orderId", "chargeId", "reference"],
  },
  { words: "charge show", operationId: "getCharge" },
  {
    words: "charge list",
    operationId: "listCharges",
    fields: [
      { name: "kind", flag: "--kind <kind>", help: "goods, shipping or refund" },
      { name: "status", flag: "--status <status>", help: "pending, succeeded, failed or canceled" },
      { name: "since", flag: "--since <time>", help: "only of orders created at or after it", read: time },
      { name: "until", flag: "--until <time>", help: "only of orders created before it", read: time },
    ],
    columns: ["id", "kind", "amount", "status", "attempt", "orderId", "failureReason", "createdAt"],
  },
  {
    words: "charge declined",
    operationId: "listPaymentFailures",
    fields: [{ name: "merchantId", flag: "--merchant <merchant>", help: "only of this merchant" }],
    columns: ["orderId", "merchantName", "amount", "reason", "remedy", "nextAttemptAt", "failedAt"],
  },
  {
    words: "account pay",
    argument: "merchant",
    argumentIsAlsoOption: true,
    operationId: "recordAccountPayment",
    help: "record a payment by a merchant, once for each reference",
    fields: [
      { name: "amount", flag: "--amount <amount>", help: 'such as "250.00 EUR"', read: money },
      {
        name: "reference",
        flag: "--reference <text>",
        help: "reference of the payment, such as the bank reference",
      },
      { name: "note", flag: "--note <text>", help: "a note about the payment" },
    ],
  },
  { words: "connection create", operationId: "createConnection", fields: CONNECTION },
  {
    words: "connection list",
    operationId: "listConnections",
    fields: [search("part of the name")],
    columns: ["id", "name", "createdAt"],
  },
  {
    words: "connection list-all",
    operationId: "listAllConnections",
    fields: [
      { name: "merchantId", flag: "--merchant <merchant>", help: "only connections of this merchant" },
      search("part of the name"),
    ],
    columns: ["id", "name", "merchantName", "createdAt"],
  },
  { words: "connection show", operationId: "getConnection" },
  {
    words: "connection change",
    operationId: "updateConnection",
    help: "update a connection; if one limit of its review policy is given, the whole policy is replaced",
    fields: [...CONNECTION, ...LIMITS],
  },
  { words: "connection usage", operationId: "getConnectionUsage" },
  {
    words: "key create",
    operationId: "createKey",
    help: "issue a key, which is shown only this once",
    secret: KEY,
    fields: [
      { name: "name", flag: "--name <name>", help: "name by which to recognize the key" },
      { name: "mode", flag: "--mode <mode>", help: "live, or test for test orders only; live by default" },
      {
        name: "expiresAt",
        flag: "--expires-at <time>",
        help: "such as 2030-01-31 or 2030-01-31T12:00:00Z",
        read: time,
      },
    ],
  },
  {
    words: "key list",
    operationId: "listKeys",
    fields: [
      {
        name: "live",
        flag: "--live <yes|no>",
        help: "only valid keys, or only revoked and expired ones",
        read: yesOrNo,
      },
    ],
    columns: ["id", "name", "mode", "prefix", "createdAt", "expiresAt", "revokedAt", "lastUsedAt"],
  },
  { words: "key show", operationId: "getKey" },
  {
    words: "key rotate",
    operationId: "rotateKey",
    help: "replace a key by a new one, which is shown only this once",
    secret: KEY,
    fields: [
      {
        name: "overlapHours",
        flag: "--overlap-hours <hours>",
        help: "how long the old key stays valid, 24 by default; 0 ends it at once",
        read: wholeNumber,
      },
      {
        name: "expiresAt",
        flag: "--expires-at <time>",
        help: "such as 2030-01-31; none: never; as long as the old one was given by default",
        read: orNone(time),
      },
    ],
  },
  { words: "key revoke", operationId: "revokeKey" },
];
