import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureFirstOperator, firstOperatorLink } from "../../../src/people/first-operator.ts";
import { toTypeId } from "../../../src/platform/ids.ts";
import { countRows } from "../../support/builders.ts";
import { usedPasskey } from "../../support/made-passkey.ts";
import { totp } from "../../support/one-time-codes.ts";
import { type Browser, createPerson, linkToken, openBrowser, PASSWORD } from "../../support/people.ts";
import { createPersonWithAllWays, type PersonWithAllWays } from "../../support/person-with-all-ways.ts";
import {
  aSubject,
  comeBack,
  type ServiceWithProvider,
  startServiceWithProvider,
  visitProvider,
} from "../../support/single-sign-on.ts";
import { startServiceForTest, startTestService, type TestService } from "../../support/test-service.ts";

let service: ServiceWithProvider;
let processes: TestService[];
beforeAll(async () => {
  service = await startServiceWithProvider();
  const databaseUrl = service.context.config.databaseUrl ?? "";
  const second = await startTestService({ databaseUrl, config: service.provider.config });
  processes = [service, second, service, second];
});
afterAll(async () => {
  await processes[1]?.close();
  await service.close();
});

/** Browsers with the cookies of one, each at another process than the one before. */
const copiesOf = ({ cookies }: Browser): Browser[] =>
  processes.map((process) => {
    const copy = openBrowser(process);
    for (const [name, value] of cookies) copy.cookies.set(name, value);
    return copy;
  });
const newBrowsers = () => copiesOf(openBrowser(service));

const enterPassword = (browser: Browser, { person }: PersonWithAllWays) =>
  browser.post("/auth/sign-in/password", { email: person.email, password: PASSWORD });

/** A proof, and what each browser sends with it. */
const PROOFS = {
  "a link": async ({ person }) => {
    const token = await linkToken(service, person, "sign-in");
    return newBrowsers().map((browser) => [browser, () => browser.post("/auth/sign-in/link", { token })]);
  },
  "an invitation": async ({ person }) => {
    const token = await linkToken(service, person, "invitation");
    return newBrowsers().map((browser) => [browser, () => browser.post("/auth/sign-in/link", { token })]);
  },
  "a one-time code": async (world) => {
    const code = totp(service, world.uri);
    const browsers = newBrowsers();
    for (const browser of browsers) await enterPassword(browser, world);
    return browsers.map((browser) => [browser, () => browser.post("/auth/sign-in/code", { code })]);
  },
  "a backup code": async (world) => {
    const body = { code: world.backupCodes[0], isBackupCode: true };
    const browsers = newBrowsers();
    for (const browser of browsers) await enterPassword(browser, world);
    return browsers.map((browser) => [browser, () => browser.post("/auth/sign-in/code", body)]);
  },
  "one right password and different codes": async (world) => {
    const browser = openBrowser(service);
    await enterPassword(browser, world);
    const codes = world.backupCodes.map((code) => ({ code, isBackupCode: true }));
    return copiesOf(browser).map((copy, at) => [copy, () => copy.post("/auth/sign-in/code", codes[at])]);
  },
  "a passkey": async ({ device }) => {
    const browser = openBrowser(service);
    const { challenge } = (await browser.post("/auth/sign-in/passkey-options")).body.options;
    const body = { response: usedPasskey({ challenge, device }) };
    return copiesOf(browser).map((copy) => [copy, () => copy.post("/auth/sign-in/passkey", body)]);
  },
  "a return from the identity provider": async ({ person }) => {
    service.provider.subject = aSubject(person.email);
    const browser = openBrowser(service);
    const target = await visitProvider(browser);
    return copiesOf(browser).map((copy) => [copy, () => comeBack(copy, target)]);
  },
} satisfies Record<
  string,
  (world: PersonWithAllWays) => Promise<(readonly [Browser, () => Promise<unknown>])[]>
>;

describe("of requests that reach two processes at the same time", () => {
  it.each(Object.entries(PROOFS))("with %s one signs in", async (_proof, prepare) => {
    const world = await createPersonWithAllWays(service);
    const prepared = await prepare(world);
    await Promise.all(prepared.map(([, send]) => send()));
    const answers = await Promise.all(prepared.map(([browser]) => browser.get("/api/me")));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    const path = `/api/people/${toTypeId("per", world.person.id)}/sessions`;
    expect((await service.backOffice.get(path)).body.data).toHaveLength(2);
  });

  it("with a link to set a password one sets it", async () => {
    const { email, id } = await createPerson(service);
    const token = await linkToken(service, { id }, "reset");
    const passwords = processes.map((_process, at) => `the password number ${at}`);
    const answers = await Promise.all(
      newBrowsers().map((browser, at) =>
        browser.post("/auth/reset/password", { token, password: passwords[at] }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([204, 401, 401, 401]);
    for (const [at, password] of passwords.entries()) {
      const { status } = await openBrowser(service).post("/auth/sign-in/password", { email, password });
      expect(status).toBe(statuses[at] === 204 ? 200 : 401);
    }
  });

  it("with an invitation to one address one is sent", async () => {
    const body = { name: "Twice", email: "twice@example.com", grants: [{ role: "support" }] };
    const answers = await Promise.all(
      processes.map(({ backOffice }) => backOffice.post("/api/people", body)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });
});

it("processes that start together make one first operator, and one link is valid", async () => {
  const first = await startServiceForTest();
  const second = await startServiceForTest({ databaseUrl: first.context.config.databaseUrl ?? "" });
  const starts = [first, second, first, second];
  const links = await Promise.all(
    starts.map(async ({ context }) => {
      await ensureFirstOperator(context);
      return firstOperatorLink(context);
    }),
  );
  expect(await countRows(first, "people")).toBe(1);
  const tokens = links.map((link) => link?.url.split("#token=")[1]);
  const statuses = [];
  for (const token of tokens)
    statuses.push((await openBrowser(second).post("/auth/sign-in/link", { token })).status);
  expect(statuses.sort()).toEqual([200, 401, 401, 401]);
});
