import { member } from "../present.ts";
import type { RequestCommand } from "./command.ts";
import { grants, list, orNone, time, wholeNumber, yesOrNo } from "./values.ts";

const GRANTS_HELP =
  "roles, separated by semicolons, each with what it is for: operator; support; monitoring; warehouse [fac_…,fac_…]; merchant mer_…; partner con_…";

export const PERSON_COMMANDS: readonly RequestCommand[] = [
  {
    words: "person invite",
    operationId: "invitePerson",
    help: "invite a person by mail",
    fields: [
      { name: "name", flag: "--name <name>", help: "name of the person" },
      { name: "email", flag: "--email <address>", help: "where the invitation is sent" },
      { name: "grants", flag: "--grants <grants>", help: GRANTS_HELP, read: grants },
    ],
  },
  {
    words: "person list",
    operationId: "listPeople",
    fields: [
      { name: "q", flag: "--search <text>", help: "part of the name or of the mail address" },
      { name: "role", flag: "--role <role>", help: "only people with this role" },
      { name: "state", flag: "--state <state>", help: "only invited, active or disabled ones" },
    ],
    columns: ["id", "name", "email", "state", "createdAt", "lastSignedInAt"],
  },
  { words: "person show", operationId: "getPerson" },
  {
    words: "person change",
    operationId: "updatePerson",
    fields: [
      { name: "name", flag: "--name <name>", help: "new name" },
      { name: "email", flag: "--email <address>", help: "new mail address" },
    ],
  },
  {
    words: "person grant",
    operationId: "setGrants",
    fields: [
      { name: "grants", flag: "--grants <grants>", help: GRANTS_HELP, read: grants },
      {
        name: "expectedVersion",
        flag: "--expected-version <version>",
        help: "only if the grants have this grantsVersion, so that no other change is undone",
      },
    ],
  },
  { words: "person resend", operationId: "resendInvitation" },
  { words: "person disable", operationId: "disablePerson" },
  { words: "person enable", operationId: "enablePerson" },
  {
    words: "person sessions",
    operationId: "listSessions",
    columns: ["id", "ipAddress", "userAgent", "signedInAt", "seenAt", "endsAt"],
  },
  { words: "person sign-out", operationId: "endSessions" },
  {
    words: "person unlink",
    operationId: "unlinkSingleSignOn",
    help: "unlink a person from the identity provider; password and passkeys stay",
  },
  {
    words: "person remove-sign-in",
    operationId: "removeSignInMethods",
    help: "remove password, passkeys, one-time codes and single sign-on, after another human has signed in as the person",
  },
  {
    words: "person link",
    secret: {
      note: "The link signs in as this person, once within an hour. Give it to that person alone.",
      ifLost: () => "The link is lost: make another one with the same command.",
    },
    operationId: "makeSignInLink",
  },
];

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

/** How the service is doing. `doctor` examines the same without the service. */
export const SYSTEM_COMMANDS: readonly RequestCommand[] = [
  { words: "system show", operationId: "getSystem" },
  { words: "system check", operationId: "getSystemChecks" },
  { words: "system settings", operationId: "listSettings" },
];

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
