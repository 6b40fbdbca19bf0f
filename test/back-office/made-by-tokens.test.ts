import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import { createPartner, type Partner } from "../support/builders.ts";
import { createFacility } from "../support/facilities.ts";
import { runJob } from "../support/jobs.ts";
import { expectProblem } from "../support/orders.ts";
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
    const answer = await invite(as(parent));
    expectProblem(answer, 403, "token-expires", { replacedBy: null });
    expect(answer.body.detail).toContain("Create a token without an expiry");
  });

  it("ends the roles that it gave before it was rotated to one that expires", async () => {
    const old = await tokens.create(full());
    const guest = await invite(as(old));
    const renewed = await test.backOffice.post(tokenPath(old, "/rotate"), { expiresAt: tokens.inHours(5) });
    expect(renewed.status).toBe(201);
    await runJob(test, "end-with-tokens");
    expect((await person(guest)).state).toBe("invited");
    test.clock.advance({ hours: 5 });
    await runJob(test, "end-with-tokens");
    expect((await person(guest)).state).toBe("disabled");
    // Its roles are now those of the person who enables it.
    await test.backOffice.post(`/api/people/${guest.body.id}/enable`);
    expect(await runJob(test, "end-with-tokens")).toBe(0);
    expect((await person(guest)).state).toBe("invited");
  });
});

describe("a token that was rotated", () => {
  it("says which token may give roles to people", async () => {
    const old = await tokens.create(full());
    const renewed = await test.backOffice.post(tokenPath(old, "/rotate"), {});
    const answer = await invite(as(old));
    expectProblem(answer, 403, "token-expires", { replacedBy: renewed.body.id });
    expect(answer.body.detail).toContain("Use the token that replaced it");
    expect((await invite(as(renewed))).status).toBe(201);
  });
});

describe("what a token gives to a person who has roles of others", () => {
  let other: Partner;
  beforeAll(async () => {
    other = await createPartner(test);
  });
  const ofBoth = () => tokens.create({ ...full(), merchantIds: [partner.merchantId, other.merchantId] });
  const setGrants = async (client: Client, guest: Answer, grants: object[]): Promise<void> => {
    const path = `/api/people/${guest.body.id}/grants`;
    expect((await client.request("PUT", path, { body: { grants } })).status).toBe(200);
  };
  const grantsOf = async (guest: Answer) => (await person(guest)).grants;
  const merchants = (...merchantIds: string[]) => ({ role: "merchant", merchantIds });

  it("ends alone: a wider role is then what it was", async () => {
    const token = await ofBoth();
    const guest = await invite(test.backOffice, [merchants(partner.merchantId)]);
    await setGrants(as(token), guest, [merchants(partner.merchantId, other.merchantId)]);
    expect(await grantsOf(guest)).toMatchObject([merchants(partner.merchantId, other.merchantId)]);
    await revoke(token);
    expect(await person(guest)).toMatchObject({ state: "invited", grants: [merchants(partner.merchantId)] });
  });

  it("ends alone, also if the token has given the same role in several requests, in any order", async () => {
    const token = await ofBoth();
    const guest = await invite(test.backOffice, [{ role: "partner", connectionIds: [partner.connectionId] }]);
    const both = { role: "partner", connectionIds: [other.connectionId, partner.connectionId] };
    await setGrants(as(token), guest, [both, merchants(partner.merchantId)]);
    await setGrants(as(token), guest, [merchants(partner.merchantId, other.merchantId), both]);
    expect(await grantsOf(guest)).toHaveLength(2);
    await revoke(token);
    expect(await grantsOf(guest)).toMatchObject([{ role: "partner", connectionIds: [partner.connectionId] }]);
  });

  it("ends alone with the facilities of a warehouse, named or all", async () => {
    const [one, two] = [await createFacility(test), await createFacility(test)];
    const operator = await tokens.create({ role: "operator", scopes: ["*"] });
    const at = (...facilityIds: string[]) => ({ role: "warehouse", facilityIds });
    const guest = await invite(test.backOffice, [at(one)]);
    await setGrants(as(operator), guest, [at(two, one)]);
    await setGrants(as(operator), guest, [{ role: "warehouse" }, { role: "support" }]);
    expect(await grantsOf(guest)).toMatchObject([{ role: "support" }, { role: "warehouse" }]);
    await revoke(operator);
    expect(await grantsOf(guest)).toMatchObject([at(one)]);
  });

  it("is not what the token left, or took away", async () => {
    const token = await ofBoth();
    const guest = await invite(test.backOffice, [merchants(partner.merchantId, other.merchantId)]);
    await setGrants(as(token), guest, [merchants(other.merchantId)]);
    await revoke(token);
    expect(await person(guest)).toMatchObject({ state: "invited", grants: [merchants(other.merchantId)] });
  });

  it("stays if a person sets it too, also unchanged", async () => {
    const token = await ofBoth();
    const guest = await invite(as(token), [merchants(partner.merchantId)]);
    await setGrants(test.backOffice, guest, [merchants(partner.merchantId)]);
    await revoke(token);
    expect(await person(guest)).toMatchObject({ state: "invited", grants: [merchants(partner.merchantId)] });
  });

  it("is no way to sign in as the person: a token does not change that", async () => {
    const operator = await tokens.create({ role: "operator", scopes: ["*"] });
    const [guest, own] = [await invite(test.backOffice), await invite(as(operator))];
    const steps = (id: string, email: string) => [
      () => as(operator).request("PATCH", `/api/people/${id}`, { body: { email } }),
      () => as(operator).post(`/api/people/${id}/sign-in-link`),
      async () => {
        await test.backOffice.post(`/api/people/${id}/disable`);
        return as(operator).post(`/api/people/${id}/enable`);
      },
    ];
    for (const step of steps(guest.body.id, "thief@example.com"))
      expectProblem(await step(), 403, "forbidden");
    for (const step of steps(own.body.id, "own@example.com")) expect((await step()).status).toBeLessThan(300);
    const path = `/api/people/${guest.body.id}`;
    expect((await as(operator).request("PATCH", path, { body: { name: "Renamed" } })).status).toBe(200);
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
