import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Person } from "../../../src/people/person.ts";
import { passCodes, totp } from "../../support/one-time-codes.ts";
import { type Browser, createPersonWithPassword, openBrowser, PASSWORD } from "../../support/people.ts";
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
    expect((await browser.post("/auth/second-factor/verify", { code: totp(uri) })).status).toBe(204);
    return { person, browser, uri };
  }

  it.each([
    "/auth/confirm",
    "/auth/second-factor",
    "/auth/second-factor/backup-codes",
    "/auth/second-factor/remove",
  ])("are attempts to sign in at %s: ten of a browser", async (path) => {
    const { person, browser } = await createPersonWithPassword(service);
    if (path !== "/auth/confirm" && path !== "/auth/second-factor") {
      const { uri } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
      await browser.post("/auth/second-factor/verify", { code: totp(uri) });
    }
    expect(await send(browser, path, WRONG, 10)).toEqual(Array(10).fill(401));
    const right = await browser.post(path, { password: PASSWORD });
    expect(right).toMatchObject({ status: 429, body: { code: "rate-limited" } });
    expect(right.headers["retry-after"]).toBe("900");
    const signIn = { email: person.email, password: PASSWORD };
    expect((await browser.post("/auth/sign-in/password", signIn)).status).toBe(429);
  });

  it("count from the beginning after a right one", async () => {
    const { browser } = await createPersonWithPassword(service);
    const path = "/auth/second-factor";
    await send(browser, path, WRONG, 9);
    expect((await browser.post(path, { password: PASSWORD })).status).toBe(200);
    expect(await send(browser, path, WRONG, 2)).toEqual([401, 401]);
  });

  it("count for a person without a second factor too, whose password is not even compared", async () => {
    const { browser } = await createPersonWithPassword(service);
    const statuses = await send(browser, "/auth/second-factor/backup-codes", { password: PASSWORD }, 11);
    expect(statuses).toEqual([...Array(10).fill(401), 429]);
  });

  it.each(["/auth/confirm", "/auth/second-factor/verify"])(
    "stop codes for 15 minutes after ten wrong ones at %s, at the sign-in too",
    async (path) => {
      const { person, browser, uri } = await withSecondFactor();
      expect(await send(browser, path, WRONG_CODE, 11)).toEqual([...Array(10).fill(401), 429]);
      const other = openBrowser(service, "192.0.2.80");
      const signIn = { email: person.email, password: PASSWORD };
      const attempt = async () => {
        await passCodes(service);
        expect((await other.post("/auth/sign-in/password", signIn)).body.status).toBe("code-required");
        return (await other.post("/auth/sign-in/code", { code: totp(uri) })).status;
      };
      expect(await attempt()).toBe(401);
      await endLock(person, "16 minutes");
      expect(await attempt()).toBe(200);
    },
  );

  it("stop codes within the session after ten wrong ones in a row, from wherever and at once", async () => {
    const { person, browser, uri } = await withSecondFactor();
    const copies = [1, 2, 3].map((number) => {
      const copy = openBrowser(service, `192.0.2.${90 + number}`);
      for (const [name, value] of browser.cookies)
        if (!name.includes("device")) copy.cookies.set(name, value);
      return copy;
    });
    await Promise.all(copies.map((copy) => send(copy, "/auth/confirm", WRONG_CODE, 5)));
    expect(await lockOf(person)).toMatchObject({ count: 10, isLocked: true });
    await passCodes(service);
    expect((await browser.post("/auth/confirm", { code: totp(uri) })).status).toBe(401);
    await endLock(person, "16 minutes");
    expect((await browser.post("/auth/confirm", WRONG_CODE)).status).toBe(401);
    expect(await lockOf(person)).toMatchObject({ count: 1, isLocked: false });
    expect((await browser.post("/auth/confirm", { code: totp(uri) })).status).toBe(204);
    expect(await lockOf(person)).toMatchObject({ count: 0, isLocked: false });
  });

  /** Whether codes of a person are locked, and after how many. better-auth takes the time from the system. */
  async function lockOf({ id }: Person) {
    const [row] = await service.db.query({
      name: "code-lock",
      text: `
        select failed_verification_count as count, locked_until is not null as "isLocked"
        from person_two_factors where person_id = $1`,
      values: [id],
    });
    return row;
  }
  const endLock = ({ id }: Person, passed: string) =>
    service.db.query({
      name: "pass-time-of-code-lock",
      text: "update person_two_factors set locked_until = locked_until - $2::interval where person_id = $1",
      values: [id, passed],
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
