import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lockPerson } from "../../../src/people/people-sql.ts";
import type { Person } from "../../../src/people/person.ts";
import { toTypeId } from "../../../src/platform/ids.ts";
import { untilBlocked } from "../../support/blocked.ts";
import { usedPasskey } from "../../support/made-passkey.ts";
import {
  type Browser,
  createPerson,
  createPersonWithPassword,
  linkToken,
  openBrowser,
  PASSWORD,
  signIn,
} from "../../support/people.ts";
import { createPersonWithAllWays, preparePasskey } from "../../support/person-with-all-ways.ts";
import {
  aSubject,
  FAILED,
  type ServiceWithProvider,
  signInThere,
  startServiceWithProvider,
} from "../../support/single-sign-on.ts";
import type { Answer } from "../../support/test-service.ts";

let service: ServiceWithProvider;
beforeAll(async () => {
  service = await startServiceWithProvider();
});
afterAll(() => service.close());

const pathOf = ({ id }: Person) => `/api/people/${toTypeId("per", id)}`;
const remove = (person: Person) => service.backOffice.post(`${pathOf(person)}/remove-sign-in-methods`);
const entriesAbout = async ({ id }: Person) =>
  (await service.backOffice.get("/api/audit-entries?action=removeSignInMethods&limit=100")).body.data.filter(
    (entry: object) => JSON.stringify(entry).includes(toTypeId("per", id)),
  );

/** How a person signs in who has only a link of the operator. */
const accountOf = async (person: Person) => (await (await signIn(service, person)).get("/auth/account")).body;
const NOTHING = { hasPassword: false, hasSecondFactor: false, hasSingleSignOn: false, passkeys: 0 };

describe("POST /api/people/{id}/remove-sign-in-methods", () => {
  it("leaves nothing with which another human signs in", async () => {
    const { person, browser, device } = await createPersonWithAllWays(service);
    service.provider.subject = aSubject(person.email);
    const there = openBrowser(service);
    await signInThere(there);
    const invitation = await linkToken(service, person, "invitation");
    const reset = await linkToken(service, person, "reset");
    expect(await remove(person)).toMatchObject({
      status: 200,
      body: { hasSecondFactor: false, hasSingleSignOn: false, state: "active" },
    });
    const thief = openBrowser(service);
    const { challenge } = (await thief.post("/auth/sign-in/passkey-options")).body.options;
    const answers = [
      await browser.get("/api/me"),
      await there.get("/api/me"),
      await thief.post("/auth/sign-in/password", { email: person.email, password: PASSWORD }),
      await thief.post("/auth/sign-in/passkey", { response: usedPasskey({ challenge, device }) }),
      await thief.post("/auth/sign-in/link", { token: invitation }),
      await thief.post("/auth/reset/password", { token: reset, password: PASSWORD }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401]);
    expect(await accountOf(person)).toMatchObject(NOTHING);
  });

  it("lets the person begin again with a link by mail, and without a code", async () => {
    const { person } = await createPersonWithAllWays(service);
    await remove(person);
    const token = await linkToken(service, person, "reset");
    const browser = openBrowser(service);
    expect((await browser.post("/auth/reset/password", { token, password: PASSWORD })).status).toBe(204);
    const { body } = await browser.post("/auth/sign-in/password", {
      email: person.email,
      password: PASSWORD,
    });
    expect(body).toEqual({ status: "signed-in" });
  });

  it("links the account of another human no more, once the mail address was changed", async () => {
    const person = await createPerson(service);
    service.provider.subject = aSubject(person.email);
    const stranger = openBrowser(service);
    await signInThere(stranger);
    const email = `right-${person.email}`;
    await service.backOffice.request("PATCH", pathOf(person), { body: { email } });
    expect((await remove(person)).status).toBe(200);
    expect(await signInThere(stranger)).toBe(FAILED);
    service.provider.subject = aSubject(email);
    expect(await signInThere(openBrowser(service))).toBe("http://localhost:8081/");
  });

  it("is recorded with what was removed, and has no further effect", async () => {
    const { person } = await createPersonWithPassword(service);
    await linkToken(service, person, "reset");
    for (let count = 0; count < 2; count += 1) expect((await remove(person)).status).toBe(200);
    expect(await entriesAbout(person)).toMatchObject([
      {
        details: {
          password: "true",
          singleSignOn: "false",
          passkeys: "0",
          sessionsEnded: "1",
          linksEnded: "1",
        },
      },
    ]);
    const nothing = await createPerson(service);
    expect((await remove(nothing)).status).toBe(200);
    expect(await entriesAbout(nothing)).toEqual([]);
  });
});

/** What another human adds with its session at the same time. */
const ADDITIONS = {
  "a password": async (browser) => () => browser.post("/auth/password", { password: "of another human" }),
  "a passkey": (browser) => preparePasskey(browser),
} satisfies Record<string, (browser: Browser) => Promise<() => Promise<Answer>>>;

describe.each(Object.entries(ADDITIONS))("%s that is added at the same time", (_what, prepare) => {
  it.each(["before", "after"])("is not there afterwards, if it waits %s the removal", async (order) => {
    const { person, browser } = await createPersonWithPassword(service);
    const requests = [await prepare(browser), () => remove(person)];
    if (order === "after") requests.reverse();
    const { sent } = await service.db.transaction(async (tx) => {
      await lockPerson(tx, person.id);
      const waiting: Promise<Answer>[] = [];
      for (const send of requests) {
        waiting.push(send());
        await untilBlocked(service, waiting.length);
      }
      return { sent: waiting };
    });
    await Promise.all(sent);
    expect(await accountOf(person)).toMatchObject(NOTHING);
  });
});
