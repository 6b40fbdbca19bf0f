import type { Field, RequestCommand } from "./command.ts";
import { rates, wholeNumber, yesOrNo } from "./values.ts";

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
    fields: [{ name: "countryCode", flag: "--country <code>", help: "only facilities in this country" }],
    columns: ["id", "name", "countryCode", "createdAt"],
  },
  { words: "facility show", operationId: "getFacility" },
  { words: "facility change", operationId: "updateFacility", fields: [NAME] },
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
    ],
    columns: ["productId", "onHand", "reserved", "available", "updatedAt"],
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
    ],
  },
];
