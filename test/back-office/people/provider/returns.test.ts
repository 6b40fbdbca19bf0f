import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openPeople, type Visitor } from "../../../../src/people/person.ts";
import { finishProviderSignIn, startProviderSignIn } from "../../../../src/people/provider.ts";
import { UnavailableError } from "../../../../src/platform/database/database.ts";
import { type Browser, createPerson, openBrowser } from "../../../support/people.ts";
import {
  aSubject,
  comeBack,
  FAILED,
  type ServiceWithProvider,
  startServiceWithProvider,
  visitProvider,
} from "../../../support/single-sign-on.ts";

let service: ServiceWithProvider;
beforeAll(async () => {
  service = await startServiceWithProvider();
});
afterAll(() => service.close());
beforeEach(() => {
  service.provider.claims = {};
});

/** A visitor with the cookies of a browser. */
const visitorOf = ({ cookies }: Browser): Visitor => ({
  cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
  userAgent: "",
  ipAddress: "192.0.2.1",
  network: "192.0.2.1",
  origin: "",
  requestId: "test",
  expectedPersonId: null,
});

/** A browser that comes back from the provider, where a person of a new subject has signed in. */
async function aReturn(email: string): Promise<{ browser: Browser; target: URL }> {
  service.provider.subject = aSubject(email);
  const browser = openBrowser(service);
  return { browser, target: await visitProvider(browser) };
}

describe("an identity provider that does not respond", () => {
  it("to the first request for its addresses is asked again by the next sign-in", async () => {
    const people = openPeople(service.context, 100);
    const held = service.provider.hold("/.well-known/openid-configuration");
    await expect(startProviderSignIn(people, "/")).rejects.toThrow(UnavailableError);
    held.end();
    const { url } = await startProviderSignIn({ ...people, providerMs: 10_000 }, "/");
    expect(url).toContain(`${service.provider.issuer}/authorize`);
    held.release();
  });

  it("to the return sends the browser to the sign-in page, and neither signs in nor links", async () => {
    const person = await createPerson(service);
    const { browser, target } = await aReturn(person.email);
    const held = service.provider.hold("/token");
    const people = openPeople(service.context, 500);
    const query = Object.fromEntries(target.searchParams);
    expect(await finishProviderSignIn(people, query, visitorOf(browser))).toEqual({
      cookie: null,
      location: FAILED,
    });
    held.release();
    const { body } = await service.backOffice.get(`/api/people/${person.email}`);
    expect(body).toMatchObject({ state: "invited", lastSignedInAt: null, hasSingleSignOn: false });
    expect((await service.backOffice.get(`/api/people/${person.email}/sessions`)).body.data).toEqual([]);
  });
});

describe("a return from the identity provider", () => {
  it.each([
    ["a parameter that is there twice", "state=a&state=b&code=c"],
    ["a code that is too long", `state=a&code=${"c".repeat(4_001)}`],
    ["a text that cannot be stored", "state=%00&code=c"],
    ["nothing", ""],
  ])("with %s goes to the sign-in page", async (_what, query) => {
    const answer = await openBrowser(service).raw(`/auth/callback/oidc?${query}`);
    expect([answer.statusCode, answer.headers["location"]]).toEqual([302, FAILED]);
  });

  const seconds = (ahead: number) => Math.floor(Date.now() / 1_000) + ahead;
  it.each([
    ["without an ID token", null],
    ["with one that was issued to another client", { azp: "another client" }],
    ["with one for several clients that does not say to whom it was issued", { aud: ["console", "another"] }],
    ["with one that was issued in the future", { iat: seconds(3_600), exp: seconds(7_200) }],
    ["with one that does not say when it was issued", { iat: undefined }],
  ])("%s signs no person in", async (_what, claims) => {
    const person = await createPerson(service);
    const { browser, target } = await aReturn(person.email);
    service.provider.claims = claims;
    const answer = await comeBack(browser, target);
    expect([answer.statusCode, answer.headers["location"]]).toEqual([302, FAILED]);
    expect((await browser.get("/api/me")).status).toBe(401);
  });

  it.each([
    ["names this client", { azp: "console" }],
    ["is for several clients and was issued to this one", { aud: ["console", "another"], azp: "console" }],
    ["is of a clock a few seconds ahead", { iat: seconds(10) }],
  ])("with an ID token that %s signs in", async (_what, claims) => {
    const person = await createPerson(service);
    const { browser, target } = await aReturn(person.email);
    service.provider.claims = claims;
    await comeBack(browser, target);
    expect((await browser.get("/api/me")).body).toMatchObject({ name: person.name });
  });
});
