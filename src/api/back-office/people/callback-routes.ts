import type { People } from "../../../people/sign-in/people.ts";
import { finishProviderSignIn } from "../../../people/sign-in/sign-in-with-provider.ts";
import type { Route } from "../../http/route.ts";
import { CallbackSchema, noProvider } from "./sign-in-bodies.ts";
import { cookieHeaders, route } from "./sign-in-wire.ts";

/** What identity providers send browsers to. It is no operation of a client, so the description has it not. */
export const callbackRoutes: readonly Route<People>[] = [
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
      const { signIn, location } = await finishProviderSignIn(people, query, caller);
      const cookies = "cookies" in signIn ? signIn.cookies : [];
      return { status: 302, headers: { ...cookieHeaders(cookies), location } };
    },
  }),
];
