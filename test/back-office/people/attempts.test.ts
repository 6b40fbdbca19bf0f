import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashToken } from "../../../src/people/cookies.ts";
import { bucketsOf, NETWORK_MAX, passwordsOfLink } from "../../../src/people/limit-attempts.ts";
import { usedPasskey } from "../../support/made-passkey.ts";
import {
  createPerson,
  createPersonWithPassword,
  linkToken,
  openBrowser,
  PASSWORD,
} from "../../support/people.ts";
import { addPasskey } from "../../support/person-with-all-ways.ts";
import { startTestService, type TestService } from "../../support/test-service.ts";

/** Where browsers of tests are, if they do not say it. */
const ADDRESS = "192.0.2.1";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const stranger = { purpose: "password", network: "192.0.2.99" } as const;
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

  it("of one address are limited at all accounts together", async () => {
    const { person } = await createPersonWithPassword(service);
    const [ofNetwork] = bucketsOf({ ...stranger, account: "any@example.com" });
    await useUp([ofNetwork]);
    const right = { email: person.email, password: PASSWORD };
    const there = openBrowser(service, stranger.network);
    expect((await there.post("/auth/sign-in/password", right)).status).toBe(429);
    expect((await openBrowser(service, "192.0.2.98").post("/auth/sign-in/password", right)).status).toBe(200);
  });

  it("at one account are limited from all addresses together, and leave the person its links and passkeys", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    const device = await addPasskey(browser);
    const link = await linkToken(service, person, "sign-in");
    await useUp(bucketsOf({ ...stranger, account: person.email }));
    const right = { email: person.email, password: PASSWORD };
    const other = openBrowser(service, "192.0.2.60");
    expect((await other.post("/auth/sign-in/password", right)).status).toBe(429);
    expect((await browser.post("/auth/confirm", { password: PASSWORD })).status).toBe(204);
    const { challenge } = (await other.post("/auth/sign-in/passkey-options")).body.options;
    const response = usedPasskey({ challenge, device });
    expect((await other.post("/auth/sign-in/passkey", { response })).status).toBe(200);
    expect((await other.post("/auth/sign-in/link", { token: link })).status).toBe(200);
  });

  it("of strangers do not keep a person from a password that it has set with a link by mail", async () => {
    const { person } = await createPersonWithPassword(service);
    const token = await linkToken(service, person, "reset");
    await useUp(bucketsOf({ ...stranger, account: person.email }));
    const browser = openBrowser(service, ADDRESS);
    const password = "another horse, another battery";
    const right = { email: person.email, password };
    expect((await browser.post("/auth/sign-in/password", right)).status).toBe(429);
    expect((await browser.post("/auth/reset/password", { token, password })).status).toBe(204);
    expect((await browser.post("/auth/sign-in/password", right)).status).toBe(200);
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

  it("with a valid link are ten, each of which costs a hash of a password", async () => {
    const token = await linkToken(service, await createPerson(service), "reset");
    const send = () => openBrowser(service).post("/auth/reset/password", { token, password: PASSWORD });
    await useUp([passwordsOfLink(hashToken(token))]);
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
