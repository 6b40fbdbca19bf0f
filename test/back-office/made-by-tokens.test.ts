import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import { createPartner, type Partner } from "../support/builders.ts";
import { linkToken, openBrowser } from "../support/people.ts";
import { type Answer, type Client, startTestService, type TestService } from "../support/test-service.ts";
import { tokenPath, tokensOf } from "../support/tokens.ts";

let test: TestService;
let partner: Partner;
let tokens: ReturnType<typeof tokensOf>;
beforeAll(async () => {
  test = await startTestService();
  tokens = tokensOf(test);
  partner = await createPartner(test);
});
afterAll(() => test.close());

const grant = () => ({ role: "merchant", merchantIds: [partner.merchantId] });
const full = () => ({ ...grant(), scopes: ["*"] });
const as = ({ body }: Answer): Client => test.backOfficeAs(body.token);
const revoke = (token: Answer, client: Client = test.backOffice) => client.post(tokenPath(token, "/revoke"));
const isValid = async (token: Answer): Promise<boolean> =>
  (await tokens.statusWith(token.body.token)) === 200;
const keysPath = () => `/api/connections/${partner.connectionId}/keys`;
const keyWorks = async (key: Answer): Promise<boolean> =>
  (await test.partner(key.body.key).get("/v1/me")).status === 200;

let guests = 0;
const invite = (client: Client, grants: object[] = [grant()]): Promise<Answer> => {
  guests += 1;
  return client.post("/api/people", { name: "Guest", email: `guest${guests}@example.com`, grants });
};
const person = async ({ body }: Answer) => (await test.backOffice.get(`/api/people/${body.id}`)).body;

describe("the revocation of a token", () => {
  it("ends the tokens that it made, and those that these made, and no others", async () => {
    const parent = await tokens.create(full());
    const child = await tokens.create(full(), as(parent));
    const grandchild = await tokens.create(full(), as(child));
    const sibling = await tokens.create(full(), as(parent));
    const stranger = await tokens.create(full());
    await revoke(child);
    const all = [parent, child, grandchild, sibling, stranger];
    expect(await Promise.all(all.map(isValid))).toEqual([true, false, false, true, true]);
    await revoke(parent);
    expect(await Promise.all(all.map(isValid))).toEqual([false, false, false, false, true]);
    const entry = (await test.backOffice.get(`/api/audit-entries?subjectId=${grandchild.body.id}`)).body
      .data[0];
    expect(entry).toMatchObject({ action: "revokeToken", details: { endedWith: child.body.id } });
  });

  it("ends the keys that it issued", async () => {
    const parent = await tokens.create(full());
    const child = await tokens.create(full(), as(parent));
    const keys = [await as(parent).post(keysPath(), {}), await as(child).post(keysPath(), { mode: "test" })];
    const others = [await test.backOffice.post(keysPath(), {})];
    expect(await Promise.all([...keys, ...others].map(keyWorks))).toEqual([true, true, true]);
    await revoke(parent);
    expect(await Promise.all([...keys, ...others].map(keyWorks))).toEqual([false, false, true]);
  });

  it("disables the people who have only what it gave, with their sessions and invitations", async () => {
    const parent = await tokens.create(full());
    const guest = await invite(as(parent));
    const browser = openBrowser(test);
    const id = fromTypeId("per", guest.body.id) ?? "";
    await browser.post("/auth/sign-in/link", { token: await linkToken(test, { id }, "invitation") });
    expect((await browser.get("/api/me")).status).toBe(200);
    const invited = await invite(as(parent));
    await revoke(parent);
    expect((await browser.get("/api/me")).status).toBe(401);
    expect([(await person(guest)).state, (await person(invited)).state]).toEqual(["disabled", "disabled"]);
  });

  it("takes what it gave from people who have more, and leaves what others gave", async () => {
    const other = await createPartner(test);
    const parent = await tokens.create(full());
    const guest = await invite(test.backOffice, [{ role: "partner", connectionIds: [partner.connectionId] }]);
    const path = `/api/people/${guest.body.id}/grants`;
    const before = await person(guest);
    const developer = { role: "partner", connectionIds: [partner.connectionId] };
    await as(parent).request("PUT", path, { body: { grants: [grant(), developer] } });
    expect((await person(guest)).grants).toHaveLength(2);
    await revoke(parent);
    expect((await person(guest)).grants).toEqual(before.grants);
    expect((await person(guest)).state).toBe("invited");
    // A person takes over what it sets itself.
    const second = await tokens.create({ ...full(), merchantIds: [partner.merchantId, other.merchantId] });
    await as(second).request("PUT", path, {
      body: { grants: [developer, { ...grant(), merchantIds: [other.merchantId] }] },
    });
    await test.backOffice.request("PUT", path, { body: { grants: [grant()] } });
    await revoke(second);
    expect(await person(guest)).toMatchObject({
      state: "invited",
      grants: [{ merchantIds: [partner.merchantId] }],
    });
  });

  it("is not escaped by a token that rotates itself, or another one", async () => {
    const stolen = await tokens.create(full());
    const rotated = await as(stolen).post(tokenPath(stolen, "/rotate"), {});
    const victim = await tokens.create(full());
    const taken = await as(rotated).post(tokenPath(victim, "/rotate"), {});
    expect([rotated.status, taken.status]).toEqual([201, 201]);
    await revoke(stolen);
    expect(await Promise.all([stolen, rotated, taken, victim].map(isValid))).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  it("is found by a token, key or person that is being made at the same time", async () => {
    const parent = await tokens.create(full());
    const answers = await Promise.all([
      tokens.send(full(), as(parent)),
      as(parent).post(keysPath(), {}),
      invite(as(parent)),
      revoke(parent),
      tokens.send(full(), as(parent)),
      as(parent).post(keysPath(), {}),
      invite(as(parent)),
    ]);
    for (const { status, body } of answers) {
      if (status !== 201) continue;
      if (body.token !== undefined) expect(await tokens.statusWith(body.token)).toBe(401);
      else if (body.key !== undefined) expect((await test.partner(body.key).get("/v1/me")).status).toBe(401);
      else expect((await test.backOffice.get(`/api/people/${body.id}`)).body.state).toBe("disabled");
    }
  });
});

describe("the expiry of a token", () => {
  it("is the latest one of what it makes, also of its own rotation", async () => {
    const parent = await tokens.create({ ...full(), expiresAt: tokens.inHours(10) });
    const latest = parent.body.expiresAt;
    const made = [
      await tokens.create(full(), as(parent)),
      await tokens.create({ ...full(), expiresAt: tokens.inHours(20) }, as(parent)),
      await as(parent).post(keysPath(), {}),
      await as(parent).post(tokenPath(parent, "/rotate"), { expiresAt: tokens.inHours(1_000) }),
    ];
    expect(made.map(({ body }) => body.expiresAt)).toEqual([latest, latest, latest, latest]);
    const earlier = await tokens.create({ ...full(), expiresAt: tokens.inHours(2) }, as(made[0] as Answer)); // Just made.
    expect(earlier.body.expiresAt).toBe(tokens.inHours(2));
  });

  it("lets it give no roles to people, whose roles do not expire", async () => {
    const parent = await tokens.create({ ...full(), expiresAt: tokens.inHours(10) });
    const { status, body } = await invite(as(parent));
    expect([status, body.code]).toEqual([403, "forbidden"]);
    expect(body.detail).toContain("without an expiry");
  });
});

describe("the rotation of a token", () => {
  it("keeps what the old one made, which then ends with the new one", async () => {
    const old = await tokens.create(full());
    const child = await tokens.create(full(), as(old));
    const key = await as(old).post(keysPath(), {});
    const guest = await invite(as(old));
    const renewed = await test.backOffice.post(tokenPath(old, "/rotate"), {});
    await revoke(old);
    expect([await isValid(child), await keyWorks(key), (await person(guest)).state]).toEqual([
      true,
      true,
      "invited",
    ]);
    await revoke(renewed);
    expect([await isValid(child), await keyWorks(key), (await person(guest)).state]).toEqual([
      false,
      false,
      "disabled",
    ]);
  });

  it("to an earlier expiry brings that of what it made forward", async () => {
    const old = await tokens.create(full());
    const child = await tokens.create(full(), as(old));
    const grandchild = await tokens.create(full(), as(child));
    const expiresAt = tokens.inHours(5);
    await test.backOffice.post(tokenPath(old, "/rotate"), { expiresAt });
    for (const token of [child, grandchild])
      expect((await test.backOffice.get(tokenPath(token))).body.expiresAt).toBe(expiresAt);
  });
});
