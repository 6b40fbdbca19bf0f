import type { Field, RequestCommand } from "./command.ts";
import { money, orEmpty, orNone, wholeNumber, yesOrNo } from "./values.ts";

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
