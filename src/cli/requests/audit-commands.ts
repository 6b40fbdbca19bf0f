import { member } from "../presentation/columns.ts";
import type { RequestCommand } from "./command.ts";
import { time } from "./values.ts";

/** The audit log. */
export const AUDIT_COMMANDS: readonly RequestCommand[] = [
  {
    words: "audit list",
    operationId: "listAuditEntries",
    fields: [
      { name: "merchantId", flag: "--merchant <merchant>", help: "only entries of this merchant" },
      { name: "connectionId", flag: "--connection <connection>", help: "only entries of this connection" },
      { name: "actor", flag: "--actor <actor>", help: "only entries of this actor: its name, or its kind" },
      {
        name: "action",
        flag: "--action <action>",
        help: "only entries of this operation, such as createKey",
      },
      {
        name: "subjectId",
        flag: "--subject <id>",
        help: "only entries about this id, such as that of an order",
      },
      { name: "from", flag: "--from <time>", help: "only entries at or after this time", read: time },
      { name: "to", flag: "--to <time>", help: "only entries before this time", read: time },
    ],
    columns: ["id", "createdAt", "action", member("actor", "actor.name"), "merchantId", "subjectIds"],
  },
  { words: "audit show", argument: "audit-entry", operationId: "getAuditEntry" },
];
