import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bucketOfLink, bucketsOf, NETWORK_MAX } from "../../../src/people/limit-attempts.ts";
import { hashLinkToken } from "../../../src/people/links.ts";
import type { Person } from "../../../src/people/person.ts";
import { toTypeId } from "../../../src/platform/ids.ts";
import { passCodes, totp } from "../../support/one-time-codes.ts";
import {
  type Browser,
  createPerson,
  createPersonWithPassword,
  linkToken,
  openBrowser,
  PASSWORD,
  signIn,
} from "../../support/people.ts";
import { type Answer, startTestService, type TestService } from "../../support/test-service.ts";

/** Where browsers of tests are, if they do not say it. */
const ADDRESS = "192.0.2.1";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const stranger = { purpose: "password", network: "192.0.2.99", device: null } as const;
const wrong = (email: string) => ({ email, password: "a wrong password" });

/** As many attempts as each of these permits. */
const useUp = (buckets: readonly { readonly bucket: string; readonly max: number }[]) =>
  service.db.query({
    name: "use-up-attempts",
    text: `
      insert into person_attempts (bucket, count, window_start)
      select b.bucket, b.max, $1 from unnest($2::text[], $3::integer[]) as b (bucket, max)
      on conflict (bucket) do update set count = excluded.count, window_start = excluded.window_start`,
    values: [service.clock.now(), buckets.map(({ bucket }) => bucket), buckets.map(({ max }) => max)],
  });

describe("attempts to sign in", () => {
  it("are limited for one address at one account, also at once, and start again after 15 minutes", async () => {
    const { person } = await createPersonWithPassword(service);
    const browser = openBrowser(service, "192.0.2.50");
    const send = () => browser.post("/auth/sign-in/password", wrong(person.email));
    const answers = await Promise.all(Array.from({ length: 12 }, send));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(401), 429, 429]);
    const right = { email: person.email, password: PASSWORD };
    const rejected = await browser.post("/auth/sign-in/password", right);
    expect(rejected).toMatchObject({ status: 429, headers: { "retry-after": "900" } });
    const other = openBrowser(service, "192.0.2.51");
    expect((await other.post("/auth/sign-in/password", right)).status).toBe(200);
    service.clock.advance({ minutes: 15 });
    expect((await browser.post("/auth/sign-in/password", right)).status).toBe(200);
  });

  it("of strangers leave the person its own browser", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    await useUp(bucketsOf({ ...stranger, account: person.email }));
    const right = { email: person.email, password: PASSWORD };
    expect((await openBrowser(service, "192.0.2.60").post("/auth/sign-in/password", right)).status).toBe(429);
    expect((await browser.post("/auth/sign-in/password", right)).status).toBe(200);
    const forged = openBrowser(service, "192.0.2.61");
    forged.cookies.set("partner-orders.device", `abc.${person.id}.1.${"A".repeat(43)}`);
    expect((await forged.post("/auth/sign-in/password", right)).status).toBe(429);
  });

  it("of strangers at the same address leave the person its own browser, links and passkeys", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    const { uri } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
    expect((await browser.post("/auth/second-factor/verify", { code: totp(uri) })).status).toBe(204);
    await passCodes(service);
    const link = await linkToken(service, person, "sign-in");
    for (const purpose of ["password", "reset"] as const)
      await useUp(bucketsOf({ ...stranger, purpose, network: ADDRESS, account: person.email }));
    const other = openBrowser(service, ADDRESS);
    const right = { email: person.email, password: PASSWORD };
    expect((await other.post("/auth/sign-in/password", right)).status).toBe(429);
    expect((await other.post("/auth/reset", { email: person.email })).status).toBe(429);

    expect((await browser.post("/auth/confirm", { password: PASSWORD })).status).toBe(204);
    expect((await browser.post("/auth/reset", { email: person.email })).status).toBe(202);
    await browser.post("/auth/sign-out");
    const answer = await browser.post("/auth/sign-in/password", right);
    expect(answer).toMatchObject({ status: 200, body: { status: "code-required" } });
    expect((await browser.post("/auth/sign-in/code", { code: totp(uri) })).status).toBe(200);
    const passkey = { response: { id: "unknown", type: "public-key" } };
    expect((await other.post("/auth/sign-in/passkey", passkey)).status).toBe(401);
    expect((await other.post("/auth/sign-in/link", { token: link })).status).toBe(200);
  });

  it("with links that are not valid use up nothing", async () => {
    const { person } = await createPersonWithPassword(service);
    const link = await linkToken(service, person, "sign-in");
    const reset = await linkToken(service, person, "reset");
    const visitor = openBrowser(service, ADDRESS);
    const wrong = `pol_${"A".repeat(43)}`;
    for (let count = 0; count <= NETWORK_MAX; count += 1) {
      expect((await visitor.post("/auth/sign-in/link", { token: wrong })).status).toBe(401);
      const answer = await visitor.post("/auth/reset/password", { token: wrong, password: PASSWORD });
      expect(answer.status).toBe(401);
    }
    expect((await visitor.post("/auth/sign-in/link", { token: link })).status).toBe(200);
    const password = "a completely new password";
    expect((await visitor.post("/auth/reset/password", { token: reset, password })).status).toBe(204);
    const right = { email: person.email, password };
    expect((await visitor.post("/auth/sign-in/password", right)).status).toBe(200);
  });

  it("are counted for a known browser alone, and for all known browsers of an account together", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    const second = await signIn(service, person);
    const send = (from: Browser) => from.post("/auth/sign-in/password", wrong(person.email));
    for (let count = 0; count < 10; count += 1) expect((await send(browser)).status).toBe(401);
    expect((await send(browser)).status).toBe(429);
    expect((await send(second)).status).toBe(401);
    await useUp(bucketsOf({ ...stranger, account: person.email, device: "another one" }));
    expect((await send(second)).status).toBe(429);
  });

  describe("of browsers that were known before all sign-ins of the person were ended", () => {
    const NEW_PASSWORD = "another horse, another battery";
    const reset = async (person: Person, browser: Browser) => {
      const token = await linkToken(service, person, "reset");
      return browser.post("/auth/reset/password", { token, password: NEW_PASSWORD });
    };
    it.each<[name: string, end: (person: Person, browser: Browser) => Promise<Answer>]>([
      ["by a new password", (_, browser) => browser.post("/auth/password", { password: NEW_PASSWORD })],
      ["by a reset", reset],
      ["by the person, who signs out everywhere else", (_, own) => own.post("/api/me/sessions/end-others")],
      [
        "by a removed second factor",
        (_, browser) => browser.post("/auth/second-factor/remove", { password: PASSWORD }),
      ],
    ])("%s are those of strangers, and the browser that did it stays known", async (_name, end) => {
      const { person, browser } = await createPersonWithPassword(service);
      const thief = await signIn(service, person);
      expect((await end(person, browser)).status).toBe(204);
      await useUp(bucketsOf({ ...stranger, network: ADDRESS, account: person.email }));
      const send = (from: Browser) => from.post("/auth/sign-in/password", wrong(person.email));
      expect((await send(thief)).status).toBe(429);
      await browser.post("/auth/sign-out");
      expect((await send(browser)).status).toBe(401);
      service.clock.advance({ minutes: 15 });
    });

    it("by the operator are those of strangers, until the person signs in again", async () => {
      const { person, browser } = await createPersonWithPassword(service);
      await service.backOffice.post(`/api/people/${person.email}/end-sessions`);
      await useUp(bucketsOf({ ...stranger, network: ADDRESS, account: person.email }));
      const send = () => browser.post("/auth/sign-in/password", wrong(person.email));
      expect((await send()).status).toBe(429);
      await signIn(service, person, browser);
      expect((await send()).status).toBe(401);
      service.clock.advance({ minutes: 15 });
    });
  });

  it("are counted for its session if the person has changed its mail address since the browser became known", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    const email = `renamed-${person.email}`;
    const path = `/api/people/${toTypeId("per", person.id)}`;
    expect((await browser.request("PATCH", path, { email })).status).toBe(200);
    await useUp(bucketsOf({ ...stranger, network: ADDRESS, account: email }));
    for (let count = 0; count < 10; count += 1)
      expect((await browser.post("/auth/confirm", { password: "a wrong password" })).status).toBe(401);
    expect((await browser.post("/auth/confirm", { password: PASSWORD })).status).toBe(429);
    service.clock.advance({ minutes: 15 });
    expect((await browser.post("/auth/confirm", { password: PASSWORD })).status).toBe(204);
  });

  it("with a valid link are ten, each of which costs a hash of a password", async () => {
    const token = await linkToken(service, await createPerson(service), "reset");
    const send = () => openBrowser(service).post("/auth/reset/password", { token, password: PASSWORD });
    await useUp([bucketOfLink(hashLinkToken(token))]);
    expect(await send()).toMatchObject({ status: 429, headers: { "retry-after": "900" } });
    service.clock.advance({ minutes: 15 });
    expect((await send()).status).toBe(204);
  });

  it("leave entries in the audit log, but not without end", async () => {
    const { person } = await createPersonWithPassword(service);
    const browser = openBrowser(service, "192.0.2.70");
    for (let count = 0; count < 8; count += 1)
      await browser.post("/auth/sign-in/password", wrong(person.email));
    const entries = async () =>
      (await service.backOffice.get(`/api/audit-entries?actor=${encodeURIComponent(person.name)}&limit=100`))
        .body.data;
    await expect
      .poll(
        async () =>
          (await entries()).filter(({ action }: { action: string }) => action === "signInFailed").length,
      )
      .toBe(5);
    const [newest] = await entries();
    expect(JSON.stringify(newest)).not.toContain("a wrong password");
  });
});
