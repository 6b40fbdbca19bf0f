import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backOfficeRoutes } from "../../../src/back-office/routes.ts";
import { hashToken } from "../../../src/people/cookies.ts";
import { purgePeopleRecords } from "../../../src/people/purge-people-records.ts";
import { createMerchantResources, requestsOf } from "../../support/back-office-resources.ts";
import { countRows } from "../../support/builders.ts";
import { createPerson, linkToken, openBrowser, signIn } from "../../support/people.ts";
import { dumpTables } from "../../support/tables.ts";
import { startServiceForTest, startTestService, type TestService } from "../../support/test-service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const wrong = (email: string) => ({ email, password: "a wrong password" });

describe("a page of another site", () => {
  const body = { name: "New", accountEmail: "new@example.com" };
  it.each([
    ["with its origin", { origin: "https://evil.example" }],
    ["with the origin of another port", { origin: "http://localhost:9999" }],
    ["without an origin that it would show", { origin: "null" }],
    ["of the same site, but another host", { origin: "http://other.localhost:8081" }],
  ])("changes nothing %s", async (_name, headers) => {
    const browser = await signIn(service, await createPerson(service));
    const before = await dumpTables(service);
    for (const [method, path, sent] of [
      ["POST", "/api/merchants", body],
      ["POST", "/auth/sign-out", undefined],
      ["POST", "/auth/password", { password: "of the attacker" }],
      ["POST", "/api/me/sessions/end-others", undefined],
      ["POST", "/auth/sign-in/password", wrong("a@example.com")],
    ] as const) {
      const answer = await browser.request(method, path, sent, headers);
      expect(answer, path).toMatchObject({ status: 403, body: { code: "forbidden" } });
    }
    expect(await dumpTables(service)).toEqual(before);
    expect((await browser.post("/api/merchants", body)).status).toBe(201);
  });

  it("changes nothing if the browser names no origin", async () => {
    const browser = await signIn(service, await createPerson(service));
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const client = service.backOfficeFrom("192.0.2.1");
    const send = (headers: Record<string, string>) =>
      client.request("POST", "/api/merchants", { body, headers: { cookie, ...headers } });
    expect((await send({})).status).toBe(403);
    expect((await send({ "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await send({ "sec-fetch-site": "same-site" })).status).toBe(403);
    expect((await send({ "sec-fetch-site": "same-origin" })).status).toBe(201);
  });
});

describe("a cookie", () => {
  it("that was changed, or with what the database has of it, opens nothing", async () => {
    const browser = await signIn(service, await createPerson(service));
    const [[name = "", value = ""] = []] = [...browser.cookies].filter(([each]) => each.includes("session"));
    expect(JSON.stringify(await dumpTables(service))).not.toContain(value);
    const hash = hashToken(value);
    const stored = [hash.toString("base64url"), hash.toString("hex")];
    for (const forged of [...stored, value.slice(1), `x${value}`, `${value}.`, "%E0%A4%A", ""]) {
      const thief = openBrowser(service);
      thief.cookies.set(name, forged);
      expect((await thief.get("/api/me")).status, forged).toBe(401);
    }
  });

  it("counts less than a token that is sent with it", async () => {
    const browser = await signIn(service, await createPerson(service));
    const answer = await browser.request("GET", "/api/me", undefined, { authorization: "Bearer nonsense" });
    expect(answer.status).toBe(401);
  });
});

describe("recent authentication", () => {
  it("is needed by each route that says so, and asked by no other that does not describe it", async () => {
    const world = await startServiceForTest();
    const requests = requestsOf(await createMerchantResources(world));
    const browser = await signIn(world, await createPerson(world));
    world.clock.advance({ minutes: 15 });
    const asked: string[] = [];
    for (const { operationId, method, path, options } of requests) {
      if (operationId === "importProducts") continue;
      const { body } = await browser.request(method, path, options.body);
      if (body?.code === "recent-authentication-required") asked.push(operationId);
    }
    const marked = backOfficeRoutes
      .filter(({ needsRecentAuthentication }) => needsRecentAuthentication)
      .map(({ operationId }) => operationId);
    const byEffect = backOfficeRoutes
      .filter(({ problems }) => problems.includes("recent-authentication-required"))
      .map(({ operationId }) => operationId);
    expect(asked).toEqual(expect.arrayContaining(marked));
    expect([...marked, ...byEffect]).toEqual(expect.arrayContaining(asked));
    expect(asked).toEqual(
      expect.arrayContaining([
        "createKey",
        "createToken",
        "rotateToken",
        "recordAccountPayment",
        "exportOrders",
      ]),
    );
  });

  it("is needed to create a merchant with a credit limit, or with none at all, and not without the field", async () => {
    const world = await startServiceForTest();
    const browser = await signIn(world, await createPerson(world));
    const fields = { name: "New", accountEmail: "new@example.com" };
    const limits = [{ amount: "100.00", currency: "EUR" }, null];
    const create = (creditLimit: unknown) => browser.post("/api/merchants", { ...fields, creditLimit });
    world.clock.advance({ minutes: 15 });
    for (const limit of limits)
      expect(await create(limit)).toMatchObject({
        status: 403,
        body: { code: "recent-authentication-required" },
      });
    expect(await countRows(world, "merchants")).toBe(0);
    expect((await browser.post("/api/merchants", fields)).status).toBe(201);
    const program = await world.backOffice.post("/api/merchants", { ...fields, creditLimit: limits[0] });
    expect(program.status).toBe(201);
    await signIn(world, await createPerson(world), browser);
    for (const limit of limits) expect((await create(limit)).status).toBe(201);
  });
});

describe("the job purge-people-records", () => {
  it("deletes what has ended, and nothing else", async () => {
    const world = await startServiceForTest();
    const person = await createPerson(world);
    await signIn(world, person);
    world.clock.advance({ hours: 13 });
    const browser = await signIn(world, person);
    await linkToken(world, person, "reset");
    expect(await purgePeopleRecords(world.context)).toBeGreaterThan(0);
    expect(await purgePeopleRecords(world.context)).toBe(0);
    expect((await browser.get("/api/me/sessions")).body.data).toHaveLength(1);
    world.clock.advance({ hours: 40 * 24 });
    await purgePeopleRecords(world.context);
    for (const table of ["person_sessions", "person_links", "person_attempts"]) {
      const rows = await world.db.query({ name: table, text: `select from ${table}`, values: [] });
      expect(rows, table).toEqual([]);
    }
  });
});
