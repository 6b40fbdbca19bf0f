import type { RequestCommand } from "./command.ts";
import { list, yesOrNo } from "./values.ts";

const step = (name: string, help: string, fields?: RequestCommand["fields"]): RequestCommand => ({
  words: `order ${name}`,
  method: "POST",
  path: `/api/orders/{id}/${name}`,
  help,
  ...(fields && { fields }),
});

const reasons = (help: string) => ({ flag: "--reasons <reasons>", body: "reasons", help, read: list });

const WHY = [{ flag: "--reason <text>", body: "reason", help: "for the order's timeline" }];

const TRACKING = [
  { flag: "--carrier <name>", body: "carrier", help: "who carries it" },
  { flag: "--tracking-number <number>", body: "trackingNumber", help: "the carrier's" },
  { flag: "--tracking-url <url>", body: "trackingUrl", help: "where the parcel can be followed" },
];

/** The steps of real orders, as the back office API has them. */
export const ORDER_COMMANDS: readonly RequestCommand[] = [
  {
    ...{ words: "order list", method: "GET", path: "/api/orders", help: "list orders" },
    fields: [
      { flag: "--merchant <merchant>", query: "merchantId", help: "only of this merchant" },
      { flag: "--connection <connection>", query: "connectionId", help: "only of this connection" },
      { flag: "--status <status>", query: "status", help: "such as PROCESSING, which waits for review" },
      { flag: "--on-hold <yes|no>", query: "onHold", help: "only those on hold, or not", read: yesOrNo },
      {
        ...{ flag: "--ready <yes|no>", query: "ready", read: yesOrNo },
        help: "only what the warehouse can ship now, or not",
      },
      { flag: "--test <yes|no>", query: "testMode", help: "test orders instead of real ones", read: yesOrNo },
      { flag: "--search <text>", query: "q", help: "an id, a name, a tracking number" },
    ],
    columns: ["id", "externalOrderId", "status", "onHoldReasons", "createdAt"],
  },
  { words: "order show", method: "GET", path: "/api/orders/{id}", help: "show an order whole" },
  step("approve", "let an order under review go on", WHY),
  step("reject", "cancel an order under review, and refund it", WHY),
  step("cancel", "cancel an order, and refund it", WHY),
  step("hold", "keep an order from being shipped", [
    reasons("why, such as address_unserviceable; several with commas; merchant_request by default"),
  ]),
  step("release-hold", "let an order be shipped again", [reasons("only these reasons; without them all")]),
  step("ship", "ship an order's lines", [
    { flag: "--lines <lines>", body: "lineIds", help: "only these lines, with commas", read: list },
    ...TRACKING,
  ]),
  {
    ...{ words: "shipment change", method: "PATCH", path: "/api/shipments/{id}" },
    help: "tell a shipment's tracking or progress",
    fields: [
      ...TRACKING,
      { flag: "--status <status>", body: "status", help: "pending, shipped or delivered" },
    ],
  },
  step("complete", "declare an order done"),
  step("return", "take an order back", [
    { flag: "--shipment <shipment>", body: "shipmentId", help: "only this shipment" },
    { flag: "--restock", body: "restock", help: "put what came back into stock" },
  ]),
  step("retry-payment", "charge the merchant once more"),
];
