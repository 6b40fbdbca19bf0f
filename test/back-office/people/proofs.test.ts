import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { passCodes, totp } from "../../support/one-time-codes.ts";
import {
  type Browser,
  createPersonWithPassword,
  openBrowser,
  PASSWORD,
  signIn,
} from "../../support/people.ts";
import { startTestService, type TestService } from "../../support/test-service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());
/** All tests come from a few addresses, whose attempts count from the beginning. */
beforeEach(() => service.clock.advance({ minutes: 15 }));

describe("passwords and codes that are tried with a session", () => {
  const WRONG = { password: "a wrong password" };
  const WRONG_CODE = { code: "000000" };
  /** The statuses of the same request that is sent several times. */
  async function send(browser: Browser, path: string, body: object, times: number): Promise<number[]> {
    const statuses = [];
    for (let sent = 0; sent < times; sent += 1) statuses.push((await browser.post(path, body)).status);
    return statuses;
  }
  async function withSecondFactor() {
    const { person, browser } = await createPersonWithPassword(service);
    const { uri } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
    expect((await browser.post("/auth/second-factor/verify", { code: totp(service, uri) })).status).toBe(204);
    return { person, browser, uri };
  }

  it.each([
    "/auth/confirm",
    "/auth/second-factor",
    "/auth/second-factor/backup-codes",
    "/auth/second-factor/remove",
  ])("are counted at %s: ten of a session", async (path) => {
    const { person, browser } = await createPersonWithPassword(service);
    if (path !== "/auth/confirm" && path !== "/auth/second-factor") {
      const { uri } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
      await browser.post("/auth/second-factor/verify", { code: totp(service, uri) });
    }
    expect(await send(browser, path, WRONG, 10)).toEqual(Array(10).fill(401));
    const right = await browser.post(path, { password: PASSWORD });
    expect(right).toMatchObject({ status: 429, body: { code: "rate-limited" } });
    expect(right.headers["retry-after"]).toBe("900");
    const signIn = { email: person.email, password: PASSWORD };
    expect((await browser.post("/auth/sign-in/password", signIn)).status, "the sign-in counts apart").toBe(
      200,
    );
  });

  it("count from the beginning after a right one", async () => {
    const { browser } = await createPersonWithPassword(service);
    const path = "/auth/second-factor";
    await send(browser, path, WRONG, 9);
    expect((await browser.post(path, { password: PASSWORD })).status).toBe(200);
    expect(await send(browser, path, WRONG, 2)).toEqual([401, 401]);
  });

  it("are not even compared for a person without a second factor, who has no backup codes to renew", async () => {
    const { browser } = await createPersonWithPassword(service);
    const statuses = await send(browser, "/auth/second-factor/backup-codes", { password: PASSWORD }, 11);
    expect(statuses).toEqual(Array(11).fill(401));
  });

  it.each(["/auth/confirm", "/auth/second-factor/verify"])(
    "stop codes for 15 minutes after ten wrong ones at %s, at the sign-in too",
    async (path) => {
      const { person, browser, uri } = await withSecondFactor();
      expect(await send(browser, path, WRONG_CODE, 11)).toEqual([...Array(10).fill(401), 429]);
      const other = openBrowser(service, "192.0.2.80");
      const signIn = { email: person.email, password: PASSWORD };
      await passCodes(service);
      expect((await other.post("/auth/sign-in/password", signIn)).body.status).toBe("code-required");
      const enter = async () => (await other.post("/auth/sign-in/code", { code: totp(service, uri) })).status;
      expect(await enter()).toBe(429);
      service.clock.advance({ minutes: 15 });
      await other.post("/auth/sign-in/password", signIn);
      expect(await enter()).toBe(200);
    },
  );

  it("stop codes of all sessions of the person after ten wrong ones in a row, also at once", async () => {
    const { person, browser, uri } = await withSecondFactor();
    const others = [await signIn(service, person), await signIn(service, person)];
    const statuses = await Promise.all(
      [browser, ...others].map((each) => send(each, "/auth/confirm", WRONG_CODE, 5)),
    );
    expect(statuses.flat().sort()).toEqual([...Array(10).fill(401), ...Array(5).fill(429)]);
    await passCodes(service);
    expect((await browser.post("/auth/confirm", { code: totp(service, uri) })).status).toBe(429);
    service.clock.advance({ minutes: 15 });
    expect(await send(browser, "/auth/confirm", WRONG_CODE, 9)).toEqual(Array(9).fill(401));
    expect((await browser.post("/auth/confirm", { code: totp(service, uri) })).status).toBe(204);
    expect(await send(browser, "/auth/confirm", WRONG_CODE, 10), "they count from the beginning").toEqual(
      Array(10).fill(401),
    );
  });

  it("leave entries about wrong passwords in the audit log", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    await send(browser, "/auth/confirm", WRONG, 3);
    await send(browser, "/auth/second-factor", WRONG, 3);
    const { data } = (
      await service.backOffice.get(
        `/api/audit-entries?actor=${encodeURIComponent(person.name)}&action=confirmFailed`,
      )
    ).body;
    expect(data).toHaveLength(5);
    expect(data[0].details).toMatchObject({ method: "password", ipAddress: "192.0.2.1" });
    expect(JSON.stringify(data)).not.toContain(WRONG.password);
  });
});
