import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAILS_MAX, resetMailsOf } from "../../../src/people/limit-attempts.ts";
import { setNameAndEmail } from "../../../src/people/people-sql.ts";
import type { Person } from "../../../src/people/person.ts";
import { untilBlocked } from "../../support/blocked.ts";
import { type Browser, createPerson, openBrowser } from "../../support/people.ts";
import { startTestService, type TestService } from "../../support/test-service.ts";

const PASSWORD = "a completely new password";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** The tokens in the mails to a person, oldest first. */
async function mailedTokens({ email }: Person): Promise<string[]> {
  const mails = await service.db.query<{ body: string }>({
    name: "mails-to-person",
    text: "select body from outgoing_mails where recipient = $1 order by id",
    values: [email],
  });
  return mails.map(({ body }) => /#token=(pol_[\w-]{43})/.exec(body)?.[1] ?? "");
}

/** A request that is accepted. Its mail is queued later, in the transaction that counts it. */
async function request(browser: Browser, { id, email }: Person): Promise<void> {
  const counted = async (): Promise<number> => {
    const [row] = await service.db.query<{ count: number }>({
      name: "count-of-bucket",
      text: "select count from person_attempts where bucket = $1 and window_start > $2",
      values: [resetMailsOf(id).bucket, new Date(service.clock.now().getTime() - 900_000)],
    });
    return row?.count ?? 0;
  };
  const before = await counted();
  expect(await browser.post("/auth/reset", { email })).toMatchObject({ status: 202, body: undefined });
  await expect.poll(counted).toBe(before + 1);
}

/** Strangers, each at an address of its own. */
async function requestAsStrangers(person: Person, count: number): Promise<void> {
  for (let sent = 1; sent <= count; sent += 1)
    await request(openBrowser(service, `203.0.113.${sent}`), person);
}

const setPassword = async (token: string | undefined): Promise<number> =>
  (await openBrowser(service).post("/auth/reset/password", { token, password: PASSWORD })).status;

describe("requests for a link to set a password", () => {
  it("send five mails to a person within 15 minutes, and each of their links is valid", async () => {
    const person = await createPerson(service);
    await requestAsStrangers(person, MAILS_MAX + 1);
    const tokens = await mailedTokens(person);
    expect(tokens).toHaveLength(MAILS_MAX);
    service.clock.advance({ minutes: 15 });
    await requestAsStrangers(person, 1);
    expect(await mailedTokens(person)).toHaveLength(MAILS_MAX + 1);
    expect(await setPassword(tokens[0])).toBe(204);
  });

  it("are accepted from any address, and ten of one address at one account", async () => {
    const { email } = await createPerson(service);
    const stranger = openBrowser(service, "198.51.100.1");
    for (let sent = 0; sent < 10; sent += 1)
      expect((await stranger.post("/auth/reset", { email })).status).toBe(202);
    const answer = await stranger.post("/auth/reset", { email });
    expect(answer).toMatchObject({ status: 429, headers: { "retry-after": "900" } });
    expect((await openBrowser(service, "198.51.100.2").post("/auth/reset", { email })).status).toBe(202);
  });
});

describe("a link to set a password", () => {
  it("ends when the password was set with another one", async () => {
    const person = await createPerson(service);
    await requestAsStrangers(person, 3);
    const [first, second, third] = await mailedTokens(person);
    expect(await setPassword(second)).toBe(204);
    for (const token of [first, second, third]) expect(await setPassword(token)).toBe(401);
  });

  it("of many that are used at once is used alone", async () => {
    const person = await createPerson(service);
    await requestAsStrangers(person, MAILS_MAX);
    const statuses = await Promise.all((await mailedTokens(person)).map(setPassword));
    expect(statuses.sort()).toEqual([204, 401, 401, 401, 401]);
  });

  it("is deleted after its hour, by the next one", async () => {
    const person = await createPerson(service);
    const count = async () => {
      const text = "select from person_links where person_id = $1";
      return (await service.db.query({ name: "links-of-person", text, values: [person.id] })).length;
    };
    await requestAsStrangers(person, 2);
    service.clock.advance({ hours: 1 });
    const [token] = await mailedTokens(person);
    expect(await setPassword(token)).toBe(401);
    await requestAsStrangers(person, 1);
    expect(await count()).toBe(1);
  });
});

it("a request while the mail address changes sends no link to the earlier address", async () => {
  const person = await createPerson(service);
  const changed = { ...person, email: "changed.at.once@example.com" };
  await service.db.transaction(async (tx) => {
    await setNameAndEmail(tx, { ...changed, personId: person.id });
    expect((await openBrowser(service).post("/auth/reset", { email: person.email })).status).toBe(202);
    await untilBlocked(service, 1);
  });
  await request(openBrowser(service), changed);
  expect(await mailedTokens(changed)).toHaveLength(1);
  expect(await mailedTokens(person)).toEqual([]);
});
