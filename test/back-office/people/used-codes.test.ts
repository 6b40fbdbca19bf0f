import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { purgePeopleRecords } from "../../../src/people/purge-people-records.ts";
import { before, MINUTE_MS } from "../../../src/platform/time.ts";
import { countRows } from "../../support/builders.ts";
import { passCodes, totp } from "../../support/one-time-codes.ts";
import { type Browser, createPersonWithPassword, openBrowser, PASSWORD } from "../../support/people.ts";
import { dumpTables } from "../../support/tables.ts";
import { startServiceForTest, startTestService, type TestService } from "../../support/test-service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const enterPassword = async (email: string): Promise<Browser> => {
  const browser = openBrowser(service);
  const { body } = await browser.post("/auth/sign-in/password", { email, password: PASSWORD });
  expect(body).toEqual({ status: "code-required" });
  return browser;
};
const signIn = async (browser: Browser, code: string) =>
  (await browser.post("/auth/sign-in/code", { code })).status;

async function withSecondFactor() {
  const { person, browser } = await createPersonWithPassword(service);
  const { uri } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
  const code = totp(service, uri);
  expect((await browser.post("/auth/second-factor/verify", { code })).status).toBe(204);
  return { person, browser, uri, code };
}

describe("a one-time code", () => {
  it("that has set up the codes signs in nowhere, and confirms nothing", async () => {
    const { person, browser, code } = await withSecondFactor();
    expect(await signIn(await enterPassword(person.email), code)).toBe(401);
    expect((await browser.post("/auth/confirm", { code })).status).toBe(401);
  });

  it("signs in once, and neither it nor an earlier one confirms afterwards", async () => {
    const { person, uri } = await withSecondFactor();
    await passCodes(service);
    const [earlier, code] = [totp(service, uri), totp(service, uri, 1)];
    const [here, there] = [await enterPassword(person.email), await enterPassword(person.email)];
    expect(await signIn(here, code)).toBe(200);
    expect(await signIn(there, code)).toBe(401);
    for (const used of [code, earlier])
      expect((await here.post("/auth/confirm", { code: used })).status).toBe(401);
    await passCodes(service);
    expect(await signIn(there, totp(service, uri))).toBe(200);
  });

  it("confirms once", async () => {
    const { person, browser, uri } = await withSecondFactor();
    await passCodes(service);
    const code = totp(service, uri);
    expect((await browser.post("/auth/confirm", { code })).status).toBe(204);
    expect((await browser.post("/auth/confirm", { code })).status).toBe(401);
    expect(await signIn(await enterPassword(person.email), code)).toBe(401);
  });

  it("signs in one of several browsers that send it at the same time", async () => {
    const { person, uri } = await withSecondFactor();
    await passCodes(service);
    const browsers = [];
    for (let count = 0; count < 5; count += 1) browsers.push(await enterPassword(person.email));
    const code = totp(service, uri);
    const statuses = await Promise.all(browsers.map((browser) => signIn(browser, code)));
    expect(statuses.sort()).toEqual([200, 401, 401, 401, 401]);
  });

  it("of the step before or after is accepted, since clocks differ, and no other", async () => {
    const { person, uri } = await withSecondFactor();
    for (const [steps, status] of [
      [-2, 401],
      [2, 401],
      [-1, 200],
      [1, 200],
    ] as const) {
      await passCodes(service);
      expect(await signIn(await enterPassword(person.email), totp(service, uri, steps))).toBe(status);
    }
  });
});

describe("a backup code", () => {
  it("is stored as its hash alone, and accepted once, however it is written", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    const { uri, backupCodes } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
    await browser.post("/auth/second-factor/verify", { code: totp(service, uri) });
    const stored = JSON.stringify(await dumpTables(service));
    for (const code of backupCodes) expect(stored).not.toContain(code.replaceAll("-", ""));
    const [code = ""] = backupCodes;
    const written = code.toUpperCase().replaceAll("-", " ");
    const enter = async (sent: string) =>
      (
        await (
          await enterPassword(person.email)
        ).post("/auth/sign-in/code", { code: sent, isBackupCode: true })
      ).status;
    expect(await enter(written)).toBe(200);
    expect(await enter(code)).toBe(401);
  });
});

describe("what proofs have left", () => {
  it("is deleted by the job an hour after its end, and not while a person signs in", async () => {
    const test = await startServiceForTest();
    const own = await createPersonWithPassword(test);
    const { uri } = (await own.browser.post("/auth/second-factor", { password: PASSWORD })).body;
    await own.browser.post("/auth/second-factor/verify", { code: totp(test, uri) });
    await passCodes(test);
    await test.db.query({
      name: "test-ended-proof",
      text: "insert into person_used_challenges values (sha256('used'), $1)",
      values: [before(test.clock.now(), MINUTE_MS)],
    });
    const browser = openBrowser(test);
    await browser.post("/auth/sign-in/password", { email: own.person.email, password: PASSWORD });
    expect(await signIn(browser, totp(test, uri))).toBe(200);
    const left = () => countRows(test, "person_used_challenges");
    test.clock.advance({ minutes: 58 });
    await purgePeopleRecords(test.context);
    expect(await left()).toBe(1);
    test.clock.advance({ minutes: 1 });
    expect(await purgePeopleRecords(test.context)).toBeGreaterThan(0);
    expect(await left()).toBe(0);
  });
});

describe("setting up one-time codes", () => {
  it("neither prolongs the session nor the recent authentication", async () => {
    const { browser } = await createPersonWithPassword(service);
    const times = async () => {
      const { recentUntil } = (await browser.get("/auth/account")).body.session;
      const [{ signedInAt }, ...others] = (await browser.get("/api/me/sessions")).body.data;
      return { recentUntil, signedInAt, others };
    };
    const before = await times();
    service.clock.advance({ minutes: 10 });
    const { uri } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
    expect((await browser.post("/auth/second-factor/verify", { code: totp(service, uri) })).status).toBe(204);
    expect(await times()).toEqual({ ...before, others: [] });
  });
});
