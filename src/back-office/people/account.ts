import { type Static, Type } from "typebox";
import type { Route, RouteResponse } from "../../http/route.ts";
import { cookieHeaders } from "../../people/cookies.ts";
import {
  confirmPerson,
  type Proof,
  removeSecondFactor,
  renewBackupCodes,
  setPassword,
  startSecondFactor,
  verifySecondFactor,
} from "../../people/own-account.ts";
import {
  addPasskey,
  listPasskeys,
  PASSKEYS_MAX,
  passkeyRegistration,
  removePasskey,
} from "../../people/passkeys.ts";
import { readPasswordHash } from "../../people/passwords.ts";
import { PASSWORD_LENGTH_MAX, type People, RECENT_MS } from "../../people/person.ts";
import { endOf, isRecent } from "../../people/sessions.ts";
import { parseUuid, toTypeId } from "../../platform/ids.ts";
import { after } from "../../platform/time.ts";
import { isProblem, notFound, type Problem } from "../../platform/wire/problems.ts";
import { dateTime, idField, noNextCursor, shortText } from "../../platform/wire/schemas.ts";
import {
  codeOf,
  NewPasswordSchema,
  ownRoute,
  WebAuthnOptionsSchema,
  webAuthnResponse,
} from "./sign-in-wire.ts";

const AccountSchema = Type.Object(
  {
    id: idField("per", "Id of the person, set by the service."),
    name: Type.String({ description: "Name that timelines and the audit log show." }),
    email: Type.String({ description: "Mail address of the person, in lower case." }),
    hasPassword: Type.Boolean({ description: "Whether the person has a password." }),
    hasSecondFactor: Type.Boolean({ description: "Whether a one-time code must follow the password." }),
    hasSingleSignOn: Type.Boolean({
      description: "Whether the person has signed in by the identity provider.",
    }),
    passkeys: Type.Integer({ description: "How many passkeys the person has." }),
    session: Type.Object(
      {
        id: idField("ses", "Id of the session of this browser."),
        endsAt: dateTime("When the session ends if it is not used again."),
        recentUntil: dateTime("Until then, what concerns keys, secrets and money needs no confirmation."),
        isRecent: Type.Boolean({ description: "Whether it needs none now." }),
      },
      { title: "OwnSession", description: "The session of this browser." },
    ),
  },
  { title: "OwnAccount", description: "A person, and how it signs in." },
);

const password = Type.String({
  minLength: 1,
  maxLength: PASSWORD_LENGTH_MAX,
  description: "The person's password. Required if it has one.",
});

const passwordField = Type.Object(
  { password: Type.Optional(password) },
  { title: "CurrentPassword", description: "The password of a person who has one." },
);

const ProofSchema = Type.Object(
  {
    password: Type.Optional(password),
    code: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 40,
        examples: ["123456"],
        description: "Instead of the password: six digits of the person's device, or a backup code.",
      }),
    ),
    isBackupCode: Type.Optional(
      Type.Boolean({ default: false, description: "Whether the code is a backup code." }),
    ),
  },
  { title: "Confirmation", description: "A password, or a one-time code." },
);

/** A password takes precedence. Nothing at all is a wrong password. */
const proofOf = ({ password: sent, code, isBackupCode }: Static<typeof ProofSchema>): Proof =>
  sent === undefined && code !== undefined
    ? codeOf({ code, ...(isBackupCode !== undefined && { isBackupCode }) })
    : { password: sent ?? "" };

const PasskeyListSchema = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: "Id of the passkey, set by the service." }),
          name: Type.String({ description: "How the person recognizes it, set when it was made." }),
          createdAt: dateTime("When it was made."),
        },
        { title: "Passkey", description: "A passkey of a person, without its keys." },
      ),
      { description: "All passkeys, oldest first." },
    ),
    nextCursor: noNextCursor,
  },
  { title: "PasskeyList", description: "The passkeys of a person." },
);

const backupCodes = Type.Array(Type.String(), {
  description: "Codes that are good once each, if the device is lost. They are shown only in this response.",
});

const BackupCodesSchema = Type.Object(
  { backupCodes },
  { title: "BackupCodes", description: "New backup codes." },
);

const SecondFactorSchema = Type.Object(
  {
    uri: Type.String({
      description:
        "`otpauth://` address with the secret, for a QR code. It is returned only in this response.",
    }),
    backupCodes,
  },
  { title: "SecondFactor", description: "What a device needs to make one-time codes." },
);

const TAG = "Own account";
/** A response that is the only one with these secrets. */
const secrets = (body: object | Problem): RouteResponse | Problem =>
  isProblem(body) ? body : { status: 200, body, headers: { "cache-control": "no-store" } };

/** The problems of a route that compares a password or a code of the person who has signed in. */
const PROOF_PROBLEMS = [
  "sign-in-failed",
  "recent-authentication-required",
  "rate-limited",
  "validation-failed",
  "forbidden",
] as const;

/** What people do with their own sign-in. Each needs a session, and most need recent authentication. */
export const accountRoutes: readonly Route<People>[] = [
  ownRoute({
    method: "GET",
    path: "/auth/account",
    operationId: "getAccountOfPerson",
    tag: TAG,
    summary: "Get how you sign in",
    responses: { 200: { description: "Your own account.", schema: AccountSchema } },
    problems: [],
    handle: async ({ caller }, people) => {
      const { person, session } = caller;
      return {
        status: 200,
        body: {
          id: toTypeId("per", person.id),
          name: person.name,
          email: person.email,
          hasSecondFactor: person.hasTwoFactor,
          hasPassword: (await readPasswordHash(people.db, person.id)) !== null,
          hasSingleSignOn: person.hasSingleSignOn,
          passkeys: (await listPasskeys(people.db, person.id)).length,
          session: {
            id: toTypeId("ses", session.id),
            endsAt: endOf(session).toISOString(),
            recentUntil: after(session.authenticatedAt, RECENT_MS).toISOString(),
            isRecent: isRecent(session, people.clock.now()),
          },
        },
      };
    },
  }),
  ownRoute({
    method: "POST",
    path: "/auth/confirm",
    operationId: "confirmPerson",
    tag: TAG,
    summary: "Confirm that it is you",
    description:
      "Recent authentication for the next 15 minutes, after `recent-authentication-required`. With a passkey, sign in again instead.",
    body: ProofSchema,
    responses: { 204: { description: "You are recently authenticated." } },
    problems: ["sign-in-failed", "rate-limited", "validation-failed", "forbidden"],
    handle: async ({ caller, body }, people) =>
      (await confirmPerson(people, caller, proofOf(body))) ?? { status: 204 },
  }),
  ownRoute({
    method: "POST",
    path: "/auth/password",
    operationId: "setPassword",
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Set or replace your password",
    description:
      "Needs a session and recent authentication. All other sessions of the person end, and all of its links.",
    body: Type.Object(
      { password: NewPasswordSchema },
      { title: "NewPassword", description: "A new password." },
    ),
    responses: { 204: { description: "The password is set." } },
    problems: ["recent-authentication-required", "validation-failed", "forbidden"],
    handle: async ({ caller, body }, people) =>
      (await setPassword(people, caller, body.password)) ?? { status: 204 },
  }),
  ownRoute({
    method: "POST",
    path: "/auth/second-factor",
    operationId: "startSecondFactor",
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Begin to set up one-time codes",
    description:
      "Needs recent authentication. The codes count once one of them was verified. The backup codes are shown once.",
    body: passwordField,
    responses: { 200: { description: "What the device needs.", schema: SecondFactorSchema } },
    problems: PROOF_PROBLEMS,
    handle: async ({ caller, body }, people) =>
      secrets(await startSecondFactor(people, caller, body.password)),
  }),
  ownRoute({
    method: "POST",
    path: "/auth/second-factor/verify",
    operationId: "verifySecondFactor",
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Finish to set up one-time codes",
    description: "With a code of the device. From now on a password alone does not suffice.",
    body: Type.Object(
      {
        code: Type.String({
          minLength: 6,
          maxLength: 8,
          examples: ["123456"],
          description: "Six digits of the device.",
        }),
      },
      { title: "SecondFactorCode", description: "A code of the device." },
    ),
    responses: { 204: { description: "One-time codes are required." } },
    problems: PROOF_PROBLEMS,
    handle: async ({ caller, body }, people) =>
      (await verifySecondFactor(people, caller, body.code)) ?? { status: 204 },
  }),
  ownRoute({
    method: "POST",
    path: "/auth/second-factor/backup-codes",
    operationId: "renewBackupCodes",
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Get new backup codes",
    description: "Needs recent authentication. The earlier ones are no longer valid.",
    body: passwordField,
    responses: { 200: { description: "The new codes.", schema: BackupCodesSchema } },
    problems: PROOF_PROBLEMS,
    handle: async ({ caller, body }, people) =>
      secrets(await renewBackupCodes(people, caller, body.password)),
  }),
  ownRoute({
    method: "POST",
    path: "/auth/second-factor/remove",
    operationId: "removeSecondFactor",
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Stop to use one-time codes",
    description:
      "Needs recent authentication. From now on a password alone suffices. All other sessions of the person end.",
    body: passwordField,
    responses: { 204: { description: "One-time codes are not required." } },
    problems: PROOF_PROBLEMS,
    handle: async ({ caller, body }, people) =>
      (await removeSecondFactor(people, caller, body.password)) ?? { status: 204 },
  }),
  ownRoute({
    method: "GET",
    path: "/auth/passkeys",
    operationId: "listPasskeys",
    tag: TAG,
    summary: "List your passkeys",
    responses: { 200: { description: "All of them, oldest first.", schema: PasskeyListSchema } },
    problems: [],
    handle: async ({ caller }, people) => {
      const passkeys = await listPasskeys(people.db, caller.person.id);
      const data = passkeys.map(({ id, name, createdAt }) => ({
        id,
        name,
        createdAt: createdAt.toISOString(),
      }));
      return { status: 200, body: { data, nextCursor: null } };
    },
  }),
  ownRoute({
    method: "POST",
    path: "/auth/passkeys/options",
    operationId: "startPasskey",
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Begin to make a passkey",
    description:
      "What the browser needs to make a passkey. It sets a cookie with the challenge, for five minutes. It is good once.",
    responses: { 200: { description: "Options of WebAuthn.", schema: WebAuthnOptionsSchema } },
    problems: ["recent-authentication-required", "forbidden"],
    handle: async ({ caller }, people) => {
      const { options, cookie } = await passkeyRegistration(people, caller);
      return { status: 200, body: { options }, headers: cookieHeaders(cookie) };
    },
  }),
  ownRoute({
    method: "POST",
    path: "/auth/passkeys",
    operationId: "addPasskey",
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Add a passkey",
    description: `Needs recent authentication. A person has at most ${PASSKEYS_MAX}.`,
    body: Type.Object(
      { name: shortText("How you recognize it.", ["Laptop"]), response: webAuthnResponse },
      { title: "NewPasskey", description: "A passkey that the browser has made." },
    ),
    responses: { 204: { description: "The passkey can be used." } },
    problems: [
      "sign-in-failed",
      "limit-reached",
      "recent-authentication-required",
      "validation-failed",
      "forbidden",
    ],
    handle: async ({ caller, body }, people) => (await addPasskey(people, caller, body)) ?? { status: 204 },
  }),
  ownRoute({
    method: "DELETE",
    path: "/auth/passkeys/{id}",
    operationId: "removePasskey",
    needsRecentAuthentication: true,
    tag: TAG,
    summary: "Remove a passkey",
    description:
      "Needs recent authentication. All other sessions of the person end: the device has perhaps opened one.",
    params: Type.Object({ id: Type.String({ description: "Id of the passkey." }) }),
    responses: { 204: { description: "The passkey is no longer accepted." } },
    problems: ["not-found", "recent-authentication-required", "forbidden"],
    handle: async ({ caller, params }, people) => {
      const id = parseUuid(params.id);
      const isRemoved = id !== null && (await removePasskey(people, caller, id));
      return isRemoved ? { status: 204 } : notFound("passkey");
    },
  }),
];
