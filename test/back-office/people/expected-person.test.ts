import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Person } from "../../../src/people/person.ts";
import { toTypeId } from "../../../src/platform/ids.ts";
import { createPerson, PASSWORD, signIn } from "../../support/people.ts";
import { dumpTables } from "../../support/tables.ts";
import { OPERATOR_TOKEN, startTestService, type TestService } from "../../support/test-service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const shows = ({ id }: Person) => ({ "x-person-id": toTypeId("per", id) });
const merchant = { name: "New", accountEmail: "new@example.com" };

describe("a page that shows one person, in a browser on which another one has signed in", () => {
  it("reads and changes nothing, also nothing of the other person's account", async () => {
    const first = await createPerson(service);
    const browser = await signIn(service, first);
    await signIn(service, await createPerson(service), browser);
    const before = await dumpTables(service);
    for (const [method, path, body] of [
      ["GET", "/api/me", undefined],
      ["GET", "/api/merchants", undefined],
      ["POST", "/api/merchants", merchant],
      ["GET", "/auth/account", undefined],
      ["POST", "/auth/confirm", { password: PASSWORD }],
      ["POST", "/auth/password", { password: PASSWORD }],
      ["POST", "/auth/passkeys/options", undefined],
      ["POST", "/auth/second-factor", {}],
      ["GET", "/api/me/sessions", undefined],
      ["POST", "/api/me/sessions/end-others", undefined],
    ] as const) {
      const answer = await browser.request(method, path, body, shows(first));
      expect(answer, path).toMatchObject({ status: 409, body: { code: "person-changed" } });
    }
    expect(await dumpTables(service)).toEqual(before);
  });

  it("is not kept from signing in as the person that it shows", async () => {
    const first = await createPerson(service);
    const browser = await signIn(service, first);
    expect((await browser.post("/auth/password", { password: PASSWORD })).status).toBe(204);
    await signIn(service, await createPerson(service), browser);
    const body = { email: first.email, password: PASSWORD };
    expect((await browser.post("/auth/sign-in/password", body, shows(first))).status).toBe(200);
    expect((await browser.request("GET", "/api/me", undefined, shows(first))).status).toBe(200);
  });
});

describe("the header X-Person-Id", () => {
  it("changes nothing for the person that it names, or if it is absent", async () => {
    const person = await createPerson(service);
    const browser = await signIn(service, person);
    expect((await browser.post("/api/merchants", merchant, shows(person))).status).toBe(201);
    expect((await browser.post("/api/merchants", merchant)).status).toBe(201);
  });

  it("is rejected if it names no person, and ignored with a token", async () => {
    const browser = await signIn(service, await createPerson(service));
    const other = { "x-person-id": "no person" };
    expect((await browser.post("/api/merchants", merchant, other)).status).toBe(409);
    const program = { ...other, authorization: `Bearer ${OPERATOR_TOKEN}` };
    expect((await browser.post("/api/merchants", merchant, program)).status).toBe(201);
  });

  it("does not hide that a session has ended", async () => {
    const person = await createPerson(service);
    const browser = await signIn(service, person);
    expect((await browser.post("/auth/sign-out", undefined, shows(person))).status).toBe(204);
    for (const path of ["/api/me", "/auth/account"])
      expect((await browser.request("GET", path, undefined, shows(person))).status).toBe(401);
  });
});
