import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createPersonWithCodes, enterPassword, passCodes, totp } from "../../support/one-time-codes.ts";
import { openBrowser, PASSWORD, signIn } from "../../support/people.ts";
import { startTestService, type TestService } from "../../support/test-service.ts";

const [lostKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
/** The same database with its key, with another one, and with both. */
let [before, after, both]: TestService[] = [];
beforeAll(async () => {
  before = await startTestService({ secretKeys: [lostKey] });
  const databaseUrl = before.context.config.databaseUrl ?? "";
  after = await startTestService({ databaseUrl, secretKeys: [newKey] });
  both = await startTestService({ databaseUrl, secretKeys: [newKey, lostKey] });
});
afterAll(() => Promise.all([before, after, both].map((service) => service?.close())));

const started = (service: TestService | undefined): TestService => service as TestService; // beforeAll has started it.

const codesLost = { status: 409, body: { code: "person-state", state: "codes-lost" } };

describe("one-time codes whose key is lost", () => {
  it("sign in nowhere, and the problem says what to do instead", async () => {
    const { person, uri, backupCode } = await createPersonWithCodes(started(before));
    const browser = await enterPassword(started(after), person);
    const log = vi.spyOn(started(after).context.log, "error");
    for (const code of [{ code: totp(uri) }, { code: "000000" }, backupCode])
      expect(await browser.post("/auth/sign-in/code", code)).toMatchObject(codesLost);
    const { detail } = (await browser.post("/auth/sign-in/code", backupCode)).body;
    expect(detail).toContain("ask an operator for a link");
    expect((await browser.get("/auth/account")).status).toBe(401);
    expect(log.mock.calls[0]).toEqual([
      { person: { id: person.id } },
      "one-time codes of a person not decrypted",
    ]);
  });

  it("are not known to be lost without the password, and are limited as wrong ones", async () => {
    const { person } = await createPersonWithCodes(started(before));
    const service = started(after);
    const wrong = { email: person.email, password: "a wrong password" };
    expect((await openBrowser(service).post("/auth/sign-in/password", wrong)).status).toBe(401);
    const strange = await openBrowser(service).post("/auth/sign-in/code", { code: "000000" });
    expect(strange.status).toBe(401);
    const browser = await enterPassword(service, person);
    const statuses = [];
    for (let sent = 0; sent < 11; sent += 1)
      statuses.push((await browser.post("/auth/sign-in/code", { code: "000000" })).status);
    expect(statuses).toEqual([...Array(10).fill(409), 429]);
  });

  it("confirm nothing and cannot be renewed, but are removed and set up again after a link", async () => {
    const { person, uri, backupCode } = await createPersonWithCodes(started(before));
    const browser = await signIn(started(after), person);
    for (const code of [{ code: totp(uri) }, backupCode])
      expect(await browser.post("/auth/confirm", code)).toMatchObject(codesLost);
    const password = { password: PASSWORD };
    expect(await browser.post("/auth/second-factor/backup-codes", password)).toMatchObject(codesLost);
    expect(await browser.post("/auth/second-factor", password)).toMatchObject({
      status: 401,
      body: { detail: "One-time codes are set up already. Remove them first." },
    });
    expect((await browser.post("/auth/second-factor/remove", password)).status).toBe(204);
    const set = (await browser.post("/auth/second-factor", password)).body;
    expect((await browser.post("/auth/second-factor/verify", { code: totp(set.uri) })).status).toBe(204);
    await passCodes(started(after));
    const other = await enterPassword(started(after), person);
    expect((await other.post("/auth/sign-in/code", { code: totp(set.uri) })).status).toBe(200);
  });

  it("are still required when they are deleted, and neither renewed nor set up before they are removed", async () => {
    const { person, uri, backupCode } = await createPersonWithCodes(started(before));
    await started(after).db.query({
      name: "test-delete-codes",
      text: "delete from person_two_factors where person_id = $1",
      values: [person.id],
    });
    const browser = await enterPassword(started(after), person);
    for (const code of [{ code: totp(uri) }, backupCode])
      expect(await browser.post("/auth/sign-in/code", code)).toMatchObject(codesLost);
    await signIn(started(after), person, browser);
    const password = { password: PASSWORD };
    expect(await browser.post("/auth/confirm", { code: totp(uri) })).toMatchObject(codesLost);
    expect(await browser.post("/auth/second-factor/backup-codes", password)).toMatchObject(codesLost);
    expect((await browser.post("/auth/second-factor", password)).status).toBe(401);
    expect((await browser.post("/auth/second-factor", { password: "a wrong one" })).status).toBe(401);
    const { email } = person;
    expect(
      (await openBrowser(started(after)).post("/auth/sign-in/password", { email, ...password })).body,
    ).toEqual({ status: "code-required" });
    expect((await browser.post("/auth/second-factor/remove", password)).status).toBe(204);
    expect(
      (await openBrowser(started(after)).post("/auth/sign-in/password", { email, ...password })).body,
    ).toEqual({ status: "signed-in" });
  });

  it("are lost when they were changed, and those of others are not", async () => {
    const [one, other] = [
      await createPersonWithCodes(started(before)),
      await createPersonWithCodes(started(before)),
    ];
    await started(before).db.query({
      name: "test-spoil-codes",
      text: "update person_two_factors set secret = secret || '00', backup_codes = 'spoilt' where person_id = $1",
      values: [one.person.id],
    });
    const browser = await enterPassword(started(before), one.person);
    for (const code of [{ code: totp(one.uri) }, one.backupCode])
      expect(await browser.post("/auth/sign-in/code", code)).toMatchObject(codesLost);
    const sound = await enterPassword(started(before), other.person);
    expect((await sound.post("/auth/sign-in/code", { code: totp(other.uri) })).status).toBe(200);
  });

  it("sign in where the older key is configured too, and so do backup codes", async () => {
    const { person, uri, backupCode } = await createPersonWithCodes(started(before));
    for (const code of [{ code: totp(uri) }, backupCode]) {
      const browser = await enterPassword(started(both), person);
      expect((await browser.post("/auth/sign-in/code", code)).status).toBe(200);
    }
  });
});
