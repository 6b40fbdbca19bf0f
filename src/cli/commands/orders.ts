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
} from "../outcomes.ts";
import { AGE, member, QUANTITY } from "../present.ts";
import type { Field, RequestCommand } from "./command.ts";
import { lineQuantities, list, money, orEmpty, time, wholeNumber, yesOrNo } from "./values.ts";

const reasons = (help: string): Field => ({
  name: "reasons",
  flag: "--reasons <reasons>",
  help,
  read: list,
});

const REASON: readonly Field[] = [
  { name: "reason", flag: "--reason <text>", help: "explanation for the order's timeline" },
];

export const TRACKING: readonly Field[] = [
  { name: "carrier", flag: "--carrier <name>", help: "name of the carrier" },
  { name: "trackingNumber", flag: "--tracking-number <number>", help: "tracking number of the carrier" },
  { name: "trackingUrl", flag: "--tracking-url <url>", help: "address where the shipment can be tracked" },
];

export const ADDRESS: readonly Field[] = [
  { name: "firstName", flag: "--first-name <text>", help: "first name of the recipient" },
  { name: "lastName", flag: "--last-name <text>", help: "last name of the recipient" },
  {
    name: "name",
    flag: "--name <text>",
    help: "full name to print; an empty text removes it",
    read: orEmpty,
  },
  { name: "company", flag: "--company <text>", help: "company; an empty text removes it", read: orEmpty },
  { name: "address1", flag: "--address1 <text>", help: "street and number" },
  {
    name: "address2",
    flag: "--address2 <text>",
    help: "second line; an empty text removes it",
    read: orEmpty,
  },
  { name: "city", flag: "--city <text>", help: "city or town" },
  { name: "zip", flag: "--zip <text>", help: "postal code" },
  {
    name: "stateCode",
    flag: "--state <code>",
    help: "state or province; an empty text removes it",
    read: orEmpty,
  },
  { name: "countryCode", flag: "--country <code>", help: "country, such as DE; the order is routed again" },
  { name: "phone", flag: "--phone <number>", help: "phone; an empty text removes it", read: orEmpty },
];

/** Orders, their shipments, and what was sent about them. */
export const ORDER_COMMANDS: readonly RequestCommand[] = [
  {
    words: "order list",
    operationId: "listOrders",
    fields: [
      { name: "merchantId", flag: "--merchant <merchant>", help: "only orders of this merchant" },
      { name: "connectionId", flag: "--connection <connection>", help: "only orders of this connection" },
      { name: "status", flag: "--status <status>", help: "only orders with this status, such as PROCESSING" },
      {
        name: "onHold",
        flag: "--on-hold <yes|no>",
        help: "only orders on hold, or only others",
        read: yesOrNo,
      },
      {
        name: "ready",
        flag: "--ready <yes|no>",
        help: "only orders that the warehouse can ship now, or only others",
        read: yesOrNo,
      },
      {
        name: "testMode",
        flag: "--test <yes|no>",
        help: "test orders instead of real ones",
        read: yesOrNo,
      },
      { name: "holdReason", flag: "--hold-reason <reason>", help: "only orders on hold for this reason" },
      { name: "facilityId", flag: "--facility <facility>", help: "only orders that this facility ships" },
      { name: "countryCode", flag: "--country <code>", help: "only orders to this country, such as DE" },
      { name: "createdSince", flag: "--since <time>", help: "only orders from this time on", read: time },
      { name: "createdUntil", flag: "--until <time>", help: "only orders before this time", read: time },
      {
        name: "updatedSince",
        flag: "--changed-since <time>",
        help: "only orders that last changed from this time on",
        read: time,
      },
      {
        name: "updatedUntil",
        flag: "--changed-until <time>",
        help: "only orders that last changed before this time",
        read: time,
      },
      {
        name: "hasFailedDelivery",
        flag: "--has-failed-delivery <yes|no>",
        help: "only orders with an event that could not be delivered, or only others",
        read: yesOrNo,
      },
      { name: "sort", flag: "--sort <order>", help: "newest or oldest first; newest by default" },
      {
        name: "q",
        flag: "--search <text>",
        help: "an id, the beginning of a name or a company, or a tracking number",
      },
    ],
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
    fields: [{ name: "text", flag: "--text <text>", help: "the note; partners do not see it" }],
  },
  {
    words: "order events",
    operationId: "listOrderEvents",
    columns: ["id", "type", "sequence", "createdAt"],
  },
  { words: "order approve", operationId: "approveOrder", outcome: nowHasStatus("Approved"), fields: REASON },
  { words: "order reject", operationId: "rejectOrder", outcome: canceled("Rejected"), fields: REASON },
  { words: "order cancel", operationId: "cancelOrder", outcome: canceled("Canceled"), fields: REASON },
  {
    words: "order hold",
    operationId: "holdOrder",
    outcome: held,
    fields: [
      reasons(
        "one or more reasons, separated by commas, such as address_unserviceable; merchant_request by default",
      ),
    ],
  },
  {
    words: "order release-hold",
    operationId: "releaseOrderHold",
    outcome: released,
    fields: [reasons("only these reasons, separated by commas; all that you may release by default")],
  },
  {
    words: "order ship",
    operationId: "shipOrder",
    outcome: shipped,
    fields: [
      {
        name: "lineIds",
        flag: "--lines <lines>",
        help: "only these lines, separated by commas; all unshipped lines by default",
        read: list,
      },
      {
        name: "lines",
        flag: "--quantities <quantities>",
        help: 'only these quantities of lines, such as "line_... 3", separated by commas',
        read: lineQuantities,
      },
      ...TRACKING,
      {
        name: "weightGrams",
        flag: "--weight-grams <grams>",
        help: "weight of the parcel as it was weighed",
        read: wholeNumber,
      },
    ],
  },
  { words: "order complete", operationId: "completeOrder", outcome: nowHasStatus("Completed") },
  {
    words: "order return",
    operationId: "returnShipment",
    outcome: returned,
    fields: [
      {
        name: "shipmentId",
        flag: "--shipment <shipment>",
        help: "the returned shipment; needed if several shipments are out and no quantities are named",
      },
      {
        name: "lines",
        flag: "--quantities <quantities>",
        help: 'only these quantities of lines, such as "line_... 3", separated by commas',
        read: lineQuantities,
      },
      {
        name: "reason",
        flag: "--reason <reason>",
        help: "why it came back, such as undeliverable or damaged",
      },
      { name: "condition", flag: "--condition <condition>", help: "unopened, opened, damaged or defective" },
      { name: "note", flag: "--note <text>", help: "explanation for the order's timeline" },
      {
        name: "reference",
        flag: "--reference <text>",
        help: "your name for the return; repeating it with the same reference changes nothing",
      },
      {
        name: "refund.amount",
        flag: "--refund-amount <amount>",
        help: 'refund this amount, such as "12.50 EUR"; the price of the goods by default',
        read: money,
      },
      {
        name: "refund.reference",
        flag: "--refund-reference <text>",
        help: "refund the goods, under your name for the refund, such as a ticket",
      },
      { name: "restock", flag: "--restock", help: "add the returned goods to the stock" },
    ],
  },
  {
    words: "order refund",
    operationId: "refundOrder",
    outcome: refunded,
    help: "refund an order to its merchant, once for each reference",
    fields: [
      {
        name: "amount",
        flag: "--amount <amount>",
        help: 'such as "12.50 EUR"; all that is left by default',
        read: money,
      },
      {
        name: "reason",
        flag: "--reason <reason>",
        help: "returned, damaged, lost, late, wrong_item, goodwill or other",
      },
      { name: "reference", flag: "--reference <text>", help: "your name for the refund, such as a ticket" },
      { name: "note", flag: "--note <text>", help: "explanation for the order's timeline" },
    ],
  },
  {
    words: "order correct-address",
    operationId: "updateShippingAddress",
    outcome: corrected,
    fields: [
      ...ADDRESS,
      {
        name: "expectedVersion",
        flag: "--expected-version <version>",
        help: "only if the address has this version, so that no other correction is mixed with it",
      },
    ],
  },
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
  {
    words: "shipment change",
    operationId: "updateShipment",
    fields: [
      ...TRACKING,
      { name: "status", flag: "--status <status>", help: "pending, shipped or delivered" },
    ],
  },
];
