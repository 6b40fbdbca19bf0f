import type { RequestCommand } from "./command.ts";

const NAME = { name: "name", flag: "--name <name>", help: "name of the view" };
const PAGE = { name: "page", flag: "--page <page>", help: "page of the console, such as orders" };
const QUERY = {
  name: "query",
  flag: "--query <query>",
  help: "query string with the filters, such as status=PROCESSING",
};

/** Saved views, and the search of the command palette. */
export const VIEW_COMMANDS: readonly RequestCommand[] = [
  {
    words: "view list",
    operationId: "listViews",
    columns: ["id", "name", "page", "query"],
  },
  { words: "view create", operationId: "createView", fields: [NAME, PAGE, QUERY] },
  { words: "view change", operationId: "updateView", fields: [NAME, PAGE, QUERY] },
  { words: "view delete", operationId: "deleteView" },
];
