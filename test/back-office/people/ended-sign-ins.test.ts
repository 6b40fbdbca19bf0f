import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Person } from "../../../src/people/person.ts";
import { endSignIns } from "../../../src/people/sessions.ts";
import { openPeople } from "../../../src/people/sign-in/people.ts";
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
  await service.db.runScript(`
    create function wait() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(1); return new; end $$;
    create trigger wait before insert on person_sessions for each row execute function wait();`);
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
    return () => browser.post("/auth/sign-in/code", { code: totp(uri) });
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

/** Sends a request, and lets something happen before better-auth stores the session. */
async function sendWhile(send: () => Promise<unknown>, happens: () => Promise<{ status: number }>) {
  const { sent } = await service.db.transaction(async (tx) => {
    await tx.query({ name: "test-lock", text: "select pg_advisory_xact_lock(1)", values: [] });
    const request = send();
    await untilBlocked(service, 1);
    expect((await happens()).status).toBeLessThan(300);
    return { sent: request }; // In an object, so that it is not awaited here.
  });
  await sent;
}

/** Sessions of a person, those that were not finished too. */
const storedSessions = ({ id }: Person) =>
  service.db.query({
    name: "test-stored-sessions",
    text: "select id from person_sessions where person_id = $1",
    values: [id],
  });

describe("a sign-in that began before the sign-ins of the person were ended opens no session", () => {
  it.each(Object.entries(WAYS))("with %s", async (_way, begin) => {
    const world = await createPersonWithAllWays(service);
    const thief = openBrowser(service);
    const send = await begin(world, thief);
    await sendWhile(send, () => ENDS["the person signs out everywhere else"](world));
    expect((await thief.get("/api/me")).status).toBe(401);
    expect(await storedSessions(world.person)).toHaveLength(1);
    expect((await world.browser.get("/api/me")).status).toBe(200);
  });

  it.each(Object.entries(ENDS))("if %s", async (end, happens) => {
    const world = await createPersonWithAllWays(service);
    const other = await signIn(service, world.person);
    const thief = openBrowser(service);
    const send = await WAYS["a link"](world, thief);
    await sendWhile(send, () => happens(world));
    expect((await thief.get("/api/me")).status).toBe(401);
    expect((await other.get("/api/me")).status).toBe(401);
    const isEverywhere = /reset|operator|disabled|address/.test(end);
    expect((await world.browser.get("/api/me")).status).toBe(isEverywhere ? 401 : 200);
    expect(await storedSessions(world.person)).toHaveLength(isEverywhere ? 0 : 1);
  });

  it.each([
    ["is unlinked", unlink],
    ["has another mail address than its person by now", ENDS["the mail address is changed"]],
  ])(
    "with an account of the identity provider that %s, which is not linked either",
    async (_what, happens) => {
      const world = await createPersonWithAllWays(service);
      const stranger = openBrowser(service);
      const send = await WAYS["an identity provider"](world, stranger);
      await sendWhile(send, () => happens(world));
      expect((await stranger.get("/api/me")).status).toBe(401);
      expect(await storedSessions(world.person)).toEqual([]);
      const { body } = await service.backOffice.get(`/api/people/${toTypeId("per", world.person.id)}`);
      expect(body).toMatchObject({ hasSingleSignOn: false });
    },
  );

  it("with a passkey, while they are being ended", async () => {
    const world = await createPersonWithAllWays(service);
    const thief = openBrowser(service);
    const send = await WAYS["a passkey"](world, thief);
    const { sent } = await service.db.transaction(async (tx) => {
      await endSignIns(tx, world.person.id, null);
      const request = send();
      await untilBlocked(service, 1);
      return { sent: request };
    });
    expect((await sent).status).toBe(401);
    expect(await storedSessions(world.person)).toEqual([]);
  });

  it("if a session sets up one-time codes, which replaces it", async () => {
    const { person, browser: thief } = await createPersonWithPassword(service);
    const { uri } = (await thief.post("/auth/second-factor", { password: PASSWORD })).body;
    const send = () => thief.post("/auth/second-factor/verify", { code: totp(uri) });
    await sendWhile(send, () => service.backOffice.post(`/api/people/${person.email}/end-sessions`));
    expect((await thief.get("/api/me")).status).toBe(401);
    expect(await storedSessions(person)).toEqual([]);
    const own = openBrowser(service);
    const answer = await own.post("/auth/sign-in/password", { email: person.email, password: PASSWORD });
    expect(answer.body).toEqual({ status: "signed-in" });
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
    await endSignIns(tx, person.id, null);
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
    await endSignIns(tx, person.id, null);
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
  it("opens nothing if the process ended before the sign-in was finished", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    const { api } = openPeople(service.context).auth();
    const options = { body: { personId: person.id }, headers: new Headers(), asResponse: true } as const;
    const [cookie = ""] = (await api.openSession(options)).headers.getSetCookie();
    const thief = openBrowser(service);
    const [pair = ""] = cookie.split(";");
    thief.cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    expect((await thief.get("/api/me")).status).toBe(401);
    expect((await browser.get("/api/me/sessions")).body.data).toHaveLength(1);
  });

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
