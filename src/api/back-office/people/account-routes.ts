import { Type } from "typebox";
import { readSignInMethods } from "../../../people/auth/accounts-sql.ts";
import { CODES_LOST } from "../../../people/own-account/compare-own-code.ts";
import { confirmPerson } from "../../../people/own-account/confirm-person.ts";
import {
  ALREADY_SET_UP,
  removeSecondFactor,
  renewBackupCodes,
  startSecondFactor,
  verifySecondFactor,
} from "../../../people/own-account/second-factor.ts";
import { RECENT_MS } from "../../../people/person.ts";
import { endOf } from "../../../people/sessions/session.ts";
import type { People } from "../../../people/sign-in/people.ts";
import { setPassword } from "../../../people/sign-in/set-password.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { after } from "../../../platform/time.ts";
import type { Route } from "../../http/route.ts";
import {
  AccountSchema,
  BackupCodesSchema,
  ProofSchema,
  passwordField,
  proofOf,
  SecondFactorSchema,
} from "./account-wire.ts";
import {
  cookieHeaders,
  NewPasswordSchema,
  ownCodesLost,
  recentAuthenticationRequired,
  recentSessionOf,
  route,
  sessionOf,
  signInFailed,
  tooManyAttempts,
} from "./sign-in-wire.ts";

const TAG = "Own account";
const wrongPassword = signInFailed("The password is not right. It is required for a person who has one.");

const alreadySetUp = signInFailed("One-time codes are set up already. Remove them first.");

/** The problems of a route that compares a password or a code of the person who has signed in. */
const PROOF_PROBLEMS = [
  "sign-in-failed",
  "recent-authentication-required",
  "person-state",
  "rate-limited",
  "validation-failed",
  "forbidden",
] as const;

/** What people do with their own sign-in. Each needs a session, and most need recent authentication. */
export const accountRoutes: readonly Route<People>[] = [
  route({
    method: "GET",
    path: "/auth/account",
    operationId: "getAccountOfPerson",
    tag: TAG,
    summary: "Get how you sign in",
    responses: { 200: { description: "Your own account.", schema: AccountSchema } },
    problems: [],
    handle: async ({ caller }, people) => {
      const opened = await sessionOf(people, caller);
      if ("code" in opened) return opened;
      const { person, session } = opened;
      return {
        status: 200,
        body: {
          id: toTypeId("per", person.id),
          name: person.name,
          email: person.email,
          hasSecondFactor: person.hasTwoFactor,
          ...(await readSignInMethods(people.db, person.id)),
          session: {
            id: toTypeId("ses", session.id),
            endsAt: endOf(session).toISOString(),
            recentUntil: after(session.authenticatedAt, RECENT_MS).toISOString(),
          },
        },
      };
    },
  }),
  route({
    method: "POST",
    path: "/auth/confirm",
    operationId: "confirmPerson",
    tag: TAG,
    summary: "Confirm that it is you",
    description:
      "Recent authentication for the next 15 minutes, after `recent-authentication-required`. Who has a passkey signs in with it again instead.",
    body: ProofSchema,
    responses: { 204: { description: "You are recently authenticated." } },
    problems: ["sign-in-failed", "person-state", "rate-limited", "validation-failed", "forbidden"],
    handle: async ({ caller, body }, people) => {
      const opened = await sessionOf(people, caller);
      if ("code" in opened) return opened;
      const confirmed = await confirmPerson(people, opened, proofOf(body), caller);
      if (confirmed.outcome === "too-many-attempts") return tooManyAttempts(confirmed.waitMs);
      if (confirmed.outcome === "codes-lost") return ownCodesLost;
      return confirmed.outcome === "confirmed"
        ? { status: 204 }
        : signInFailed("The password or the code is not right.");
    },
  }),
  route({
    method: "POST",
    path: "/auth/password",
    operationId: "setPassword",
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
    handle: async ({ caller, body }, people) => {
      const opened = await sessionOf(people, caller);
      if ("code" in opened) return opened;
      const cookie = await setPassword(people, opened, body.password, caller);
      return cookie === null
        ? recentAuthenticationRequired
        : { status: 204, headers: cookieHeaders([cookie]) };
    },
  }),
  route({
    method: "POST",
    path: "/auth/second-factor",
    operationId: "startSecondFactor",
    tag: TAG,
    summary: "Begin to set up one-time codes",
    description:
      "Needs recent authentication. The codes count once one of them was verified. The backup codes are shown once.",
    body: passwordField,
    responses: { 200: { description: "What the device needs.", schema: SecondFactorSchema } },
    problems: PROOF_PROBLEMS,
    handle: async ({ caller, body }, people) => {
      const opened = await recentSessionOf(people, caller);
      if ("code" in opened) return opened;
      const answer = await startSecondFactor(people, opened, body, caller);
      if ("outcome" in answer) return tooManyAttempts(answer.waitMs);
      if (answer.error !== null) return answer.error === ALREADY_SET_UP ? alreadySetUp : wrongPassword;
      const { totpURI: uri, backupCodes } = answer.body;
      return { status: 200, body: { uri, backupCodes }, headers: cookieHeaders(answer.cookies) };
    },
  }),
  route({
    method: "POST",
    path: "/auth/second-factor/verify",
    operationId: "verifySecondFactor",
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
    handle: async ({ caller, body }, people) => {
      const opened = await recentSessionOf(people, caller);
      if ("code" in opened) return opened;
      const answer = await verifySecondFactor(people, opened, body.code, caller);
      if ("outcome" in answer) return tooManyAttempts(answer.waitMs);
      if (answer.error === CODES_LOST) return ownCodesLost;
      if (answer.error !== null)
        return signInFailed("The code is not right. Compare the clock of the device.");
      return { status: 204, headers: cookieHeaders(answer.cookies) };
    },
  }),
  route({
    method: "POST",
    path: "/auth/second-factor/backup-codes",
    operationId: "renewBackupCodes",
    tag: TAG,
    summary: "Get new backup codes",
    description: "Needs recent authentication. The earlier ones are no longer valid.",
    body: passwordField,
    responses: { 200: { description: "The new codes.", schema: BackupCodesSchema } },
    problems: PROOF_PROBLEMS,
    handle: async ({ caller, body }, people) => {
      const opened = await recentSessionOf(people, caller);
      if ("code" in opened) return opened;
      const answer = await renewBackupCodes(people, opened, body, caller);
      if ("outcome" in answer) return tooManyAttempts(answer.waitMs);
      if (answer.error === CODES_LOST) return ownCodesLost;
      if (answer.error !== null) return wrongPassword;
      return {
        status: 200,
        body: { backupCodes: answer.body["backupCodes"] },
        headers: cookieHeaders(answer.cookies),
      };
    },
  }),
  route({
    method: "POST",
    path: "/auth/second-factor/remove",
    operationId: "removeSecondFactor",
    tag: TAG,
    summary: "Stop to use one-time codes",
    description:
      "Needs recent authentication. From now on a password alone suffices. All other sessions of the person end.",
    body: passwordField,
    responses: { 204: { description: "One-time codes are not required." } },
    problems: PROOF_PROBLEMS,
    handle: async ({ caller, body }, people) => {
      const opened = await recentSessionOf(people, caller);
      if ("code" in opened) return opened;
      const answer = await removeSecondFactor(people, opened, body, caller);
      if ("outcome" in answer) return tooManyAttempts(answer.waitMs);
      return answer.error === null ? { status: 204, headers: cookieHeaders(answer.cookies) } : wrongPassword;
    },
  }),
];
