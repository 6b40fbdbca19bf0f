import type { RequestCommand } from "../command.ts";
import { list, orNone, time, wholeNumber, yesOrNo } from "../values.ts";

const ROLES = "operator, warehouse, merchant, partner, support or monitoring";

const TOKEN = {
  note: "The token is shown only this once. Store it now.",
  ifLost: (id: string) => `The token is lost: replace it with \`token rotate ${id} --overlap-hours 0\`.`,
};

export const TOKEN_COMMANDS: readonly RequestCommand[] = [
  {
    words: "token create",
    secret: TOKEN,
    operationId: "createToken",
    help: "create a token of a program; it is printed only here",
    fields: [
      { name: "name", flag: "--name <name>", help: "name of the program" },
      { name: "role", flag: "--role <role>", help: ROLES },
      {
        name: "merchantIds",
        flag: "--merchants <merchants>",
        help: "for the role merchant: the merchants, separated by commas",
        read: list,
      },
      {
        name: "facilityIds",
        flag: "--facilities <facilities>",
        help: "for the role warehouse: only these facilities, separated by commas; all by default",
        read: list,
      },
      {
        name: "connectionIds",
        flag: "--connections <connections>",
        help: "for the role partner: the connections, separated by commas",
        read: list,
      },
      {
        name: "expiresAt",
        flag: "--expires-at <time>",
        help: "when it expires; never by default",
        read: time,
      },
    ],
  },
  {
    words: "token list",
    operationId: "listTokens",
    fields: [
      { name: "role", flag: "--role <role>", help: `only ${ROLES}` },
      {
        name: "live",
        flag: "--live <yes|no>",
        help: "only valid tokens, or only revoked and expired ones",
        read: yesOrNo,
      },
    ],
    columns: ["id", "name", "role", "prefix", "createdAt", "expiresAt", "revokedAt", "lastUsedAt"],
  },
  { words: "token show", operationId: "getToken" },
  { words: "token revoke", operationId: "revokeToken" },
  {
    words: "token rotate",
    secret: TOKEN,
    operationId: "rotateToken",
    help: "replace a token by a new one, which is printed only here",
    fields: [
      {
        name: "overlapHours",
        flag: "--overlap-hours <hours>",
        help: "how long the old token stays valid, at most 168; 24 by default, 0 after a leak",
        read: wholeNumber,
      },
      {
        name: "expiresAt",
        flag: "--expires-at <time>",
        help: "when the new token expires; none: never; by default after as long a time as the old one",
        read: orNone(time),
      },
    ],
  },
  { words: "me show", operationId: "getMe" },
];
