import { Type } from "typebox";
import type { People } from "../../../people/sign-in/people.ts";
import { setPassword } from "../../../people/sign-in/set-password.ts";
import { signInWithLink } from "../../../people/sign-in/sign-in-with-link.ts";
import { signInWithPassword } from "../../../people/sign-in/sign-in-with-password.ts";
import { signOut } from "../../../people/sign-in/sign-out.ts";
import type { Route } from "../../http/route.ts";
import {
  cookieHeaders,
  EmailSchema,
  LinkTokenSchema,
  NewPasswordSchema,
  notSignedIn,
  PasswordSchema,
  recentAuthenticationRequired,
  route,
  SignInSchema,
  sessionOf,
  signInAnswer,
} from "./sign-in-wire.ts";

const TAG = "Sign-in";
const signedIn = { 200: { description: "How far the sign-in is.", schema: SignInSchema } };

/** How people sign in and out (decision 0115). */
export const signInRoutes: readonly Route<People>[] = [
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
    handle: async ({ caller, body }, people) =>
      signInAnswer(
        await signInWithPassword(people, body, caller),
        "Mail address or password is not right. Who has no password requests a link by mail.",
      ),
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
    problems: ["sign-in-failed", "rate-limited", "validation-failed", "forbidden"],
    handle: async ({ caller, body }, people) =>
      signInAnswer(
        await signInWithLink(people, body.token, caller),
        "The link is not valid: it was used, has expired or was replaced by a newer one.",
      ),
  }),
  route({
    method: "POST",
    path: "/auth/password",
    operationId: "setPassword",
    tag: TAG,
    summary: "Set or replace your password",
    description: "Needs a session and recent authentication. All other sessions of the person end.",
    body: Type.Object(
      { password: NewPasswordSchema },
      { title: "NewPassword", description: "A new password." },
    ),
    responses: { 204: { description: "The password is set." } },
    problems: ["recent-authentication-required", "validation-failed", "forbidden"],
    handle: async ({ caller, body }, people) => {
      const opened = await sessionOf(people, caller);
      if (opened === null) return notSignedIn;
      const isSet = await setPassword(people, opened, body.password, caller);
      return isSet ? { status: 204 } : recentAuthenticationRequired;
    },
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
