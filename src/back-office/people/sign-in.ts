import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { addRoute } from "../../http/add-route.ts";
import { clientAddress, networkOf, problemWriter } from "../../http/replies.ts";
import type { Route, RouteResponse } from "../../http/route.ts";
import { cookieHeaders } from "../../people/cookies.ts";
import { passkeyOptions } from "../../people/passkeys.ts";
import { requestReset, resetPassword } from "../../people/passwords.ts";
import {
  EMAIL_LENGTH_MAX,
  openPeople,
  PASSWORD_LENGTH_MAX,
  type People,
  type PeopleContext,
  type Visitor,
} from "../../people/person.ts";
import {
  finishProviderSignIn,
  isReturnPath,
  RETURN_LENGTH_MAX,
  startProviderSignIn,
} from "../../people/provider.ts";
import { type Own, signOut } from "../../people/sessions.ts";
import {
  type SignIn,
  signInWithCode,
  signInWithLink,
  signInWithPasskey,
  signInWithPassword,
} from "../../people/sign-in.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { isProblem, notFound, type Problem, type ValidationError } from "../../platform/wire/problems.ts";
import { enumeration, nullable } from "../../platform/wire/schemas.ts";
import { valueAt } from "../money/amounts.ts";
import { accountRoutes } from "./account.ts";
import {
  expectedPersonIn,
  foreignOrigin,
  isSameOrigin,
  notRecent,
  ownAuthentication,
} from "./session-authentication.ts";
import { sessionRoutes } from "./sessions.ts";
import {
  codeFields,
  codeOf,
  NewPasswordSchema,
  route,
  WebAuthnOptionsSchema,
  webAuthnResponse,
} from "./sign-in-wire.ts";

const TAG = "Sign-in";
const EmailSchema = Type.String({
  minLength: 3,
  maxLength: EMAIL_LENGTH_MAX,
  format: "text",
  description: "Mail address of the person. Upper and lower case are the same.",
});

const PasswordSchema = Type.String({
  minLength: 1,
  maxLength: PASSWORD_LENGTH_MAX,
  description: "The person's password.",
});

const LinkTokenSchema = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "What follows `#token=` in the link.",
});

const SignInSchema = Type.Object(
  {
    status: enumeration(
      "SignInStatus",
      ["signed-in", "code-required"],
      "`signed-in`: the response sets the cookie of a session. `code-required`: the password is right, and a one-time code must follow.",
    ),
  },
  { title: "SignIn", description: "How far the sign-in is." },
);

const WebAuthnResponseSchema = Type.Object(
  { response: webAuthnResponse },
  { title: "PasskeySignIn", description: "What a device has signed." },
);

const MethodsSchema = Type.Object(
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

const RedirectSchema = Type.Object(
  { url: Type.String({ description: "Address at the identity provider that the browser must open." }) },
  { title: "Redirect", description: "Where the sign-in continues." },
);

/** Any value: who comes with one that is not valid goes to the sign-in page, not to a problem in JSON. */
const parameter = (description: string) => Type.Optional(Type.Unknown({ description }));

/** What identity providers add to the address. */
const CallbackSchema = Type.Object({
  code: parameter("The code that stands for the sign-in at the identity provider."),
  state: parameter("What the service sent along, to recognize its own request."),
  error: parameter("Why the identity provider did not sign the person in."),
  error_description: parameter("The same in words."),
  iss: parameter("The identity provider, as it names itself."),
});

const noProvider = notFound("identity provider");

/** The page that follows a sign-in must be one of this service. */
function returnErrors(body: unknown): ValidationError[] {
  const path = valueAt(body, "/returnTo");
  return typeof path !== "string" || isReturnPath(path)
    ? []
    : [{ pointer: "/returnTo", rule: "format", format: "page-path" }];
}

/** How far the sign-in is, with the cookie of that. */
const answer = (signIn: SignIn | Problem): RouteResponse | Problem =>
  isProblem(signIn)
    ? signIn
    : { status: 200, body: { status: signIn.status }, headers: cookieHeaders(signIn.cookie) };

const signedIn = { 200: { description: "How far the sign-in is.", schema: SignInSchema } };

/** How people sign in and out (docs/design/people.md, "Sign-in is our own"). */
const signInRoutes: readonly Route<People>[] = [
  route({
    method: "POST",
    path: "/auth/sign-in/password",
    operationId: "signInWithPassword",
    tag: TAG,
    summary: "Sign in with a password",
    description:
      "Sets the cookie of a session, or, for a person with a second factor, one for the code that must follow.",
    body: Type.Object(
      { email: EmailSchema, password: PasswordSchema },
      { title: "PasswordSignIn", description: "Mail address and password." },
    ),
    responses: signedIn,
    problems: ["sign-in-failed", "rate-limited", "validation-failed", "forbidden"],
    handle: async ({ caller, body }, people) => answer(await signInWithPassword(people, body, caller)),
  }),
  route({
    method: "POST",
    path: "/auth/sign-in/link",
    operationId: "signInWithLink",
    tag: TAG,
    summary: "Sign in with a one-time link",
    description: "The link of an invitation, of the first start, of the operator or of the demo.",
    body: Type.Object(
      { token: LinkTokenSchema },
      { title: "LinkSignIn", description: "The token of a link." },
    ),
    responses: signedIn,
    problems: ["sign-in-failed", "validation-failed", "forbidden"],
    handle: async ({ caller, body }, people) => answer(await signInWithLink(people, body.token, caller)),
  }),
  route({
    method: "POST",
    path: "/auth/sign-in/code",
    operationId: "signInWithCode",
    tag: TAG,
    summary: "Finish a sign-in with a one-time code",
    description:
      "After `code-required`, within ten minutes, on the same browser. After five wrong codes the sign-in begins again with the password: then the response is `unauthorized`.",
    body: Type.Object(codeFields, { title: "CodeSignIn", description: "A one-time code." }),
    responses: signedIn,
    problems: ["sign-in-failed", "rate-limited", "validation-failed", "forbidden"],
    handle: async ({ caller, body }, people) => answer(await signInWithCode(people, codeOf(body), caller)),
  }),
  route({
    method: "POST",
    path: "/auth/sign-in/passkey-options",
    operationId: "startPasskeySignIn",
    tag: TAG,
    summary: "Begin a sign-in with a passkey",
    description:
      "What the browser needs to ask for a passkey. It sets a cookie with the challenge, for five minutes. It is good once.",
    responses: { 200: { description: "Options of WebAuthn.", schema: WebAuthnOptionsSchema } },
    problems: ["forbidden"],
    handle: async (_input, people) => {
      const { options, cookie } = await passkeyOptions(people);
      return { status: 200, body: { options }, headers: cookieHeaders(cookie) };
    },
  }),
  route({
    method: "POST",
    path: "/auth/sign-in/passkey",
    operationId: "signInWithPasskey",
    tag: TAG,
    summary: "Sign in with a passkey",
    description: "Sets the cookie of a session. The device has verified the person, so no code follows.",
    body: WebAuthnResponseSchema,
    responses: signedIn,
    problems: ["sign-in-failed", "validation-failed", "forbidden"],
    handle: async ({ caller, body }, people) =>
      answer(await signInWithPasskey(people, body.response, caller)),
  }),
  route({
    method: "GET",
    path: "/auth/methods",
    operationId: "getSignInMethods",
    tag: TAG,
    summary: "Get how one can sign in",
    description: "What the sign-in page offers beside a password, a passkey and a link by mail.",
    responses: { 200: { description: "The ways to sign in.", schema: MethodsSchema } },
    problems: [],
    handle: async (_input, { config }) => ({
      status: 200,
      body: { singleSignOn: config.oidcIssuer === null ? null : { name: config.oidcName } },
    }),
  }),
  route({
    method: "POST",
    path: "/auth/sign-in/single-sign-on",
    operationId: "startSingleSignOn",
    tag: TAG,
    summary: "Begin a sign-in at the identity provider",
    description: "The browser must open the address that is returned.",
    body: Type.Object(
      {
        returnTo: Type.Optional(
          Type.String({
            maxLength: RETURN_LENGTH_MAX,
            default: "/",
            examples: ["/orders"],
            description: "Path of the page that follows the sign-in. Default: the first page.",
          }),
        ),
      },
      { title: "SingleSignOnRequest", description: "What follows the sign-in." },
    ),
    responses: { 200: { description: "Where to sign in.", schema: RedirectSchema } },
    problems: ["not-found", "validation-failed", "forbidden"],
    bodyErrors: async ({ body }) => returnErrors(body),
    handle: async ({ body }, people) => {
      if (people.config.oidcIssuer === null) return noProvider;
      const { url, cookie } = await startProviderSignIn(people, body.returnTo ?? "/");
      return { status: 200, body: { url }, headers: cookieHeaders(cookie) };
    },
  }),
  route({
    method: "POST",
    path: "/auth/reset",
    operationId: "requestPasswordReset",
    tag: TAG,
    summary: "Request a mail to set a new password",
    description:
      "The response is the same whether a person has the address or not. The link in the mail is valid for an hour. At most five mails are sent to a person within 15 minutes.",
    body: Type.Object(
      { email: EmailSchema },
      { title: "ResetRequest", description: "A person who has no password, or has forgotten it." },
    ),
    responses: { 202: { description: "If a person has this address, a mail is sent to it." } },
    problems: ["rate-limited", "validation-failed", "forbidden"],
    handle: async ({ caller, body }, people) =>
      (await requestReset(people, body.email, caller)) ?? { status: 202 },
  }),
  route({
    method: "POST",
    path: "/auth/reset/password",
    operationId: "resetPassword",
    tag: TAG,
    summary: "Set a new password with the link of a mail",
    description:
      "All sessions and links of the person end. It signs in with the new password, and with its second factor.",
    body: Type.Object(
      { token: LinkTokenSchema, password: NewPasswordSchema },
      { title: "PasswordReset", description: "The token of the link, and a new password." },
    ),
    responses: { 204: { description: "The password is set." } },
    problems: ["sign-in-failed", "rate-limited", "validation-failed", "forbidden"],
    handle: async ({ caller, body }, people) =>
      (await resetPassword(people, body, caller)) ?? { status: 204 },
  }),
  route({
    method: "POST",
    path: "/auth/sign-out",
    operationId: "signOut",
    tag: TAG,
    summary: "Sign out",
    description: "Ends the session of this browser. Without a session it has no effect.",
    responses: { 204: { description: "The session has ended." } },
    problems: ["forbidden"],
    handle: async ({ caller }, people) => ({
      status: 204,
      headers: cookieHeaders(await signOut(people, caller)),
    }),
  }),
];

/** Adds the routes with which people sign in. They need no token and no session. */
export function addSignIn(app: FastifyInstance, context: PeopleContext, { requests }: Metrics): void {
  const people = openPeople(context);
  const problems = problemWriter(context.config.errorsBaseUrl);
  const options = { name: "back-office", operationsFor: () => people, metrics: requests } as const;
  const authenticate = visitorOf(context);
  for (const row of [...signInRoutes, ...callbackRoutes])
    addRoute(app, row, { ...options, authenticate }, problems);
  const own = {
    ...options,
    authenticate: ownAuthentication(context, authenticate),
    notRecent: (caller: Own) => notRecent(caller, context.clock),
  };
  for (const row of ownRoutes) addRoute(app, row, own, problems);
}

/** What identity providers send browsers to. It is no operation of a client, so the description has it not. */
const callbackRoutes: readonly Route<People>[] = [
  route({
    method: "GET",
    path: "/auth/callback/oidc",
    operationId: "finishSingleSignOn",
    tag: "Sign-in",
    summary: "Return from the identity provider",
    description:
      "The identity provider sends the browser here. A person who was invited by the verified address is signed in; otherwise the sign-in page shows `error`.",
    query: CallbackSchema,
    ignoresUnknownParameters: true,
    responses: {
      302: { description: "To the page that follows the sign-in.", headers: { Location: "Where to go." } },
    },
    problems: ["not-found"],
    handle: async ({ caller, query }, people) => {
      if (people.config.oidcIssuer === null) return noProvider;
      const { location, cookie } = await finishProviderSignIn(people, query, caller);
      return { status: 302, headers: { ...cookieHeaders(cookie), location } };
    },
  }),
];

const ownRoutes: readonly Route<People>[] = [...accountRoutes, ...sessionRoutes];

/** All routes of people themselves. None needs a role. */
export const openRoutes: readonly Route<People>[] = [...signInRoutes, ...ownRoutes];

/** Who signs in: a page of this service or a program, but no foreign page. */
const visitorOf =
  ({ config }: Pick<PeopleContext, "config">) =>
  (request: FastifyRequest): Visitor | Problem => {
    const { headers, method, id } = request;
    if (method !== "GET" && !isSameOrigin(headers, config)) return foreignOrigin;
    return {
      cookie: headers.cookie ?? "",
      userAgent: headers["user-agent"] ?? "",
      ipAddress: clientAddress(request),
      network: networkOf(request),
      origin: headers.origin ?? "",
      requestId: id,
      expectedPersonId: expectedPersonIn(headers),
    };
  };
