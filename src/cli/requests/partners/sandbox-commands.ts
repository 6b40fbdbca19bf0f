import { member } from "../../presentation/columns.ts";
import type { Field, RequestCommand } from "../command.ts";
import { ADDRESS, TRACKING } from "../order-commands.ts";
import { lineQuantities, list, orderedProducts, textsByName, yesOrNo } from "../values.ts";

const argument = "order";

/** The sandbox of a connection: its test orders, what it can order, and what was published to it. */
export const SANDBOX_COMMANDS: readonly RequestCommand[] = [
  {
    words: "connection products",
    operationId: "listExposedProducts",
    fields: [
      { name: "sku", flag: "--sku <sku>", help: "only products with this SKU" },
      { name: "status", flag: "--status <status>", help: "only active, or only discontinued ones" },
      { name: "q", flag: "--search <text>", help: "part of the SKU or of the name" },
    ],
    columns: ["id", "sku", "name", "status"],
  },
  {
    words: "event list",
    operationId: "listEvents",
    fields: [
      {
        name: "orderId",
        flag: "--order <order>",
        help: "only events of this order: its id, or the partner's own",
      },
      { name: "type", flag: "--type <type>", help: "only events of this type, such as order.created" },
      {
        name: "testMode",
        flag: "--test <yes|no>",
        help: "only events of test orders, or only others",
        read: yesOrNo,
      },
    ],
    columns: ["id", "type", "timestamp", "sequence", member("order", "data.order.id")],
  },
  {
    words: "test-order create",
    operationId: "createTestOrder",
    fields: [
      {
        name: "lines",
        flag: "--lines <lines>",
        help: 'products with their quantities, such as "019f... 2", separated by commas',
        read: orderedProducts,
      },
      ...ADDRESS.map((field): Field => ({ ...field, name: `shippingAddress.${field.name}` })),
      { name: "externalOrderId", flag: "--external-id <id>", help: "the partner's own id of the order" },
      { name: "note", flag: "--note <text>", help: "a message to the people who handle the order" },
      {
        name: "metadata",
        flag: "--metadata <pairs>",
        help: "the partner's own data, such as color=red, separated by commas",
        read: textsByName,
      },
    ],
  },
  {
    words: "test-order list",
    operationId: "listTestOrders",
    fields: [
      { name: "status", flag: "--status <status>", help: "only test orders with this status" },
      {
        name: "onHold",
        flag: "--on-hold <yes|no>",
        help: "only test orders on hold, or only others",
        read: yesOrNo,
      },
    ],
    columns: ["id", "externalOrderId", "status", "onHoldReasons", "createdAt"],
  },
  { words: "test-order show", argument, operationId: "getTestOrder" },
  {
    words: "test-order move",
    argument,
    operationId: "transitionTestOrder",
    fields: [
      {
        name: "transition",
        flag: "--transition <name>",
        help: "process, accept, hold, releaseHold, ship, returnShipment, complete or cancel",
      },
      {
        name: "reasons",
        flag: "--reasons <reasons>",
        help: "for hold: reasons, separated by commas; out_of_stock by default",
        read: list,
      },
      {
        name: "lineIds",
        flag: "--line-ids <lines>",
        help: "for ship: ids of lines, separated by commas; all unshipped ones by default",
        read: list,
      },
      {
        name: "lines",
        flag: "--lines <lines>",
        help: 'for ship: lines with the units that ship, such as "line_... 3", separated by commas',
        read: lineQuantities,
      },
      ...TRACKING,
      {
        name: "shipmentId",
        flag: "--shipment <shipment>",
        help: "for returnShipment: the shipment; the newest that is out by default",
      },
    ],
  },
  { words: "test-order cancel", argument, operationId: "cancelTestOrder" },
];
