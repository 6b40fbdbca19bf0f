import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPerson, openBrowser, setCookies, signIn } from "../../../support/people.ts";
import {
  aSubject,
  comeBack,
  FAILED,
  type ServiceWithProvider,
  signInThere,
  startServiceWithProvider,
  visitProvider,
} from "../../../support/single-sign-on.ts";
import { startServiceForTest } from "../../../support/test-service.ts";

let service: ServiceWithProvider;
beforeAll(async () => {
  service = await startServiceWithProvider();
});
afterAll(() => service.close());

const START = "http://localhost:8081/";

describe("sign-in by the identity provider", () => {
  it("is offered by its name", async () => {
    expect((await openBrowser(service).get("/auth/methods")).body).toEqual({
      singleSignOn: { name: "Example ID" },
    });
  });

  it("signs in a person who was invited, and knows it by its subject from then on", async () => {
    const person = await createPerson(service, { grants: [{ role: "support" }] });
    service.provider.subject = aSubject(person.email);
    const browser = openBrowser(service);
    expect(await signInThere(browser, "/orders?status=NEW")).toBe("http://localhost:8081/orders?status=NEW");
    expect((await browser.get("/api/me")).body).toMatchObject({ name: person.name, role: "support" });
    service.provider.subject = { ...service.provider.subject, email: "changed@example.com" };
    const again = openBrowser(service);
    expect(await signInThere(again)).toBe(START);
    expect((await again.get("/api/me")).body.name).toBe(person.name);
    const stored = await service.db.query({
      name: "provider-accounts",
      text: "select to_jsonb(a) - 'linked_at' as account from person_provider_accounts a where person_id = $1",
      values: [person.id],
    });
    const { sub: subject } = service.provider.subject;
    expect(stored).toEqual([{ account: { person_id: person.id, issuer: service.provider.issuer, subject } }]);
  });

  it("rejects another account of the provider with the same address, which belongs to another human now", async () => {
    const person = await createPerson(service);
    const first = aSubject(person.email);
    const second = aSubject(person.email);
    service.provider.subject = first;
    expect(await signInThere(openBrowser(service))).toBe(START);
    service.provider.subject = second;
    const stranger = openBrowser(service);
    expect(await signInThere(stranger)).toBe(FAILED);
    expect((await stranger.get("/api/me")).status).toBe(401);
    const email = `new-${person.email}`;
    await service.backOffice.request("PATCH", `/api/people/${person.email}`, { body: { email } });
    const successor = await createPerson(service, { email: person.email });
    const own = openBrowser(service);
    expect(await signInThere(own)).toBe(START);
    expect((await own.get("/api/me")).body.name).toBe(successor.name);
    service.provider.subject = first;
    const again = openBrowser(service);
    expect(await signInThere(again)).toBe(START);
    expect((await again.get("/api/me")).body.name).toBe(person.name);
  });

  it("links another account after an operator has unlinked the first, whose sessions end", async () => {
    const person = await createPerson(service);
    const [first, second] = [aSubject(person.email), aSubject(person.email)];
    service.provider.subject = first;
    const before = openBrowser(service);
    await signInThere(before);
    const path = `/api/people/${person.email}`;
    expect((await service.backOffice.get(path)).body).toMatchObject({ hasSingleSignOn: true });
    const unlinked = await service.backOffice.post(`${path}/unlink-single-sign-on`);
    expect(unlinked).toMatchObject({ status: 200, body: { hasSingleSignOn: false } });
    expect((await before.get("/api/me")).status).toBe(401);
    service.provider.subject = second;
    const after = openBrowser(service);
    expect(await signInThere(after)).toBe(START);
    service.provider.subject = first;
    expect(await signInThere(openBrowser(service))).toBe(FAILED);
    const colleague = await signIn(service, await createPerson(service, { grants: [{ role: "support" }] }));
    expect((await colleague.post(`${path}/unlink-single-sign-on`)).status).toBe(403);
    expect((await after.get("/api/me")).status).toBe(200);
  });

  it("unlinks a person who is not linked without an effect", async () => {
    const person = await createPerson(service);
    const browser = await signIn(service, person);
    const answer = await service.backOffice.post(`/api/people/${person.email}/unlink-single-sign-on`);
    expect(answer.status).toBe(200);
    expect((await browser.get("/api/me")).status).toBe(200);
    const { data } = (await service.backOffice.get("/api/audit-entries?action=unlinkSingleSignOn")).body;
    expect(JSON.stringify(data)).not.toContain(person.email);
  });

  it("links one of two accounts that sign in with the same address at the same time", async () => {
    const person = await createPerson(service);
    const returns = [];
    for (const subject of [aSubject(person.email), aSubject(person.email)]) {
      service.provider.subject = subject;
      const browser = openBrowser(service);
      const target = await visitProvider(browser);
      returns.push(() => comeBack(browser, target));
    }
    const answers = await Promise.all(returns.map((send) => send()));
    const locations = answers.map(({ headers }) => String(headers["location"])).sort();
    expect(locations).toEqual([START, FAILED]);
  });

  it("rejects a person who was not invited, whose address is not verified, or who is disabled", async () => {
    const person = await createPerson(service);
    const disabled = await createPerson(service, { grants: [{ role: "support" }] });
    await service.backOffice.post(`/api/people/${disabled.email}/disable`);
    for (const subject of [
      aSubject("stranger@example.com"),
      aSubject(person.email, false),
      aSubject(disabled.email),
    ]) {
      service.provider.subject = subject;
      const browser = openBrowser(service);
      expect(await signInThere(browser), subject.email).toBe(FAILED);
      expect((await browser.get("/api/me")).status).toBe(401);
    }
    const { body } = await service.backOffice.get(`/api/people/${disabled.email}`);
    expect(body, "not linked until it is enabled again").toMatchObject({ hasSingleSignOn: false });
    const people = await service.db.query({
      name: "strangers",
      text: "select id from people where email = 'stranger@example.com'",
      values: [],
    });
    expect(people).toEqual([]);
  });

  it("needs the state of the same browser, and each code is good once", async () => {
    const person = await createPerson(service);
    service.provider.subject = aSubject(person.email);
    const browser = openBrowser(service);
    const target = await visitProvider(browser);
    const victim = openBrowser(service);
    await comeBack(victim, target);
    expect((await victim.get("/api/me")).status).toBe(401);
    await browser.raw("/auth/callback/oidc?error=access_denied&state=x");
    expect((await browser.get("/api/me")).status).toBe(401);
  });

  it.each(["https://evil.example", "//evil.example", "/\\evil.example", "orders"])(
    "does not return to %s",
    async (returnTo) => {
      const answer = await openBrowser(service).post("/auth/sign-in/single-sign-on", { returnTo });
      expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: "/returnTo" }] } });
    },
  );

  // In the cookie a quote takes more characters than a letter.
  it.each([
    { name: "the page of 1,000 letters", returnTo: `/${"x".repeat(999)}`, page: `/${"x".repeat(999)}` },
    { name: "the page of 999 quotes", returnTo: `/${'"'.repeat(999)}`, page: `/${'"'.repeat(999)}` },
    { name: "the page of 998 backslashes", returnTo: `/x${"\\".repeat(998)}`, page: `/x${"\\".repeat(998)}` },
  ])("opens $name, and no cookie is larger than browsers keep", async ({ returnTo, page }) => {
    const person = await createPerson(service);
    service.provider.subject = aSubject(person.email);
    const browser = openBrowser(service);
    const begun = await browser.post("/auth/sign-in/single-sign-on", { returnTo });
    expect(begun.status).toBe(200);
    for (const cookie of setCookies(begun))
      expect(cookie.split(";")[0]?.length, "name and value").toBeLessThanOrEqual(4_096);
    expect(await signInThere(browser, returnTo)).toBe(`http://localhost:8081${page}`);
  });

  it("rejects an ID token that another key has signed", async () => {
    const person = await createPerson(service);
    service.provider.subject = aSubject(person.email);
    service.provider.forge();
    const browser = openBrowser(service);
    expect(await signInThere(browser)).toBe(FAILED);
    expect((await browser.get("/api/me")).status).toBe(401);
  });

  it("is missing if no provider is configured, and unavailable if it does not respond", async () => {
    const without = await startServiceForTest();
    const browser = openBrowser(without);
    expect((await browser.get("/auth/methods")).body).toEqual({ singleSignOn: null });
    expect((await browser.post("/auth/sign-in/single-sign-on", {})).status).toBe(404);
    const broken = await startServiceForTest({
      config: { oidcIssuer: "http://127.0.0.1:9", oidcClientId: "c", oidcClientSecret: "s" },
    });
    expect((await openBrowser(broken).post("/auth/sign-in/single-sign-on", {})).status).toBe(503);
  });
});
