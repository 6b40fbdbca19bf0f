import { beforeEach, describe, expect, it } from "vitest";
import { lockPerson } from "../../../src/people/people-sql.ts";
import { untilBlocked } from "../../support/blocked.ts";
import { totp } from "../../support/one-time-codes.ts";
import {
  type Browser,
  createPersonWithPassword,
  linkToken,
  openBrowser,
  PASSWORD,
} from "../../support/people.ts";
import { type Answer, startServiceForTest, type TestService } from "../../support/test-service.ts";

const NEW_PASSWORD = "another horse, another battery";

let service: TestService;
beforeEach(async () => {
  service = await startServiceForTest();
});

const signInWith = (browser: Browser, email: string, password: string): Promise<Answer> =>
  browser.post("/auth/sign-in/password", { email, password });

/** Two requests that wait for the lock of a person, one after the other. */
async function sendInOrder(personId: string, first: () => Promise<Answer>, second: () => Promise<Answer>) {
  const { sent } = await service.db.transaction(async (tx) => {
    await lockPerson(tx, personId);
    const one = first();
    await untilBlocked(service, 1);
    const other = second();
    await untilBlocked(service, 2);
    return { sent: [one, other] as const }; // In an object, so that they are not awaited here.
  });
  return Promise.all(sent);
}

describe("a sign-in with a password that is replaced at the same time", () => {
  it.each(["before", "after"])("leaves no session, if it waits %s the new one", async (order) => {
    const { person } = await createPersonWithPassword(service);
    const token = await linkToken(service, person, "reset");
    const thief = openBrowser(service);
    const requests = [
      () => signInWith(thief, person.email, PASSWORD),
      () => openBrowser(service).post("/auth/reset/password", { token, password: NEW_PASSWORD }),
    ] as const;
    if (order === "before") await sendInOrder(person.id, ...requests);
    else {
      const [, answer] = await sendInOrder(person.id, requests[1], requests[0]);
      expect(answer).toMatchObject({ status: 401, body: { code: "sign-in-failed" } });
    }
    expect((await thief.get("/api/me")).status).toBe(401);
    expect((await signInWith(openBrowser(service), person.email, NEW_PASSWORD)).status).toBe(200);
  });

  it("does not continue with a code, whether the code was requested before or after", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    const { uri } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
    await browser.post("/auth/second-factor/verify", { code: totp(service, uri) });
    const [before, during] = [openBrowser(service), openBrowser(service)];
    expect((await signInWith(before, person.email, PASSWORD)).body).toEqual({ status: "code-required" });
    const [begun] = await sendInOrder(
      person.id,
      () => signInWith(during, person.email, PASSWORD),
      () => browser.post("/auth/password", { password: NEW_PASSWORD }),
    );
    expect(begun.body).toEqual({ status: "code-required" });
    for (const thief of [before, during])
      expect((await thief.post("/auth/sign-in/code", { code: totp(service, uri, 1) })).status).toBe(401);
  });
});

it("a session that a reset has ended sets no other password", async () => {
  const { person, browser: thief } = await createPersonWithPassword(service);
  const token = await linkToken(service, person, "reset");
  const both = await service.db.transaction(async (tx) => {
    await lockPerson(tx, person.id);
    const reset = openBrowser(service).post("/auth/reset/password", { token, password: NEW_PASSWORD });
    await untilBlocked(service, 1);
    const set = thief.post("/auth/password", { password: "a password of the thief" });
    await untilBlocked(service, 2);
    return { reset, set };
  });
  expect((await both.reset).status).toBe(204);
  expect((await both.set).status).toBe(403);
  expect((await signInWith(openBrowser(service), person.email, NEW_PASSWORD)).status).toBe(200);
});

it("of many codes that are sent at the same time ten are compared", async () => {
  const { person, browser } = await createPersonWithPassword(service);
  const { uri } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
  await browser.post("/auth/second-factor/verify", { code: totp(service, uri) });
  const thieves = Array.from({ length: 15 }, () => openBrowser(service));
  for (const thief of thieves) await signInWith(thief, person.email, PASSWORD);
  const answers = await Promise.all(
    thieves.map((thief) => thief.post("/auth/sign-in/code", { code: "000000" })),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(10).fill(401), ...Array(5).fill(429)]);
});
