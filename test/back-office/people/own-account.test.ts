import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { untilBlocked } from "../../support/blocked.ts";
import { madePasskey } from "../../support/made-passkey.ts";
import { passCodes, totp } from "../../support/one-time-codes.ts";
import {
  type Browser,
  createPerson,
  createPersonWithPassword,
  openBrowser,
  PASSWORD,
  signIn,
} from "../../support/people.ts";
import { preparePasskey } from "../../support/person-with-all-ways.ts";
import { startTestService, type TestService } from "../../support/test-service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const signInWithPassword = (browser: Browser, email: string) =>
  browser.post("/auth/sign-in/password", { email, password: PASSWORD });

describe("one-time codes", () => {
  it("are required after the password once one was verified, and a backup code is good once", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    const failed = (reason: string) => ({ status: 401, body: { code: "sign-in-failed", reason } });
    expect(await browser.post("/auth/second-factor", {})).toMatchObject(failed("wrong-password"));
    const started = await browser.post("/auth/second-factor", { password: PASSWORD });
    expect(started).toMatchObject({ status: 200, body: { backupCodes: { length: 10 } } });
    const { uri, backupCodes } = started.body;
    expect((await signInWithPassword(openBrowser(service), person.email)).body.status).toBe("signed-in");
    expect(await browser.post("/auth/second-factor/verify", { code: "000000" })).toMatchObject(
      failed("wrong-code"),
    );
    expect((await browser.post("/auth/second-factor/verify", { code: totp(service, uri) })).status).toBe(204);
    await passCodes(service);
    expect((await browser.get("/auth/account")).body).toMatchObject({ hasSecondFactor: true });
    expect(await browser.post("/auth/second-factor", { password: PASSWORD })).toMatchObject(
      failed("codes-set-up"),
    );

    const other = openBrowser(service);
    expect((await signInWithPassword(other, person.email)).body).toEqual({ status: "code-required" });
    expect((await other.get("/api/me")).status).toBe(401);
    expect(await other.post("/auth/sign-in/code", { code: "000000" })).toMatchObject(failed("wrong-code"));
    expect((await other.post("/auth/sign-in/code", { code: totp(service, uri) })).status).toBe(200);
    expect((await other.get("/api/me")).status).toBe(200);

    const third = openBrowser(service);
    await signInWithPassword(third, person.email);
    const [code] = backupCodes;
    expect((await third.post("/auth/sign-in/code", { code, isBackupCode: true })).status).toBe(200);
    const fourth = openBrowser(service);
    await signInWithPassword(fourth, person.email);
    expect((await fourth.post("/auth/sign-in/code", { code, isBackupCode: true })).status).toBe(401);
  });

  it("end a sign-in after five wrong ones, and need the cookie of a password", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    const { uri } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
    await browser.post("/auth/second-factor/verify", { code: totp(service, uri) });
    await passCodes(service);
    expect((await openBrowser(service).post("/auth/sign-in/code", { code: totp(service, uri) })).status).toBe(
      401,
    );
    const other = openBrowser(service);
    await signInWithPassword(other, person.email);
    for (let count = 0; count < 5; count += 1) await other.post("/auth/sign-in/code", { code: "000000" });
    expect(await other.post("/auth/sign-in/code", { code: totp(service, uri) })).toMatchObject({
      status: 401,
      body: { code: "unauthorized" },
      headers: { "www-authenticate": 'Session realm="partner-orders"' },
    });
    expect((await other.get("/api/me")).status).toBe(401);
  });

  it("can be removed by the person", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    const { uri } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
    await browser.post("/auth/second-factor/verify", { code: totp(service, uri) });
    const renewed = await browser.post("/auth/second-factor/backup-codes", { password: PASSWORD });
    expect(renewed.body.backupCodes).toHaveLength(10);
    expect((await browser.post("/auth/second-factor/remove", { password: PASSWORD })).status).toBe(204);
    expect((await signInWithPassword(openBrowser(service), person.email)).body.status).toBe("signed-in");
  });
});

describe("a passkey", () => {
  it("is one of 20 at most, also of many that are added at the same time", async () => {
    const person = await createPerson(service);
    await service.db.query({
      name: "test-nineteen-passkeys",
      text: `
        insert into person_passkeys (id, person_id, name, public_key, credential_id, counter, transports, created_at)
        select gen_random_uuid(), $1::uuid, '', '', 'credential-' || n, 0, '{}', now() from generate_series(1, 19) n`,
      values: [person.id],
    });
    const adds: Awaited<ReturnType<typeof preparePasskey>>[] = [];
    for (let count = 0; count < 3; count += 1) adds.push(await preparePasskey(await signIn(service, person)));
    const { sent } = await service.db.transaction(async (tx) => {
      // Each has counted the passkeys before one of the others is stored.
      await tx.query({
        name: "test-lock-passkeys",
        text: "lock table person_passkeys in share mode",
        values: [],
      });
      const requests = adds.map((add) => add());
      await untilBlocked(service, adds.length);
      return { sent: requests };
    });
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([204, 409, 409]);
    expect((await (await signIn(service, person)).get("/auth/account")).body).toMatchObject({ passkeys: 20 });
  });

  it("needs a device that verifies the person, when it is made and at each sign-in", async () => {
    const browser = await signIn(service, await createPerson(service));
    const signInOptions = (await browser.post("/auth/sign-in/passkey-options")).body.options;
    expect(signInOptions).toMatchObject({ userVerification: "required" });
    const add = async (isVerified: boolean) => {
      const { options } = (await browser.post("/auth/passkeys/options")).body;
      expect(options.authenticatorSelection).toMatchObject({ userVerification: "required" });
      const response = madePasskey({ challenge: options.challenge, isVerified });
      return browser.post("/auth/passkeys", { name: "Laptop", response });
    };
    expect(await add(false)).toMatchObject({
      status: 401,
      body: { code: "sign-in-failed", reason: "invalid-passkey" },
    });
    expect((await browser.get("/auth/passkeys")).body.data).toEqual([]);
    expect((await add(true)).status).toBe(204);
    expect((await browser.get("/auth/passkeys")).body.data).toHaveLength(1);
  });
});

describe("recent authentication", () => {
  it("ends after 15 minutes, and is confirmed with the password", async () => {
    const { browser } = await createPersonWithPassword(service);
    const change = () => browser.post("/auth/passkeys/options");
    service.clock.advance({ minutes: 14, seconds: 59 });
    expect((await change()).status).toBe(200);
    service.clock.advance({ seconds: 1 });
    expect(await change()).toMatchObject({ status: 403, body: { code: "recent-authentication-required" } });
    expect((await browser.post("/auth/confirm", { password: "wrong password" })).status).toBe(401);
    expect((await browser.post("/auth/confirm", {})).status).toBe(401);
    expect((await change()).status).toBe(403);
    expect((await browser.post("/auth/confirm", { password: PASSWORD })).status).toBe(204);
    expect((await change()).status).toBe(200);
    expect((await openBrowser(service).post("/auth/confirm", { password: PASSWORD })).status).toBe(401);
  });

  it("is confirmed with a code as well", async () => {
    const { browser } = await createPersonWithPassword(service);
    const { uri } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
    await browser.post("/auth/second-factor/verify", { code: totp(service, uri) });
    await passCodes(service);
    service.clock.advance({ minutes: 16 });
    expect((await browser.post("/auth/confirm", { code: "000000" })).status).toBe(401);
    expect((await browser.post("/auth/confirm", { code: totp(service, uri) })).status).toBe(204);
  });
});

describe("401 of a route that accepts a session alone", () => {
  it.each([
    ["GET", "/api/me/sessions", undefined, "unauthorized"],
    ["POST", "/api/me/sessions/end-others", undefined, "unauthorized"],
    ["GET", "/auth/account", undefined, "unauthorized"],
    ["GET", "/auth/passkeys", undefined, "unauthorized"],
    ["POST", "/auth/confirm", { password: PASSWORD }, "unauthorized"],
    ["POST", "/auth/second-factor", { password: PASSWORD }, "unauthorized"],
    ["POST", "/auth/sign-in/password", { email: "a@example.com", password: "wrong" }, "sign-in-failed"],
    ["POST", "/auth/sign-in/link", { token: "wrong" }, "sign-in-failed"],
  ])("names the scheme: %s %s", async (method, path, body, code) => {
    const answer = await openBrowser(service).request(method, path, body);
    expect(answer).toMatchObject({ status: 401, body: { code } });
    // A browser would ask for a password in a dialog of its own after Basic, Digest or Negotiate.
    expect(answer.headers["www-authenticate"]).toBe('Session realm="partner-orders"');
  });
});

describe("/api/me/sessions", () => {
  it("lists and ends the sessions of the person, and no others", async () => {
    const person = await createPerson(service);
    const here = await signIn(service, person, openBrowser(service, "192.0.2.7"));
    const there = await signIn(service, person);
    const stranger = await signIn(service, await createPerson(service));
    const { data } = (await here.get("/api/me/sessions")).body;
    expect(data).toHaveLength(2);
    const [current] = data.filter((session: { isCurrent: boolean }) => session.isCurrent);
    const [other] = data.filter((session: { isCurrent: boolean }) => !session.isCurrent);
    expect(current).toMatchObject({ ipAddress: "192.0.2.7" });
    expect((await stranger.request("DELETE", `/api/me/sessions/${other.id}`)).status).toBe(404);
    expect((await here.request("DELETE", `/api/me/sessions/${other.id}`)).status).toBe(204);
    expect((await there.get("/api/me")).status).toBe(401);
    expect((await here.request("DELETE", `/api/me/sessions/${other.id}`)).status).toBe(404);
  });

  it("sign out everywhere else", async () => {
    const person = await createPerson(service);
    const browsers = [];
    for (let count = 0; count < 3; count += 1) browsers.push(await signIn(service, person));
    expect((await browsers[0]?.post("/api/me/sessions/end-others"))?.status).toBe(204);
    const statuses = await Promise.all(
      browsers.map(async (browser) => (await browser.get("/api/me")).status),
    );
    expect(statuses).toEqual([200, 401, 401]);
  });

  it("end after twelve hours without a request, and seven days after the sign-in", async () => {
    const idle = await signIn(service, await createPerson(service));
    const busy = await signIn(service, await createPerson(service));
    for (let hours = 0; hours < 7 * 24; hours += 8) {
      expect((await busy.get("/api/me")).status, `after ${hours} h`).toBe(200);
      service.clock.advance({ hours: 8 });
    }
    expect((await busy.get("/api/me")).status).toBe(401);
    expect((await idle.get("/api/me")).status).toBe(401);
  });
});

describe("POST /auth/password", () => {
  it("ends all other sessions, and needs 12 characters", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    const other = await signIn(service, person);
    expect((await browser.post("/auth/password", { password: "short" })).status).toBe(422);
    expect((await browser.post("/auth/password", { password: "another long password" })).status).toBe(204);
    expect((await other.get("/api/me")).status).toBe(401);
    expect((await browser.get("/api/me")).status).toBe(200);
    expect((await signInWithPassword(openBrowser(service), person.email)).status).toBe(401);
  });
});
