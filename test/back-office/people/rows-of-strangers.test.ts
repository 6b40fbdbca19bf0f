import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bucketsOf } from "../../../src/people/limit-attempts.ts";
import { countRows } from "../../support/builders.ts";
import { newDevice, usedPasskey } from "../../support/made-passkey.ts";
import { type Browser, createPerson, openBrowser, signIn } from "../../support/people.ts";
import { addPasskey } from "../../support/person-with-all-ways.ts";
import { type ServiceWithProvider, startServiceWithProvider } from "../../support/single-sign-on.ts";
import { dumpTables } from "../../support/tables.ts";

let service: ServiceWithProvider;
beforeAll(async () => {
  service = await startServiceWithProvider();
});
afterAll(() => service.close());

const challengeFor = async (browser: Browser): Promise<string> =>
  (await browser.post("/auth/sign-in/passkey-options")).body.options.challenge;

const signInWith = (browser: Browser, response: object) =>
  browser.post("/auth/sign-in/passkey", { response });

const aPasskey = async () => addPasskey(await signIn(service, await createPerson(service)));

describe("a stranger stores nothing", () => {
  it("with requests for a passkey, nor with one that is not known", async () => {
    const before = await dumpTables(service);
    const browser = openBrowser(service);
    const challenge = await challengeFor(browser);
    const response = usedPasskey({ challenge, device: newDevice() });
    expect((await signInWith(browser, response)).status).toBe(401);
    expect(await dumpTables(service)).toEqual(before);
  });

  it("with a passkey that is known, and without the cookie of its challenge", async () => {
    const device = await aPasskey();
    const before = await dumpTables(service);
    const browser = openBrowser(service);
    const response = usedPasskey({ challenge: await challengeFor(browser), device });
    browser.cookies.clear();
    expect((await signInWith(browser, response)).status).toBe(401);
    expect(await dumpTables(service)).toEqual(before);
  });

  it("with visits to the identity provider", async () => {
    const before = await dumpTables(service);
    const browser = openBrowser(service);
    const returnTo = `/${"a".repeat(999)}`;
    expect((await browser.post("/auth/sign-in/single-sign-on", { returnTo })).status).toBe(200);
    expect(await dumpTables(service)).toEqual(before);
    // Browsers drop larger cookies.
    for (const cookie of browser.cookies) expect(cookie.join("=").length).toBeLessThan(4_096);
  });

  it("with passwords for other and other addresses, beyond the attempts of its network", async () => {
    const attempt = {
      purpose: "password",
      network: "192.0.2.77",
      account: "a@example.com",
    } as const;
    const [network] = bucketsOf(attempt);
    await service.db.query({
      name: "use-up-network",
      text: "insert into person_attempts (bucket, count, window_start) values ($1, $2, $3)",
      values: [network?.bucket, network?.max, service.clock.now()],
    });
    const before = await countRows(service, "person_attempts");
    const browser = openBrowser(service, "192.0.2.77");
    for (const email of ["one@example.com", "another@example.com"]) {
      const body = { email, password: "a wrong password" };
      expect((await browser.post("/auth/sign-in/password", body)).status).toBe(429);
    }
    expect(await countRows(service, "person_attempts")).toBe(before);
  });
});

describe("a challenge that the browser keeps", () => {
  it("is good for one sign-in, also at once", async () => {
    const device = await aPasskey();
    const browser = openBrowser(service);
    const response = usedPasskey({ challenge: await challengeFor(browser), device });
    const copies = Array.from({ length: 4 }, () => {
      const copy = openBrowser(service);
      for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
      return copy;
    });
    const answers = await Promise.all(copies.map((copy) => signInWith(copy, response)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    expect((await signInWith(browser, response)).status).toBe(401);
    const statuses = await Promise.all(copies.map(async (copy) => (await copy.get("/api/me")).status));
    expect(statuses.sort()).toEqual([200, 401, 401, 401]);
  });

  it("is rejected in a cookie that was changed or made for something else, and without its cookie", async () => {
    const device = await aPasskey();
    const browser = openBrowser(service);
    const response = usedPasskey({ challenge: await challengeFor(browser), device });
    const name = "partner-orders.passkey_challenge";
    const kept = browser.cookies.get(name) ?? "";
    // What the browser keeps for a new passkey is not good for a sign-in.
    const own = await signIn(service, await createPerson(service));
    await own.post("/auth/passkeys/options");
    for (const forged of [
      kept.slice(0, -1),
      `${kept.slice(0, -8)}AAAAAAAA`,
      own.cookies.get(name) ?? "",
      ".",
    ]) {
      browser.cookies.set(name, forged);
      expect((await signInWith(browser, response)).status, forged).toBe(401);
    }
    browser.cookies.delete(name);
    expect((await signInWith(browser, response)).status).toBe(401);
  });

  it("ends after five minutes", async () => {
    const device = await aPasskey();
    const statusAfter = async (seconds: number) => {
      const browser = openBrowser(service);
      const response = usedPasskey({ challenge: await challengeFor(browser), device });
      service.clock.advance({ seconds });
      return (await signInWith(browser, response)).status;
    };
    expect(await statusAfter(299)).toBe(200);
    expect(await statusAfter(300)).toBe(401);
  });

  it("leaves no row when the person has signed in, but the one that it was used", async () => {
    const device = await aPasskey();
    const browser = openBrowser(service);
    const before = await countRows(service, "person_used_challenges");
    const response = usedPasskey({ challenge: await challengeFor(browser), device });
    expect((await signInWith(browser, response)).status).toBe(200);
    expect(await countRows(service, "person_used_challenges")).toBe(before + 1);
  });
});
