import type { RequestCommand } from "../command.ts";
import { grants } from "../values.ts";

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
