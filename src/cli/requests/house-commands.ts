import type { RequestCommand } from "./command.ts";
import { money, rates, wholeNumber, yesOrNo } from "./values.ts";

const named = (required: boolean) => ({
  ...{ flag: "--name <name>", body: "name", required },
  help: "what the house calls it",
});

/** Facilities with their stock and rates, and merchants' accounts. Each command is one request of the back office API. */
export const HOUSE_COMMANDS: readonly RequestCommand[] = [
  {
    ...{ words: "facility create", method: "POST", path: "/api/facilities" },
    help: "open a facility; the first one switches routing on",
    fields: [
      named(true),
      { flag: "--country <code>", body: "countryCode", help: "where it lies, such as DE", required: true },
    ],
  },
  {
    ...{ words: "facility list", method: "GET", path: "/api/facilities", help: "list facilities" },
    fields: [{ flag: "--country <code>", query: "countryCode", help: "only in this country" }],
    columns: ["id", "name", "countryCode", "createdAt"],
  },
  { words: "facility show", method: "GET", path: "/api/facilities/{id}", help: "show a facility" },
  {
    ...{ words: "facility change", method: "PATCH", path: "/api/facilities/{id}", help: "rename a facility" },
    fields: [named(false)],
  },
  {
    ...{ words: "facility rates", method: "GET", path: "/api/facilities/{id}/rates" },
    help: "show what shipping from a facility costs",
  },
  {
    ...{ words: "facility set-rates", method: "PUT", path: "/api/facilities/{id}/rates" },
    help: "replace all rates of a facility",
    fields: [
      {
        ...{ flag: "--rates <rates>", body: "rates", required: true, read: rates },
        help: 'country, grams at most and price, several with commas: "DE 1000 4.90 EUR, DE 30000 9.90 EUR"',
      },
    ],
  },
  {
    ...{ words: "stock list", method: "GET", path: "/api/facilities/{facility}/stock" },
    help: "list a facility's stock",
    fields: [
      { flag: "--merchant <merchant>", query: "merchantId", help: "only products of this merchant" },
      { flag: "--sku <sku>", query: "sku", help: "only with this article number" },
      {
        ...{ flag: "--available <yes|no>", query: "available", read: yesOrNo },
        help: "only what can still be promised, or only what has run out",
      },
    ],
    columns: ["productId", "onHand", "reserved", "available", "updatedAt"],
  },
  {
    ...{ words: "stock show", method: "GET", path: "/api/facilities/{facility}/stock/{product}" },
    help: "show the stock of a product at a facility",
  },
  {
    ...{ words: "stock set", method: "PUT", path: "/api/facilities/{facility}/stock/{product}" },
    help: "set how much of a product lies at a facility",
    fields: [
      {
        ...{ flag: "--on-hand <pieces>", body: "onHand", required: true, read: wholeNumber },
        help: "pieces that lie there, those that are reserved among them",
      },
    ],
  },
  {
    ...{ words: "account show", method: "GET", path: "/api/merchants/{merchant}/account" },
    help: "show what a merchant owes and may owe",
  },
  {
    ...{ words: "account list", method: "GET", path: "/api/merchants/{merchant}/account/entries" },
    help: "list what changed a merchant's account, newest first",
    fields: [{ flag: "--kind <kind>", query: "kind", help: "only charge, refund or payment" }],
    columns: ["id", "kind", "amount", "reference", "note", "createdAt"],
  },
  {
    ...{ words: "account pay", method: "POST", path: "/api/merchants/{merchant}/account/payments" },
    help: "record what a merchant has paid, once for each reference",
    fields: [
      {
        flag: "--amount <amount>",
        body: "amount",
        help: 'such as "250.00 EUR"',
        required: true,
        read: money,
      },
      { flag: "--reference <text>", body: "reference", help: "such as the bank's", required: true },
      { flag: "--note <text>", body: "note", help: "for the account" },
    ],
  },
];
