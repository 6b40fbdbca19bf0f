import { UnavailableError } from "../../platform/database/database.ts";
import { within } from "../../platform/pause.ts";
import { SECOND_MS } from "../../platform/time.ts";
import { readAnswer } from "../auth/answers.ts";
import { OIDC_PROVIDER, withBeginning } from "../auth/oidc.ts";
import { finishSignIn, type SignIn } from "./finish-sign-in.ts";
import type { People } from "./people.ts";
import { headersOf, type Visitor } from "./visitor.ts";

/** An identity provider that needs longer is not available. */
const PROVIDER_MS = 10 * SECOND_MS;

/** Of a page to return to. It is in an encrypted cookie, of which browsers keep 4,096 characters. */
export const RETURN_LENGTH_MAX = 1_000;

/** Pages of the console to return to: a path of this service, and not the address of another one. */
const PATH = /^\/(?![/\\])[\x21-\x7e]*$/;
export const isReturnPath = (path: string): boolean => PATH.test(path);

/** Where the browser signs in. `returnTo`: the page that follows. */
export async function startProviderSignIn(
  people: People,
  returnTo: string,
  visitor: Visitor,
): Promise<{ url: string; cookies: readonly string[] }> {
  const { backOfficeUrl } = people.config;
  const call = people.providerAuth().api.signInSocial({
    body: {
      provider: OIDC_PROVIDER,
      callbackURL: `${backOfficeUrl}${returnTo}`,
      errorCallbackURL: `${backOfficeUrl}/sign-in`,
      disableRedirect: true,
    },
    headers: headersOf(visitor),
    asResponse: true,
  });
  const answer = await readAnswer(await inTime(people, call));
  const { url } = answer.body;
  if (typeof url !== "string") throw new UnavailableError("The identity provider is not available.");
  return { url, cookies: answer.cookies };
}

/**
 * The return from the identity provider. Where to go: the page that was requested, or the sign-in page with `error` if no
 * person was invited by that address, or the provider has not verified it.
 */
export async function finishProviderSignIn(
  people: People,
  query: Readonly<Record<string, string>>,
  visitor: Visitor,
): Promise<{ signIn: SignIn; location: string }> {
  const evaluated = withBeginning(() =>
    people.providerAuth().api.callbackOAuth({
      method: "GET",
      params: { id: OIDC_PROVIDER },
      query,
      headers: headersOf(visitor),
      asResponse: true,
    }),
  );
  const { result, beginning } = await inTime(people, evaluated);
  const answer = await readAnswer(result);
  const signIn = await finishSignIn(people, answer, visitor, { method: "identity provider", beginning });
  const failed = `${people.config.backOfficeUrl}/sign-in?error=sign-in-failed`;
  return { signIn, location: signIn.outcome === "signed-in" ? (answer.location ?? "/") : failed };
}

async function inTime<Result>(people: People, call: Promise<Result>): Promise<Result> {
  try {
    return await within(PROVIDER_MS, call);
  } catch (err) {
    people.log.warn({ err }, "identity provider not available");
    throw new UnavailableError("The identity provider is not available.");
  }
}
