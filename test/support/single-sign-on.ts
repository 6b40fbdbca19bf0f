import { type IdentityProvider, type Subject, startIdentityProvider } from "./identity-provider.ts";
import type { Browser } from "./people.ts";
import { startTestService, type TestService } from "./test-service.ts";

/** Where a browser is sent whose sign-in has failed. */
export const FAILED = "http://localhost:8081/sign-in?error=sign-in-failed";

export type ServiceWithProvider = TestService & { readonly provider: IdentityProvider };

/** A service whose people can sign in by an identity provider. Both are closed together. */
export async function startServiceWithProvider(): Promise<ServiceWithProvider> {
  const provider = await startIdentityProvider();
  const service = await startTestService({ config: provider.config });
  return {
    ...service,
    provider,
    close: async () => {
      await service.close();
      await provider.close();
    },
  };
}

let counter = 0;

/** An account of the provider that no person has signed in with. */
export const aSubject = (email: string, isVerified = true): Subject => {
  counter += 1;
  return { sub: `subject-${counter}`, email, email_verified: isVerified };
};

/** A visit to the provider by whom it signs in now: the address with which the browser comes back. */
export async function visitProvider(browser: Browser, returnTo?: string): Promise<URL> {
  const body = { ...(returnTo !== undefined && { returnTo }) };
  const { url } = (await browser.post("/auth/sign-in/single-sign-on", body)).body;
  const { headers } = await fetch(url, { redirect: "manual" });
  return new URL(headers.get("location") ?? "");
}

/** What the service responds to a browser that comes back. */
export const comeBack = (browser: Browser, { pathname, search }: URL): ReturnType<Browser["raw"]> =>
  browser.raw(`${pathname}${search}`);

/** Signs in by the provider. Returns the address to which the browser is sent in the end. */
export async function signInThere(browser: Browser, page?: string): Promise<string> {
  const answer = await comeBack(browser, await visitProvider(browser, page));
  return String(answer.headers["location"]);
}
