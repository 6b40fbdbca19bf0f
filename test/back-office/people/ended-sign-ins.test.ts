import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lockPerson } from "../../../src/people/people-sql.ts";
import type { Person } from "../../../src/people/person.ts";
import { endSessions } from "../../../src/people/sessions.ts";
import { toTypeId } from "../../../src/platform/ids.ts";
import { untilBlocked } from "../../support/blocked.ts";
import { usedPasskey } from "../../support/made-passkey.ts";
import { totp } from "../../support/one-time-codes.ts";
import {
  type Browser,
  createPersonWithPassword,
  linkAccount,
  linkToken,
  openBrowser,
  PASSWORD,
  signIn,
} from "../../support/people.ts";
import {
  createPersonWithAllWays,
  type PersonWithAllWays,
  preparePasskey,
} from "../../support/person-with-all-ways.ts";
import {
  aSubject,
  comeBack,
  type ServiceWithProvider,
  startServiceWithProvider,
  visitProvider,
} from "../../support/single-sign-on.ts";

let service: ServiceWithProvider;
beforeAll(async () => {
  service = await startServiceWithProvider();
});
afterAll(() => service.close());

/** How a browser signs in: what it does before, and the last request. */
const WAYS = {
  "a password": async ({ person, browser: own }, browser) => {
    await own.post("/auth/second-factor/remove", { password: PASSWORD });
    return () => browser.post("/auth/sign-in/password", { email: person.email, password: PASSWORD });
  },
  "a link": async ({ person }, browser) => {
    const token = await linkToken(service, person, "sign-in");
    return () => browser.post("/auth/sign-in/link", { token });
  },
  "a one-time code": async ({ person, uri }, browser) => {
    await browser.post("/auth/sign-in/password", { email: person.email, password: PASSWORD });
    return () => browser.post("/auth/sign-in/code", { code: totp(service, uri) });
  },
  "a backup code": async ({ person, backupCodes: [code] }, browser) => {
    await browser.post("/auth/sign-in/password", { email: person.email, password: PASSWORD });
    return () => browser.post("/auth/sign-in/code", { code, isBackupCode: true });
  },
  "a passkey": async ({ device }, browser) => {
    const { challenge } = (await browser.post("/auth/sign-in/passkey-options")).body.options;
    return () => browser.post("/auth/sign-in/passkey", { response: usedPasskey({ challenge, device }) });
  },
  "an identity provider": async ({ person }, browser) => {
    service.provider.subject = aSubject(person.email);
    const target = await visitProvider(browser);
    return () => comeBack(browser, target);
  },
} satisfies Record<string, (world: PersonWithAllWays, browser: Browser) => Promise<() => Promise<unknown>>>;

/** What ends the sign-ins of a person. */
const ENDS = {
  "the password is replaced": ({ browser }) =>
    browser.post("/auth/password", { password: "another horse, another battery" }),
  "the password is reset": async ({ person }) => {
    const token = await linkToken(service, person, "reset");
    const body = { token, password: "another horse, another battery" };
    return openBrowser(service).post("/auth/reset/password", body);
  },
  "the person signs out everywhere else": ({ browser }) => browser.post("/api/me/sessions/end-others"),
  "the operator signs it out everywhere": ({ person }) =>
    service.backOffice.post(`/api/people/${person.email}/end-sessions`),
  "the person is disabled": ({ person }) => service.backOffice.post(`/api/people/${person.email}/disable`),
  "the mail address is changed": ({ person }) =>
    service.backOffice.request("PATCH", `/api/people/${person.email}`, {
      body: { email: `new-${person.email}` },
    }),
  "the second factor is removed": ({ browser }) =>
    browser.post("/auth/second-factor/remove", { password: PASSWORD }),
  "a passkey is removed": async ({ browser }) => {
    const [{ id }] = (await browser.get("/auth/passkeys")).body.data;
    return browser.request("DELETE", `/auth/passkeys/${id}`);
  },
  "the operator unlinks it from the identity provider": async (world) => {
    await linkAccount(service, world.person.id);
    return unlink(world);
  },
  "the operator removes all its ways to sign in": ({ person }) =>
    service.backOffice.post(`/api/people/${person.email}/remove-sign-in-methods`),
} satisfies Record<string, (world: PersonWithAllWays) => Promise<{ status: number }>>;

const unlink = ({ person }: PersonWithAllWays) =>
  service.backOffice.post(`/api/people/${person.email}/unlink-single-sign-on`);

/** Two requests that wait for the lock of a person, one after the other. */
async function sendInOrder({ id }: Person, first: () => Promise<unknown>, second: () => Promise<unknown>) {
  const { sent } = await service.db.transaction(async (tx) => {
    await lockPerson(tx, id);
    const requests = [first()];
    await untilBlocked(service, 1);
    requests.push(second());
    await untilBlocked(service, 2);
    return { sent: requests }; // In an object, so that they are not awaited here.
  });
  await Promise.all(sent);
}

const storedSessions = ({ id }: Person) =>
  service.db.query({
    name: "test-stored-sessions",
    text: "select id from person_sessions where person_id = $1",
    values: [id],
  });

describe("what ends the sessions of a person also ends one that is being opened", () => {
  it.each(Object.entries(WAYS))("with %s", async (_way, begin) => {
    const world = await createPersonWithAllWays(service);
    const thief = openBrowser(service);
    const send = await begin(world, thief);
    await sendInOrder(world.person, send, () => ENDS["the person signs out everywhere else"](world));
    expect((await thief.get("/api/me")).status).toBe(401);
    expect(await storedSessions(world.person)).toHaveLength(1);
    expect((await world.browser.get("/api/me")).status).toBe(200);
  });

  it.each(Object.entries(ENDS))("if %s", async (end, happens) => {
    const world = await createPersonWithAllWays(service);
    const other = await signIn(service, world.person);
    const thief = openBrowser(service);
    // A link of the demo stays, so it cannot be the link that ends.
    const token = await linkToken(service, world.person, "demo");
    const send = () => thief.post("/auth/sign-in/link", { token });
    await sendInOrder(world.person, send, async () => {
      expect((await happens(world)).status).toBeLessThan(300);
    });
    expect((await thief.get("/api/me")).status).toBe(401);
    expect((await other.get("/api/me")).status).toBe(401);
    const isEverywhere = /reset|operator|disabled|address/.test(end);
    expect((await world.browser.get("/api/me")).status).toBe(isEverywhere ? 401 : 200);
    expect(await storedSessions(world.person)).toHaveLength(isEverywhere ? 0 : 1);
  });
});

describe("a proof that is taken away while it is compared opens no session", () => {
  const TAKEN: [keyof typeof WAYS, keyof typeof ENDS][] = [
    ["a password", "the password is replaced"],
    ["a link", "the operator signs it out everywhere"],
    ["a link", "the mail address is changed"],
    ["a one-time code", "the password is replaced"],
    ["a one-time code", "the second factor is removed"],
    ["a one-time code", "the operator signs it out everywhere"],
    ["a backup code", "the second factor is removed"],
    ["a passkey", "a passkey is removed"],
    ["an identity provider", "the mail address is changed"],
    ...(Object.keys(WAYS) as (keyof typeof WAYS)[]).map((way): [keyof typeof WAYS, keyof typeof ENDS] => [
      way,
      "the person is disabled",
    ]),
  ];
  it.each(TAKEN)("%s, and %s", async (way, end) => {
    const world = await createPersonWithAllWays(service);
    const thief = openBrowser(service);
    const send = await WAYS[way](world, thief);
    const count = (await storedSessions(world.person)).length;
    await sendInOrder(world.person, () => ENDS[end](world), send);
    expect((await thief.get("/api/me")).status).toBe(401);
    expect((await storedSessions(world.person)).length).toBeLessThanOrEqual(count);
    const { body } = await service.backOffice.get(`/api/people/${toTypeId("per", world.person.id)}`);
    expect(body, "the account is not linked either").toMatchObject({ hasSingleSignOn: false });
  });
});

it("a sign-in that waits for its code ends when the operator signs the person out everywhere", async () => {
  const world = await createPersonWithAllWays(service);
  const thief = openBrowser(service);
  const send = await WAYS["a one-time code"](world, thief);
  expect((await ENDS["the operator signs it out everywhere"](world)).status).toBe(200);
  expect(await send()).toMatchObject({ status: 401, body: { code: "unauthorized" } });
  expect(await storedSessions(world.person)).toEqual([]);
});

it("a session that ends while it adds a passkey adds none", async () => {
  const { person, browser: thief } = await createPersonWithPassword(service);
  const add = await preparePasskey(thief);
  const { added } = await service.db.transaction(async (tx) => {
    await lockPerson(tx, person.id);
    await endSessions(tx, person.id, null);
    const request = add();
    await untilBlocked(service, 1);
    return { added: request };
  });
  expect((await added).status).toBe(401);
  expect((await (await signIn(service, person)).get("/auth/account")).body).toMatchObject({ passkeys: 0 });
});

it("a session that ends while it renews backup codes gets none", async () => {
  const { person, browser: thief } = await createPersonWithAllWays(service);
  const { renewed } = await service.db.transaction(async (tx) => {
    await lockPerson(tx, person.id);
    await endSessions(tx, person.id, null);
    const request = thief.post("/auth/second-factor/backup-codes", { password: PASSWORD });
    await untilBlocked(service, 1);
    return { renewed: request };
  });
  const { status, body } = await renewed;
  expect([status, body.backupCodes]).toEqual([401, undefined]);
});

it.each(Object.entries(WAYS))("a sign-in with %s opens a session otherwise", async (_way, begin) => {
  const world = await createPersonWithAllWays(service);
  const browser = openBrowser(service);
  await (await begin(world, browser))();
  expect((await browser.get("/api/me")).body).toMatchObject({ name: world.person.name });
});

describe("a session", () => {
  it("stays if its person changes its own mail address", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    const other = await signIn(service, person);
    const email = `own-${person.email}`;
    const path = `/api/people/${toTypeId("per", person.id)}`;
    expect((await browser.request("PATCH", path, { email })).status).toBe(200);
    expect((await browser.get("/auth/account")).body).toMatchObject({ email });
    expect((await other.get("/api/me")).status).toBe(401);
  });
});
