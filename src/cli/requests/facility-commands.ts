import { ADJUSTMENT_REASONS, MOVEMENT_KINDS } from "../../stock/stock-movement.ts";
import type { Field, RequestCommand } from "./command.ts";
import { difference, rates, wholeNumber, yesOrNo } from "./values.ts";

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
