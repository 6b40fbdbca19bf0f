import { ADJUSTMENT_REASONS, MOVEMENT_KINDS } from "../../stock/stock-movements-sql.ts";
import { taken } from "../outcomes.ts";
import { AGE, member, QUANTITY } from "../present.ts";
import type { Field, RequestCommand } from "./command.ts";
import { difference, money, orEmpty, orNone, rates, wholeNumber, yesOrNo } from "./values.ts";

const NAME: Field = { name: "name", flag: "--name <name>", help: "name of the facility" };

/** Facilities with their stock and shipping rates. */
export const FACILITY_COMMANDS: readonly RequestCommand[] = [
  {
    words: "facility create",
    operationId: "createFacility",
    help: "create a facility; the first one turns routing on",
    fields: [
      NAME,
      { name: "countryCode", flag: "--country <code>", help: "country of the facility, such as DE" },
    ],
  },
  {
    words: "facility list",
    operationId: "listFacilities",
    fields: [
      { name: "countryCode", flag: "--country <code>", help: "only facilities in this country" },
      {
        name: "closed",
        flag: "--closed <yes|no>",
        help: "only closed facilities, or only open ones",
        read: yesOrNo,
      },
    ],
    columns: ["id", "name", "countryCode", "createdAt", "closedAt"],
  },
  { words: "facility show", operationId: "getFacility" },
  { words: "facility change", operationId: "updateFacility", fields: [NAME] },
  { words: "facility close", operationId: "closeFacility" },
  { words: "facility open", operationId: "openFacility" },
  { words: "facility rates", operationId: "getRates" },
  {
    words: "facility set-rates",
    operationId: "setRates",
    fields: [
      {
        name: "rates",
        flag: "--rates <rates>",
        help: 'country, maximum weight in grams, and price, separated by commas: "DE 1000 4.90 EUR, DE 30000 9.90 EUR"',
        read: rates,
      },
      {
        name: "expectedVersion",
        flag: "--expected-version <version>",
        help: "only if the rates have this version, so that no other change is undone",
      },
    ],
  },
  {
    words: "stock list",
    operationId: "listStock",
    fields: [
      { name: "merchantId", flag: "--merchant <merchant>", help: "only products of this merchant" },
      { name: "sku", flag: "--sku <sku>", help: "only products with this SKU" },
      {
        name: "available",
        flag: "--available <yes|no>",
        help: "only products with available units, or only products without",
        read: yesOrNo,
      },
      {
        name: "availableBelow",
        flag: "--available-below <units>",
        help: "only products with fewer available units",
        read: wholeNumber,
      },
      { name: "q", flag: "--search <text>", help: "a part of the SKU or of the name, or a barcode" },
    ],
    columns: ["productId", "sku", "name", "onHand", "reserved", "available", "updatedAt"],
  },
  { words: "stock show", operationId: "getStock" },
  {
    words: "stock set",
    operationId: "setStock",
    fields: [
      {
        name: "onHand",
        flag: "--on-hand <units>",
        help: "units on hand, including reserved ones",
        read: wholeNumber,
      },
      {
        name: "expectedOnHand",
        flag: "--expected <units>",
        help: "only if this many units are on hand, so that no movement is lost",
        read: wholeNumber,
      },
    ],
  },
  {
    words: "stock adjust",
    operationId: "adjustStock",
    fields: [
      {
        name: "difference",
        flag: "--difference <units>",
        help: "units to add, such as 5; to take away, such as -2",
        read: difference,
      },
      { name: "reason", flag: "--reason <reason>", help: `one of ${ADJUSTMENT_REASONS.join(", ")}` },
      { name: "note", flag: "--note <text>", help: "a note about the adjustment" },
      {
        name: "reference",
        flag: "--reference <text>",
        help: "your own name of the adjustment, which is made once for each",
      },
    ],
  },
  {
    words: "stock movements",
    operationId: "listStockMovements",
    fields: [
      {
        name: "merchantId",
        flag: "--merchant <merchant>",
        help: "only movements of this merchant's products",
      },
      { name: "productId", flag: "--product <product>", help: "only movements of this product" },
      { name: "kind", flag: "--kind <kind>", help: `only one of ${MOVEMENT_KINDS.join(", ")}` },
    ],
    columns: ["createdAt", "productId", "sku", "kind", "difference", "onHand", "reason", "orderId"],
  },
];

const PRODUCT: readonly Field[] = [
  { name: "sku", flag: "--sku <sku>", help: "the merchant's article number" },
  { name: "name", flag: "--name <name>", help: "name of the product" },
  { name: "price", flag: "--price <amount>", help: 'price per unit, such as "12.50 EUR"', read: money },
  {
    name: "weightGrams",
    flag: "--weight-grams <grams>",
    help: "weight of a unit; none: unknown",
    read: orNone(wholeNumber),
  },
  {
    name: "barcode",
    flag: "--barcode <barcode>",
    help: 'what a scanner reads on a unit; "" removes it',
    read: orEmpty,
  },
  { name: "description", flag: "--description <text>", help: 'description; "" removes it', read: orEmpty },
  {
    name: "imageUrl",
    flag: "--image-url <url>",
    help: 'address of a picture; "" removes it',
    read: orEmpty,
  },
];

const STATUS: Field = { name: "status", flag: "--status <status>", help: "active or discontinued" };

/** Merchants' products, and which connections they are exposed to. */
export const PRODUCT_COMMANDS: readonly RequestCommand[] = [
  { words: "product create", operationId: "createProduct", fields: PRODUCT },
  {
    words: "product list",
    operationId: "listProducts",
    fields: [
      { name: "sku", flag: "--sku <sku>", help: "only products with this SKU" },
      STATUS,
      {
        name: "connectionId",
        flag: "--connection <connection>",
        help: "only products exposed to this connection",
      },
      {
        name: "exposed",
        flag: "--exposed <yes|no>",
        help: "only products exposed to the connection, or to any; no: only the others",
        read: yesOrNo,
      },
      { name: "q", flag: "--search <text>", help: "part of the SKU or of the name" },
    ],
    columns: ["id", "sku", "name", "price", "status"],
  },
  { words: "product show", operationId: "getProduct" },
  {
    words: "product stock",
    operationId: "listStockOfProduct",
    columns: ["facilityId", "facilityName", "onHand", "reserved", "available", "updatedAt"],
  },
  {
    words: "product connections",
    operationId: "listConnectionsOfProduct",
    fields: [
      {
        name: "exposed",
        flag: "--exposed <yes|no>",
        help: "only connections to which it is exposed; no: only the others",
        read: yesOrNo,
      },
      { name: "q", flag: "--search <text>", help: "part of the name of the connection" },
    ],
    columns: ["connectionId", "connectionName", "exposedAt"],
  },
  { words: "product export", operationId: "exportProducts", isFile: true },
  { words: "product change", operationId: "updateProduct", fields: [...PRODUCT, STATUS] },
];

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
