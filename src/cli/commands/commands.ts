import {
  canceled,
  corrected,
  done,
  held,
  nowHasStatus,
  refunded,
  released,
  returned,
  shipped,
  shownOrder,
  taken,
} from "../outcomes.ts";
import { AGE, member, QUANTITY } from "../present.ts";
import type { RequestCommand } from "./command.ts";

/** What is shown only once, and the command that replaces it. */
const secret = (what: "key" | "token" | "secret", replace: (id: string) => string) => ({
  note: `The ${what} is shown only this once. Store it now.`,
  ifLost: (id: string) => `The ${what} is lost: ${replace(id)}.`,
});
const KEY = secret("key", (id) => `replace it with \`key rotate ${id} --overlap-hours 0\``);
const TOKEN = secret("token", (id) => `replace it with \`token rotate ${id} --overlap-hours 0\``);
const SIGNING_SECRET = secret("secret", (id) => `make another one with \`endpoint rotate-secret ${id}\``);
const LINK = {
  note: "The link signs in as this person, once within an hour. Give it to that person alone.",
  ifLost: () => "The link is lost: make another one with the same command.",
};

const CREDENTIAL_COLUMNS = ["prefix", "createdAt", "expiresAt", "revokedAt", "lastUsedAt"] as const;
const ENDPOINT_COLUMNS = [
  "id",
  "connectionId",
  "mode",
  "health",
  "url",
  "consecutiveFailures",
  "lastSuccessAt",
  "pendingDeliveries",
] as const;

/**
 * The requests that people make often, with short names, tables and results in words. `api` makes all others. The description
 * of an operation says what its options are and mean.
 */
export const COMMANDS: readonly RequestCommand[] = [
  { words: "merchant create", operationId: "createMerchant" },
  {
    words: "merchant list",
    operationId: "listMerchants",
    columns: ["id", "name", "accountEmail", "currency", "creditLimit"],
  },
  { words: "merchant show", operationId: "getMerchant" },
  { words: "merchant change", operationId: "updateMerchant" },
  { words: "account show", argument: "merchant", operationId: "getAccount" },
  {
    words: "account list",
    argument: "merchant",
    operationId: "listAccountEntries",
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
    operationId: "getStatement",
    csvOperationId: "getStatementCsv",
    columns: ["createdAt", "kind", "amount", "balance", "orderId", "chargeId", "reference"],
  },
  { words: "account pay", argument: "merchant", operationId: "recordAccountPayment" },
  { words: "connection create", operationId: "createConnection" },
  { words: "connection list", operationId: "listConnections", columns: ["id", "name", "createdAt"] },
  {
    words: "connection list-all",
    operationId: "listAllConnections",
    columns: ["id", "name", "merchantName", "createdAt"],
  },
  { words: "connection show", operationId: "getConnection" },
  { words: "connection change", operationId: "updateConnection" },
  { words: "connection usage", operationId: "getConnectionUsage" },
  { words: "key create", operationId: "createKey", secret: KEY },
  { words: "key list", operationId: "listKeys", columns: ["id", "name", "mode", ...CREDENTIAL_COLUMNS] },
  { words: "key show", operationId: "getKey" },
  { words: "key rotate", operationId: "rotateKey", secret: KEY },
  { words: "key revoke", operationId: "revokeKey" },
  { words: "token create", operationId: "createToken", secret: TOKEN },
  {
    words: "token list",
    operationId: "listTokens",
    columns: ["id", "name", "role", ...CREDENTIAL_COLUMNS, "scopes"],
  },
  { words: "token show", operationId: "getToken" },
  { words: "token rotate", operationId: "rotateToken", secret: TOKEN },
  { words: "token revoke", operationId: "revokeToken" },
  { words: "me show", operationId: "getMe" },
  { words: "person invite", operationId: "invitePerson" },
  {
    words: "person list",
    operationId: "listPeople",
    columns: ["id", "name", "email", "state", "createdAt", "lastSignedInAt"],
  },
  { words: "person show", operationId: "getPerson" },
  { words: "person grant", operationId: "setGrants" },
  { words: "person link", operationId: "makeSignInLink", secret: LINK },
  { words: "product create", operationId: "createProduct" },
  { words: "product list", operationId: "listProducts", columns: ["id", "sku", "name", "price", "status"] },
  { words: "product show", operationId: "getProduct" },
  { words: "product change", operationId: "updateProduct" },
  { words: "product export", operationId: "exportProducts" },
  {
    words: "order list",
    operationId: "listOrders",
    columns: [
      "id",
      "externalOrderId",
      "status",
      "onHoldReasons",
      member("merchant", "merchantName"),
      QUANTITY,
      "goods",
      member("country", "shippingAddress.countryCode"),
      AGE,
    ],
  },
  { words: "order show", operationId: "getOrder", outcome: shownOrder },
  {
    words: "order note",
    operationId: "addOrderNote",
    outcome: done("The note is in the timeline of the order."),
  },
  { words: "order approve", operationId: "approveOrder", outcome: nowHasStatus("Approved") },
  { words: "order reject", operationId: "rejectOrder", outcome: canceled("Rejected") },
  { words: "order cancel", operationId: "cancelOrder", outcome: canceled("Canceled") },
  { words: "order hold", operationId: "holdOrder", outcome: held },
  { words: "order release-hold", operationId: "releaseOrderHold", outcome: released },
  {
    words: "order ship",
    operationId: "shipOrder",
    outcome: shipped,
    flags: { lineIds: "lines", lines: "quantities" },
  },
  { words: "order complete", operationId: "completeOrder", outcome: nowHasStatus("Completed") },
  { words: "order return", operationId: "returnShipment", outcome: returned, flags: { lines: "quantities" } },
  { words: "order refund", operationId: "refundOrder", outcome: refunded },
  { words: "order correct-address", operationId: "updateShippingAddress", outcome: corrected },
  {
    words: "order retry-payment",
    operationId: "retryPayment",
    outcome: nowHasStatus("The payment is tried again"),
  },
  {
    words: "order erase-personal-data",
    operationId: "erasePersonalData",
    outcome: done("The personal data of the buyer is erased."),
  },
  { words: "shipment show", operationId: "getShipment" },
  { words: "shipment change", operationId: "updateShipment" },
  {
    words: "work-list list",
    operationId: "listWork",
    csvOperationId: "exportWork",
    columns: [
      "orderId",
      "externalOrderId",
      "facilityId",
      "lines",
      QUANTITY,
      member("country", "shippingAddress.countryCode"),
      member("taken by", "pickList.takenBy"),
      AGE,
    ],
  },
  {
    words: "pick-list take",
    operationId: "takePickList",
    outcome: taken,
    flags: { takenBy: "by", orderLimit: "orders", leaseMinutes: "minutes" },
  },
  { words: "pick-list show", operationId: "getPickList" },
  { words: "pick-list release", operationId: "releasePickList" },
  { words: "facility create", operationId: "createFacility" },
  {
    words: "facility list",
    operationId: "listFacilities",
    columns: ["id", "name", "countryCode", "createdAt", "closedAt"],
  },
  { words: "facility show", operationId: "getFacility" },
  { words: "facility change", operationId: "updateFacility" },
  {
    words: "stock list",
    operationId: "listStock",
    columns: ["productId", "sku", "name", "onHand", "reserved", "available", "updatedAt"],
  },
  { words: "stock show", operationId: "getStock" },
  { words: "stock set", operationId: "setStock" },
  { words: "endpoint list", operationId: "listWebhookEndpoints", columns: ENDPOINT_COLUMNS },
  { words: "endpoint list-all", operationId: "listAllWebhookEndpoints", columns: ENDPOINT_COLUMNS },
  { words: "endpoint show", operationId: "getWebhookEndpoint" },
  { words: "endpoint pause", operationId: "pauseWebhookEndpoint" },
  { words: "endpoint resume", operationId: "resumeWebhookEndpoint" },
  { words: "endpoint rotate-secret", operationId: "rotateWebhookSecret", secret: SIGNING_SECRET },
  {
    words: "delivery list",
    operationId: "listDeliveries",
    columns: ["id", "eventType", "orderId", "status", "createdAt", "nextAttemptAt", "attempts"],
  },
  {
    words: "delivery list-all",
    operationId: "listAllDeliveries",
    columns: ["id", "connectionName", "eventType", "orderId", "status", "createdAt", "nextAttemptAt"],
  },
  { words: "delivery show", operationId: "getDelivery" },
  { words: "delivery redeliver", operationId: "redeliverDelivery" },
  {
    words: "audit list",
    operationId: "listAuditEntries",
    columns: ["id", "createdAt", "action", member("actor", "actor.name"), "merchantId", "subjectIds"],
  },
  { words: "audit show", argument: "audit-entry", operationId: "getAuditEntry" },
];
