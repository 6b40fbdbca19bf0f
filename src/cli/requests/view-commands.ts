import type { RequestCommand } from "./command.ts";
import { wholeNumber } from "./values.ts";

const NAME = { name: "name", flag: "--name <name>", help: "name of the view" };
const PAGE = { name: "page", flag: "--page <page>", help: "page of the console, such as orders" };
const QUERY = {
  name: "query",
  flag: "--query <query>",
  help: "query string with the filters, such as status=PROCESSING",
};

/** The overview, and saved views. */
export const VIEW_COMMANDS: readonly RequestCommand[] = [
  {
    words: "view list",
    operationId: "listViews",
    columns: ["id", "name", "page", "query", "updatedAt"],
  },
  { words: "view create", operationId: "createView", fields: [NAME, PAGE, QUERY] },
  { words: "view change", operationId: "updateView", fields: [NAME, PAGE, QUERY] },
  {
    words: "overview show",
    operationId: "getOverview",
    fields: [
      { name: "merchantId", flag: "--merchant <merchant>", help: "only this merchant" },
      { name: "days", flag: "--days <days>", help: "how many days; 30 by default", read: wholeNumber },
    ],
  },
  { words: "view delete", operationId: "deleteView" },
];
