import { AGE, member, QUANTITY } from "../presentation/columns.ts";
import { taken } from "../presentation/outcomes.ts";
import type { Field, RequestCommand } from "./command.ts";
import { wholeNumber, yesOrNo } from "./values.ts";

const facility = (help: string): Field => ({ name: "facilityId", flag: "--facility <facility>", help });

const FORMAT: Field = {
  name: "format",
  flag: "--format <format>",
  help: "csv: one row for each line; text by default",
  choices: { text: "json", csv: "csv" },
  notWithJson: true,
};

/** What the warehouse picks and ships next. */
export const WORK_COMMANDS: readonly RequestCommand[] = [
  {
    words: "work-list list",
    operationId: "listWork",
    fields: [
      facility("only orders of this facility"),
      {
        name: "taken",
        flag: "--taken <yes|no>",
        help: "only orders on a pick list, or only those that are free",
        read: yesOrNo,
      },
      FORMAT,
    ],
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
  { words: "work-list overview", operationId: "getWorkOverview" },
  {
    words: "work-list scan",
    operationId: "scanCode",
    fields: [{ name: "code", flag: "--code <code>", help: "what a scanner has read" }],
  },
  {
    words: "order slip",
    operationId: "getPackingSlip",
    fields: [{ name: "shipmentId", flag: "--shipment <shipment>", help: "only the lines of this shipment" }],
  },
  {
    words: "pick-list take",
    operationId: "takePickList",
    outcome: taken,
    fields: [
      facility("the facility whose orders are taken; needed unless there are no facilities"),
      { name: "takenBy", flag: "--by <name>", help: "the person or the station that takes the orders" },
      {
        name: "orderLimit",
        flag: "--orders <number>",
        help: "maximum number of orders; 10 by default",
        read: wholeNumber,
      },
      {
        name: "leaseMinutes",
        flag: "--minutes <number>",
        help: "after how many minutes others can take them; 60 by default",
        read: wholeNumber,
      },
      {
        name: "reference",
        flag: "--reference <text>",
        help: "your own name of the request, so that a retry takes nothing more",
      },
    ],
  },
  {
    words: "pick-list list",
    operationId: "listPickLists",
    fields: [
      facility("only pick lists of this facility"),
      {
        name: "open",
        flag: "--open <yes|no>",
        help: "only those that have not expired and were not released, or only others",
        read: yesOrNo,
      },
    ],
    columns: ["id", "takenBy", "facilityId", "takenAt", "expiresAt", "releasedAt"],
  },
  { words: "pick-list show", operationId: "getPickList", fields: [FORMAT] },
  { words: "pick-list slips", operationId: "listPackingSlips" },
  { words: "pick-list release", operationId: "releasePickList" },
];
