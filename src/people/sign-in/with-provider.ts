import { UnavailableError } from "../../platform/database/database.ts";
import { within } from "../../platform/run-in-turn.ts";
import { isStorableText } from "../../platform/wire/problems.ts";
import { deleteAccount } from "../accounts-sql.ts";
import { type AuthAnswer, readAnswer } from "../library/answers.ts";
import { type Auth, OIDC_PROVIDER, type ProviderReturn, withReturn } from "../library/auth.ts";
import { finishSignIn, type SignIn } from "./finish-sign-in.ts";
import { headersOf, type People, type Visitor } from "./people.ts";

/** Browsers drop a cookie whose name and value have more characters. */
const COOKIE_LENGTH_MAX = 4_096;

/** Of a page to return to, which is in an encrypted cookie. */
export const RETURN_LENGTH_MAX = 1_000;

/** Pages of the console to return to: a path of this service, and not the address of another one. */
const PATH = /^\/(?![/\\])[\x21-\x7e]*$/;
export const isReturnPath = (path: string): boolean => PATH.test(path);

type Visit = { readonly url: string; readonly cookies: readonly string[] };

/**
 * Where the browser signs in. `returnTo`: the page that follows. Signs that JSON escapes, and a long BACK_OFFICE_URL, make the
 * cookie larger: where it would be dropped, and the sign-in with it, the first page follows.
 */
export async function startProviderSignIn(
  people: People,
  returnTo: string,
  visitor: Visitor,
): Promise<Visit> {
  const visit = await beginVisit(people, returnTo, visitor);
  return visit.cookies.every(isKept) ? visit : beginVisit(people, "/", visitor);
}

const isKept = (cookie: string): boolean => (cookie.split(";", 1)[0] ?? "").length <= COOKIE_LENGTH_MAX;

async function beginVisit(people: People, returnTo: string, visitor: Visitor): Promise<Visit> {
  const { backOfficeUrl } = people.config;
  const response = await inTime(people, ({ api }) =>
    api.signInSocial({
      body: {
        provider: OIDC_PROVIDER,
        callbackURL: `${backOfficeUrl}${returnTo}`,
        errorCallbackURL: `${backOfficeUrl}/sign-in`,
        disableRedirect: true,
      },
      headers: headersOf(visitor),
      asResponse: true,
    }),
  );
  const answer = await readAnswer(response);
  const { url } = answer.body;
  if (typeof url !== "string") throw new UnavailableError("The identity provider is not available.");
  return { url, cookies: answer.cookies };
}

/**
 * The return from the identity provider. Where to go: the page that was requested, or the sign-in page with `error` if no
 * person was invited by that address, the provider has not verified it, or it did not respond. A browser shows what is returned,
 * so it is a page in any case.
 */
export async function finishProviderSignIn(
  people: People,
  query: Readonly<Record<string, unknown>>,
  visitor: Visitor,
): Promise<{ signIn: SignIn; location: string }> {
  const evaluated = await evaluateReturn(people, query, visitor);
  const signIn: SignIn =
    evaluated === null
      ? { outcome: "failed", cookies: [] }
      : await finishSignIn(people, evaluated.answer, visitor, {
          method: "identity provider",
          beginning: evaluated.beginning,
        });
  if (signIn.outcome !== "signed-in" && evaluated !== null) await unlink(people, evaluated);
  const failed = `${people.config.backOfficeUrl}/sign-in?error=sign-in-failed`;
  return { signIn, location: signIn.outcome === "signed-in" ? (evaluated?.answer.location ?? "/") : failed };
}

/**
 * After a sign-in that failed. better-auth links the account before it opens a session. Otherwise it would stay linked with a person who
 * is disabled, or has another address by now (decision 0219).
 */
async function unlink({ db }: Pick<People, "db">, { linkedAccountId }: ProviderReturn): Promise<void> {
  if (linkedAccountId !== null) await deleteAccount(db, linkedAccountId);
}

/**
 * What better-auth makes of the return. Null: it is not one, or the identity provider did not respond in time. A session that
 * better-auth stores later is never finished, so it opens nothing (decision 0210), and an account that it links later is unlinked.
 */
async function evaluateReturn(
  people: People,
  query: Readonly<Record<string, unknown>>,
  visitor: Visitor,
): Promise<(ProviderReturn & { answer: AuthAnswer }) | null> {
  const parameters = parametersOf(query);
  if (parameters === null) return null;
  let isLate = false;
  const evaluated = inTime(people, async ({ api }) => {
    const found = await withReturn(() =>
      api.callbackOAuth({
        method: "GET",
        params: { id: OIDC_PROVIDER },
        query: parameters,
        headers: headersOf(visitor),
        asResponse: true,
      }),
    );
    if (isLate) await unlink(people, found);
    return found;
  });
  const returned = await evaluated.catch(() => null); // The reason is logged.
  isLate = returned === null;
  if (returned === null) return null;
  const { result, ...known } = returned;
  return { ...known, answer: await readAnswer(result) };
}

/** What identity providers add to the address. */
const PARAMETERS = ["code", "state", "error", "error_description", "iss"];
const PARAMETER_LENGTH_MAX = 4_000;

/** Null: one of them is there twice, or is not a text that can be the provider's. */
function parametersOf(query: Readonly<Record<string, unknown>>): Record<string, string> | null {
  const parameters: Record<string, string> = {};
  for (const name of PARAMETERS) {
    const value = query[name];
    if (value === undefined) continue;
    if (typeof value !== "string" || value.length > PARAMETER_LENGTH_MAX || !isStorableText(value))
      return null;
    parameters[name] = value;
  }
  return parameters;
}

/** Evaluates something with the identity provider. Without a response in time, the next sign-in begins with another better-auth. */
async function inTime<Result>(people: People, evaluate: (auth: Auth) => Promise<Result>): Promise<Result> {
  const auth = people.providerAuth();
  try {
    return await within(people.limits.providerMs, evaluate(auth));
  } catch (err) {
    people.dropProviderAuth(auth); // It perhaps waits for the provider's addresses, without a time limit.
    people.log.warn({ err }, "identity provider not available");
    throw new UnavailableError("The identity provider is not available.");
  }
}
