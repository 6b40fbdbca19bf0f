import type { IncomingHttpHeaders } from "node:http";
import { type Static, Type } from "typebox";
import type { BackOfficeCaller } from "../../audit/grant.ts";
import { type RouteResponse, routeTable } from "../../http/route.ts";
import type { Code } from "../../people/one-time-codes.ts";
import {
  EMAIL_LENGTH_MAX,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  type People,
  type Visitor,
} from "../../people/person.ts";
import { isReturnPath } from "../../people/provider.ts";
import { findSession, isRecent, type PersonSession } from "../../people/sessions.ts";
import type { SignIn } from "../../people/sign-in.ts";
import { toTypeId } from "../../platform/ids.ts";
import { type Clock, SECOND_MS } from "../../platform/time.ts";
import { notFound, type Problem, type ValidationError } from "../../platform/wire/problems.ts";
import { enumeration, nullable } from "../../platform/wire/schemas.ts";
import { valueAt } from "../money/amounts.ts";

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

export const recentAuthenticationRequired: Problem = {
  code: "recent-authentication-required",
  detail: "Confirm that it is you: this needs a password, a code or a passkey within the last 15 minutes.",
};

/** The problem of a person who must prove again who it is. Null: it has, or the caller is a program. */
export const notRecent = ({ session }: BackOfficeCaller, clock: Clock): Problem | null =>
  session === undefined || isRecent(session, clock.now()) ? null : recentAuthenticationRequired;

/** The session of the browser, or the problem: there is none, or it is not that of the person that the page shows. */
export async function sessionOf(people: People, visitor: Visitor): Promise<PersonSession | Problem> {
  const opened = await findSession(people, visitor.cookie);
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
      return { status: 200, body: { status: signIn.outcome }, headers: cookieHeaders(signIn.cookie) };
    case "failed":
      return signInFailed(failure);
    case "step-ended":
      return codeStepEnded;
    case "too-many-attempts":
      return tooManyAttempts(signIn.waitMs);
  }
}

/** Of a response that sets a cookie. Null: it sets none. */
export const cookieHeaders = (cookie: string | null) => ({
  ...(cookie !== null && { "set-cookie": cookie }),
  "cache-control": "no-store",
});

/** The person that a page shows as signed in (decision 0221). Null: the request names none. */
export const expectedPersonIn = (headers: IncomingHttpHeaders): string | null => {
  const sent = headers["x-person-id"];
  return typeof sent === "string" ? sent : null;
};

/** All tabs of a browser share one session. A sign-in in one of them replaces the person of the others. */
export const isExpectedPerson = ({ person }: PersonSession, expected: string | null): boolean =>
  expected === null || expected === toTypeId("per", person.id);

export const personChanged: Problem = {
  code: "person-changed",
  detail: "Another person has signed in on this browser. Load the page again.",
};

const codeFields = {
  code: Type.String({
    minLength: 1,
    maxLength: 40,
    examples: ["123456"],
    description: "Six digits of the person's device, or a backup code.",
  }),
  isBackupCode: Type.Optional(
    Type.Boolean({ default: false, description: "Whether it is a backup code, each of which is good once." }),
  ),
};

export const CodeSchema = Type.Object(codeFields, { title: "CodeSignIn", description: "A one-time code." });

export const codeOf = ({ code, isBackupCode = false }: Static<typeof CodeSchema>): Code => ({
  code,
  isBackupCode,
});

/** What a browser makes of WebAuthn's own objects. @simplewebauthn/server checks the members. */
const webAuthn = (description: string) =>
  Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), { maxProperties: 30, description });

export const webAuthnResponse = webAuthn(
  "What the browser has returned, as its `toJSON()` gives it (WebAuthn).",
);

export const WebAuthnResponseSchema = Type.Object(
  { response: webAuthnResponse },
  { title: "PasskeySignIn", description: "What a device has signed." },
);

export const WebAuthnOptionsSchema = Type.Object(
  {
    options: webAuthn("What the browser's `navigator.credentials` takes, as JSON (WebAuthn)."),
  },
  { title: "PasskeyOptions", description: "A challenge for a passkey." },
);

export const MethodsSchema = Type.Object(
  {
    singleSignOn: nullable(
      Type.Object(
        { name: Type.String({ description: "What the button calls the identity provider." }) },
        { title: "SingleSignOn", description: "The identity provider that the operator has configured." },
      ),
      "The identity provider. Null if none is configured.",
    ),
  },
  { title: "SignInMethods", description: "How one can sign in, beside password, passkey and link." },
);

export const RedirectSchema = Type.Object(
  { url: Type.String({ description: "Address at the identity provider that the browser must open." }) },
  { title: "Redirect", description: "Where the sign-in continues." },
);

/** Any value: who comes with one that is not valid goes to the sign-in page, not to a problem in JSON. */
const parameter = (description: string) => Type.Optional(Type.Unknown({ description }));

/** What identity providers add to the address. */
export const CallbackSchema = Type.Object({
  code: parameter("The code that stands for the sign-in at the identity provider."),
  state: parameter("What the service sent along, to recognize its own request."),
  error: parameter("Why the identity provider did not sign the person in."),
  error_description: parameter("The same in words."),
  iss: parameter("The identity provider, as it names itself."),
});

export const noProvider = notFound("identity provider");

/** The page that follows a sign-in must be one of this service. */
export function returnErrors(body: unknown): ValidationError[] {
  const path = valueAt(body, "/returnTo");
  return typeof path !== "string" || isReturnPath(path)
    ? []
    : [{ pointer: "/returnTo", rule: "format", format: "page-path" }];
}
