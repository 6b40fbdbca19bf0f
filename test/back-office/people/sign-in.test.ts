import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FIRST_OPERATOR_EMAIL } from "../../../src/people/first-operator.ts";
import { fromTypeId } from "../../../src/platform/ids.ts";
import { passCodes, totp } from "../../support/one-time-codes.ts";
import {
  type Browser,
  createPerson,
  createPersonWithPassword,
  linkToken,
  openBrowser,
  PASSWORD,
  setCookies,
  signIn,
} from "../../support/people.ts";
import { startTestService, type TestService } from "../../support/test-service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe("POST /auth/sign-in/link", () => {
  it("opens a session once, with a cookie that no script can read", async () => {
    const person = await createPerson(service);
    const token = await linkToken(service, person, "sign-in");
    const browser = openBrowser(service);
    expect((await browser.get("/api/me")).status).toBe(401);
    const answer = await browser.post("/auth/sign-in/link", { token });
    expect(answer).toMatchObject({ status: 200, body: { status: "signed-in" } });
    const [cookie = ""] = setCookies(answer).filter((set) => set.includes("session_token"));
    expect(cookie).toMatch(/; HttpOnly/);
    expect(cookie).toMatch(/; SameSite=Lax/);
    expect((await browser.get("/api/me")).body).toMatchObject({ name: person.name, role: "operator" });
    expect(await openBrowser(service).post("/auth/sign-in/link", { token })).toMatchObject({
      status: 401,
      body: { code: "sign-in-failed", reason: "invalid-link" },
    });
  });

  it("gives one of many who use it at once a session", async () => {
    const token = await linkToken(service, await createPerson(service), "invitation");
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => openBrowser(service).post("/auth/sign-in/link", { token })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
  });
});

describe("POST /auth/sign-in/password", () => {
  it("opens a session, and responds to a wrong password as to an unknown address", async () => {
    const { person } = await createPersonWithPassword(service);
    const browser = openBrowser(service);
    const wrong = await browser.post("/auth/sign-in/password", {
      email: person.email,
      password: "wrong password",
    });
    const unknown = await browser.post("/auth/sign-in/password", {
      email: "no@example.com",
      password: PASSWORD,
    });
    expect(wrong).toMatchObject({
      status: 401,
      body: { code: "sign-in-failed", reason: "wrong-credentials" },
    });
    expect({ ...wrong.body, instance: "" }).toEqual({ ...unknown.body, instance: "" });
    const right = await browser.post("/auth/sign-in/password", {
      email: person.email.toUpperCase(),
      password: PASSWORD,
    });
    expect(right).toMatchObject({ status: 200, body: { status: "signed-in" } });
    expect((await browser.get("/api/me")).status).toBe(200);
  });

  it.each([
    "x@y.z",
    "m@company.i",
    "a@example.xn--p1ai",
    "a&b@example.com",
    "a/b@example.com",
    "a=!#%{*~?b@example.com",
  ])("works for %s, which an invitation accepts", async (email) => {
    const invitation = { name: "Guest", email, grants: [{ role: "support" }] };
    const invited = await service.backOffice.post("/api/people", invitation);
    expect(invited.status).toBe(201);
    const found = await service.backOffice.get(`/api/people?q=${encodeURIComponent(email)}`);
    expect(found.body.data).toMatchObject([{ id: invited.body.id }]);
    await expectPasswordToWork(email, fromTypeId("per", invited.body.id) ?? "");
  });

  it("works for the first operator", async () => {
    const { id } = await createPerson(service, { email: FIRST_OPERATOR_EMAIL });
    await expectPasswordToWork(FIRST_OPERATOR_EMAIL, id);
  });

  it("works with a password of 128 characters, whatever they are", async () => {
    const { id, email } = await createPerson(service);
    await expectPasswordToWork(email, id, "🔑".repeat(128));
  });

  /** The person sets a password, signs in with it on another browser, and then with a second factor. */
  async function expectPasswordToWork(email: string, id: string, password = PASSWORD): Promise<void> {
    const token = await linkToken(service, { id }, "invitation");
    const here = openBrowser(service);
    expect((await here.post("/auth/sign-in/link", { token })).status).toBe(200);
    expect((await here.post("/auth/password", { password })).status).toBe(204);
    const there = openBrowser(service);
    const answer = await there.post("/auth/sign-in/password", { email, password });
    expect(answer).toMatchObject({ status: 200, body: { status: "signed-in" } });
    expect((await there.get("/auth/account")).body.email).toBe(email.replace("xn--p1ai", "рф"));
    const { uri } = (await there.post("/auth/second-factor", { password })).body;
    expect((await there.post("/auth/second-factor/verify", { code: totp(service, uri) })).status).toBe(204);
    await passCodes(service);
    const next = openBrowser(service);
    expect((await next.post("/auth/sign-in/password", { email, password })).body.status).toBe(
      "code-required",
    );
    expect((await next.post("/auth/sign-in/code", { code: totp(service, uri) })).status).toBe(200);
  }
});

describe("another sign-in on the same browser", () => {
  /** A browser that has the cookies of another one. */
  function copyOf({ cookies }: Browser): Browser {
    const copy = openBrowser(service);
    for (const [name, value] of cookies) copy.cookies.set(name, value);
    return copy;
  }
  const statusOf = async (browser: Browser) => (await browser.get("/api/me")).status;

  it("replaces the session", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    const before = copyOf(browser);
    await browser.post("/auth/sign-in/password", { email: person.email, password: PASSWORD });
    expect(await statusOf(browser)).toBe(200);
    expect(await statusOf(before)).toBe(401);
  });

  it("leaves the session until a required code is entered, and then replaces it", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    const { uri } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
    await browser.post("/auth/second-factor/verify", { code: totp(service, uri) });
    await passCodes(service);
    const before = copyOf(browser);
    const signIn = { email: person.email, password: PASSWORD };
    expect((await browser.post("/auth/sign-in/password", signIn)).body.status).toBe("code-required");
    expect((await browser.post("/auth/sign-in/code", { code: "000000" })).status).toBe(401);
    expect([await statusOf(browser), await statusOf(before)]).toEqual([200, 200]);
    expect((await browser.post("/auth/sign-in/code", { code: totp(service, uri) })).status).toBe(200);
    expect([await statusOf(browser), await statusOf(before)]).toEqual([200, 401]);
    expect((await browser.get("/api/me/sessions")).body.data).toHaveLength(1);
  });
});

describe("what no person can have", () => {
  it("is rejected like any other wrong passkey or address", async () => {
    const browser = openBrowser(service);
    expect((await browser.post("/auth/sign-in/passkey-options")).status).toBe(200);
    for (const id of ["\u0000", "", 1, undefined]) {
      const answer = await browser.post("/auth/sign-in/passkey", { response: { id, type: "public-key" } });
      expect(answer).toMatchObject({ status: 401, body: { code: "sign-in-failed" } });
    }
    for (const path of ["/auth/sign-in/password", "/auth/reset"]) {
      const answer = await browser.post(path, { email: "ada\u0000@example.com", password: PASSWORD });
      expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: "/email" }] } });
    }
  });
});

describe("POST /auth/sign-out", () => {
  it("ends the session", async () => {
    const browser = await signIn(service, await createPerson(service));
    const cookies = new Map(browser.cookies);
    expect((await browser.post("/auth/sign-out")).status).toBe(204);
    expect((await browser.get("/api/me")).status).toBe(401);
    const stolen = openBrowser(service);
    for (const [name, value] of cookies) stolen.cookies.set(name, value);
    expect((await stolen.get("/api/me")).status).toBe(401);
  });

  it("leaves one entry in the audit log, and none without a session", async () => {
    const person = await createPerson(service, { name: "Ada Away" });
    const browser = await signIn(service, person);
    const stale = new Map(browser.cookies);
    await browser.post("/auth/sign-out");
    await browser.post("/auth/sign-out");
    for (const [name, value] of stale) browser.cookies.set(name, value);
    expect((await browser.post("/auth/sign-out")).status).toBe(204);
    const { data } = (await service.backOffice.get("/api/audit-entries?action=signOut&actor=Ada%20Away"))
      .body;
    expect(data).toMatchObject([{ details: { session: expect.stringMatching(/^ses_/) } }]);
  });
});
