import { Type } from "typebox";
import type { BackOfficeCaller } from "../../../access/grant.ts";
import { EMAIL_LENGTH_MAX, PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from "../../../people/person.ts";
import { findSession } from "../../../people/sessions/find-session.ts";
import { isRecent, type PersonSession } from "../../../people/sessions/session.ts";
import type { SignIn } from "../../../people/sign-in/finish-sign-in.ts";
import type { People } from "../../../people/sign-in/people.ts";
import type { Visitor } from "../../../people/sign-in/visitor.ts";
import type { Clock } from "../../../platform/clock.ts";
import { SECOND_MS } from "../../../platform/time.ts";
import type { Problem } from "../../../platform/wire/problems.ts";
import { enumeration } from "../../../platform/wire/schemas.ts";
import { type RouteResponse, routeTable } from "../../http/route.ts";
import { isExpectedPerson, personChanged } from "./expected-person.ts";

/** Declares a row of the table of sign-in. Its callers have not signed in yet. */
export const route = routeTable<People, Visitor>();

export const EmailSchema = Type.String({
  minLength: 3,
  maxLength: EMAIL_LENGTH_MAX,
  format: "text",
  description: "Mail address of the person. Upper and lower case are the same.",
});

export const PasswordSchema = Type.String({
  minLength: 1,
  maxLength: PASSWORD_LENGTH_MAX,
  description: "The person's password.",
});

export const NewPasswordSchema = Type.String({
  minLength: PASSWORD_LENGTH_MIN,
  maxLength: PASSWORD_LENGTH_MAX,
  examples: ["correct horse battery staple"],
  description: "The new password, of 12 characters or more. A few words are easier to remember than signs.",
});

export const LinkTokenSchema = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "What follows `#token=` in the link.",
});

export const SignInSchema = Type.Object(
  {
    status: enumeration(
      "SignInStatus",
      ["signed-in", "code-required"],
      "`signed-in`: the response sets the cookie of a session. `code-required`: the password is right, and a one-time code must follow.",
    ),
  },
  { title: "SignIn", description: "How far the sign-in is." },
);

/**
 * RFC 9110, section 15.5.2: each 401 names a scheme. These routes accept no token, so it is none of the registered ones; a
 * browser opens no dialog of its own for it (decision 0017).
 */
const CHALLENGE = { "www-authenticate": 'Session realm="partner-orders"' };

export const signInFailed = (detail: string): Problem => ({
  code: "sign-in-failed",
  detail,
  headers: CHALLENGE,
});

export const notSignedIn: Problem = {
  code: "unauthorized",
  detail: "Sign in first: there is no session, or it has ended.",
  headers: CHALLENGE,
};

const codeStepEnded: Problem = {
  code: "unauthorized",
  detail:
    "Begin again with the password: five codes were wrong, it was entered more than ten minutes ago, or the sign-ins of the person have ended.",
  headers: CHALLENGE,
};

/** Who has entered the right password needs no code with a link or a passkey (decision 0225). */
const codesLost: Problem = {
  code: "person-state",
  detail:
    "The one-time codes of this person were lost with the key that encrypted them. Sign in with a passkey, or ask an operator for a link. Then remove the codes and set them up again.",
  members: { state: "codes-lost" },
};

export const ownCodesLost: Problem = {
  code: "person-state",
  detail:
    "Your one-time codes were lost with the key that encrypted them. Remove them and set them up again.",
  members: { state: "codes-lost" },
};

export const recentAuthenticationRequired: Problem = {
  code: "recent-authentication-required",
  detail: "Confirm that it is you: this needs a password, a code or a passkey within the last 15 minutes.",
};

/** The problem of a person who must prove again who it is. Null: it has, or the caller is a program. */
export const notRecent = ({ session }: BackOfficeCaller, clock: Clock): Problem | null =>
  session === undefined || isRecent(session, clock.now()) ? null : recentAuthenticationRequired;

/** The session of the browser, or the problem: there is none, or it is not that of the person that the page shows. */
export async function sessionOf(people: People, visitor: Visitor): Promise<PersonSession | Problem> {
  const opened = await findSession(people, people.keys, visitor.cookie);
  if (opened === null) return notSignedIn;
  return isExpectedPerson(opened, visitor.expectedPersonId) ? opened : personChanged;
}

/** The session of a person who has proved recently who it is, or the problem. */
export async function recentSessionOf(people: People, visitor: Visitor): Promise<PersonSession | Problem> {
  const opened = await sessionOf(people, visitor);
  if ("code" in opened) return opened;
  return isRecent(opened.session, people.clock.now()) ? opened : recentAuthenticationRequired;
}

/** Why there were too many requests, and what the person can do. Strangers cannot use up what these sentences name. */
const TOO_MANY = {
  password: (seconds: number) =>
    `There were too many attempts to sign in. Retry in ${seconds} s, or use a passkey or a link by mail.`,
  reset: (seconds: number) =>
    `There were too many requests for a link by mail. Retry in ${seconds} s, or use a link that was sent, or a passkey.`,
  link: (seconds: number) => `There were too many attempts with this link. Retry in ${seconds} s.`,
};

export const tooManyAttempts = (waitMs: number, purpose: keyof typeof TOO_MANY = "password"): Problem => {
  const seconds = Math.max(1, Math.ceil(waitMs / SECOND_MS));
  return {
    code: "rate-limited",
    detail: TOO_MANY[purpose](seconds),
    headers: { "retry-after": String(seconds) },
  };
};

/** @param failure what the person can do if it failed */
export function signInAnswer(signIn: SignIn, failure: string): RouteResponse | Problem {
  switch (signIn.outcome) {
    case "signed-in":
    case "code-required":
      return { status: 200, body: { status: signIn.outcome }, headers: cookieHeaders(signIn.cookies) };
    case "failed":
      return signInFailed(failure);
    case "codes-lost":
      return codesLost;
    case "step-ended":
      return codeStepEnded;
    case "too-many-attempts":
      return tooManyAttempts(signIn.waitMs);
  }
}

export const cookieHeaders = (cookies: readonly string[]) => ({
  "set-cookie": [...cookies],
  "cache-control": "no-store",
});
