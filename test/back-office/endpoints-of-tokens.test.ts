import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { byService } from "../../src/audit/record-audit.ts";
import { revokeToken } from "../../src/people/tokens.ts";
import { created, createPartner, type Partner } from "../support/builders.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { createFacility } from "../support/facilities.ts";
import { runJob } from "../support/jobs.ts";
import { expectProblem } from "../support/orders.ts";
import { linkToken, openBrowser } from "../support/people.ts";
import type { Receiver } from "../support/receivers.ts";
import { type Answer, type Client, startTestService, type TestService } from "../support/test-service.ts";
import { tokenPath, tokensOf } from "../support/tokens.ts";
import { uuidIn } from "../support/webhooks.ts";

// docs/design/people.md, "What a token makes": the endpoints.

let test: TestService;
let partner: Partner;
let facilityId: string;
let tokens: ReturnType<typeof tokensOf>;
let person: Client;
beforeAll(async () => {
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true } });
  tokens = tokensOf(test);
  partner = await createPartner(test);
  facilityId = await createFacility(test);
  person = test.backOfficeFor({
    kind: "merchant",
    merchantIds: [uuidIn("mer", partner.merchantId)],
    name: "Mia",
  });
});
afterAll(() => test.close());

const url = "https://1.1.1.1/hooks";
const ofMerchant = () => ({ role: "merchant", merchantIds: [partner.merchantId], scopes: ["*"] });
const createToken = (fields: object = {}): Promise<Answer> => tokens.create({ ...ofMerchant(), ...fields });
const as = ({ body }: Answer): Client => test.backOfficeAs(body.token);
const revoke = (token: Answer): Promise<Answer> => test.backOffice.post(tokenPath(token, "/revoke"));
const ofConnection = () => `/api/connections/${partner.connectionId}/webhook-endpoints`;
const createdBy = (client: Client, fields: object = {}, path = ofConnection()): Promise<Answer["body"]> =>
  created(client.post(path, { url, ...fields }));
const patch = (client: Client, id: string, body: object): Promise<Answer> =>
  client.request("PATCH", `${ofConnection()}/${id}`, { body });
const read = async (id: string, client = person): Promise<Answer["body"]> =>
  (await client.get(`${ofConnection()}/${id}`)).body;
const ping = (id: string): Promise<Answer> => person.post(`${ofConnection()}/${id}/ping`);
const resume = (client: Client, id: string): Promise<Answer> => client.post(`${ofConnection()}/${id}/resume`);
const PAUSED = { status: "paused", pauseReason: "access-ended", health: "paused" };
const ACTIVE = { status: "active", pauseReason: null };

const ofToken = ({ body }: Answer, part: string) => ({ part, tokenId: body.id, tokenName: body.name });

describe("the revocation of a token", () => {
  it("stops at once what the endpoints that it made receive, and leaves those of others", async () => {
    const receiver: Receiver = await startReceiverForTest();
    const token = await createToken({ name: "Shop" });
    const made = await createdBy(as(token), { url: receiver.url });
    const other = await createdBy(person, { url: receiver.url });
    expect(made.madeByTokens).toMatchObject([ofToken(token, "address"), ofToken(token, "secret")]);
    expect(other.madeByTokens).toEqual([]);
    const dispatcher = startDispatcher(test);
    for (const { id } of [made, other]) expect((await ping(id)).status).toBe(202);
    await revoke(token);
    await sendDue(dispatcher);
    await receiver.waitFor(1);
    expect(receiver.requests.map(({ body }) => JSON.parse(body).data.endpoint.id)).toEqual([other.id]);
    expect(await read(made.id)).toMatchObject({
      ...PAUSED,
      madeByTokens: [ofToken(token, "address"), ofToken(token, "secret")],
    });
    expectProblem(await ping(made.id), 409, "endpoint-paused");
    expect(await read(other.id)).toMatchObject(ACTIVE);
    const [entry] = (await test.backOffice.get(`/api/audit-entries?subjectId=${made.id}`)).body.data;
    expect(entry).toMatchObject({
      action: "pauseEndedEndpoint",
      details: { tokenIds: token.body.id, tokens: "Shop" },
    });
    const [mail] = await test.db.query<{ subject: string; body: string }>({
      name: "test-read-newest-mail",
      text: "select subject, body from outgoing_mails order by id desc limit 1",
      values: [],
    });
    expect(mail?.subject).toContain("A webhook endpoint was paused");
    expect(mail?.body).toContain("Shop");
    // What waited is sent once a person has taken the endpoint over.
    expect(await resume(person, made.id)).toMatchObject({
      status: 200,
      body: { ...ACTIVE, madeByTokens: [] },
    });
    await runJob(test, "resend-deliveries");
    await sendDue(dispatcher);
    expect(await receiver.waitFor(2)).toHaveLength(2);
    await runJob(test, "end-with-tokens");
    expect(await read(made.id)).toMatchObject(ACTIVE);
  });

  it.each([
    ["a merchant", () => `/api/merchants/${partner.merchantId}/webhook-endpoints`, {}],
    [
      "a facility",
      () => `/api/facilities/${facilityId}/webhook-endpoints`,
      { role: "warehouse", merchantIds: undefined },
    ],
  ])("pauses the endpoints of %s", async (_, pathOf, fields) => {
    const token = await createToken(fields);
    const made = await createdBy(as(token), {}, pathOf());
    await revoke(token);
    expect((await test.backOffice.get(`${pathOf()}/${made.id}`)).body).toMatchObject(PAUSED);
  });

  it("pauses what the tokens that it made have set up, and the keys that it issued", async () => {
    const token = await createToken();
    const child = await tokens.create(ofMerchant(), as(token));
    const key = await as(token).post(`/api/connections/${partner.connectionId}/keys`, {});
    const byChild = await createdBy(as(child));
    const byKey = await created(test.partner(key.body.key).post("/v1/webhook-endpoints", { url }));
    const byOwnKey = await created(partner.client.post("/v1/webhook-endpoints", { url }));
    await revoke(token);
    expect(await read(byChild.id)).toMatchObject({
      ...PAUSED,
      madeByTokens: [ofToken(child, "address"), {}],
    });
    expect(await read(byKey.id)).toMatchObject({ ...PAUSED, madeByTokens: [ofToken(token, "address"), {}] });
    expect(await read(byOwnKey.id)).toMatchObject(ACTIVE);
    // The partner sees the reason, and resumes with a key that is valid.
    const path = `/v1/webhook-endpoints/${byKey.id}`;
    const shown = (await partner.client.get(path)).body;
    expect(shown).toMatchObject({ status: "paused", pauseReason: "access-ended" });
    expect(JSON.stringify(shown)).not.toContain(token.body.id);
    expect((await partner.client.post(`${path}/resume`)).body.status).toBe("active");
  });

  it("pauses the endpoint of a person to which it gave another address, or another secret", async () => {
    const token = await createToken();
    const [moved, resigned, renamed, untouched] = [
      await createdBy(person),
      await createdBy(person),
      await createdBy(person),
      await createdBy(person),
    ];
    await patch(as(token), moved.id, { url: "https://1.1.1.1/elsewhere" });
    await as(token).post(`${ofConnection()}/${resigned.id}/rotate-secret`, {});
    await patch(as(token), renamed.id, { url, description: "renamed" });
    expect((await read(moved.id)).madeByTokens).toMatchObject([ofToken(token, "address")]);
    expect((await read(resigned.id)).madeByTokens).toMatchObject([ofToken(token, "secret")]);
    await revoke(token);
    expect(await read(moved.id)).toMatchObject(PAUSED);
    expect(await read(resigned.id)).toMatchObject(PAUSED);
    expect(await read(renamed.id)).toMatchObject(ACTIVE);
    expect(await read(untouched.id)).toMatchObject(ACTIVE);
  });

  it("leaves an endpoint whose address and secret a person has set since, also to the same address", async () => {
    const token = await createToken();
    const [kept, half] = [await createdBy(as(token)), await createdBy(as(token))];
    for (const { id } of [kept, half]) await person.post(`${ofConnection()}/${id}/rotate-secret`, {});
    expect((await read(half.id)).madeByTokens).toMatchObject([ofToken(token, "address")]);
    expect((await patch(person, kept.id, { url })).body.madeByTokens).toEqual([]);
    await patch(as(token), kept.id, { url }); // A token confirms nothing.
    await revoke(token);
    expect(await read(kept.id)).toMatchObject(ACTIVE);
    expect(await read(half.id)).toMatchObject(PAUSED);
  });

  it("finds an endpoint that is being made, or changed, at the same time", async () => {
    const token = await createToken();
    const own = await createdBy(person);
    const answers = await Promise.all([
      as(token).post(ofConnection(), { url }),
      patch(as(token), own.id, { url: "https://1.1.1.1/stolen" }),
      revoke(token),
      as(token).post(ofConnection(), { url }),
      as(token).post(ofConnection(), { url }),
    ]);
    await runJob(test, "end-with-tokens"); // As a second later.
    for (const { status, body } of answers)
      if (status === 201) expect(await read(body.id)).toMatchObject(PAUSED);
    const moved = await read(own.id);
    expect(moved.status).toBe(moved.url.endsWith("stolen") ? "paused" : "active");
  });

  it("pauses endpoints also if the process ends between the revocation and the pause", async () => {
    const token = await createToken();
    const made = await createdBy(as(token));
    await revokeToken(test.context, uuidIn("tok", token.body.id), byService("revokeToken"));
    expect(await read(made.id)).toMatchObject(ACTIVE);
    await runJob(test, "end-with-tokens");
    expect(await read(made.id)).toMatchObject(PAUSED);
  });
});

describe("an endpoint that was paused because its token has ended", () => {
  async function endedEndpoint(): Promise<string> {
    const token = await createToken();
    const { id } = await createdBy(as(token));
    await revoke(token);
    return id;
  }

  it("is resumed, or recovered, only by callers who may make endpoints", async () => {
    const id = await endedEndpoint();
    const sender = await createToken({ scopes: ["deliveries:write", "endpoints:read"] });
    const since = test.clock.now().toISOString();
    for (const answer of [
      await resume(as(sender), id),
      await as(sender).post(`${ofConnection()}/${id}/recover`, { since }),
    ]) {
      expectProblem(answer, 403, "scope-required", { scope: "endpoints:write" });
    }
    expect(await read(id)).toMatchObject(PAUSED);
    const maker = await createToken({ scopes: ["deliveries:write", "endpoints:write"] });
    expect((await resume(as(maker), id)).body).toMatchObject({
      ...ACTIVE,
      madeByTokens: [ofToken(maker, "address"), ofToken(maker, "secret")],
    });
    await revoke(maker);
    expect(await read(id)).toMatchObject(PAUSED);
  });

  it("asks a person for recent authentication, as a new address does", async () => {
    const id = await endedEndpoint();
    const guest = await created(
      test.backOffice.post("/api/people", {
        name: "Mia",
        email: "mia@example.com",
        grants: [{ role: "merchant", merchantIds: [partner.merchantId] }],
      }),
    );
    const browser = openBrowser(test);
    const link = await linkToken(test, { id: uuidIn("per", guest.id) }, "invitation");
    await browser.post("/auth/sign-in/link", { token: link });
    test.clock.advance({ minutes: 16 });
    const path = `${ofConnection()}/${id}/resume`;
    expectProblem(await browser.post(path), 403, "recent-authentication-required");
    expect(await read(id)).toMatchObject(PAUSED);
  });

  it("says so also if it was paused for another reason before", async () => {
    const token = await createToken();
    const { id } = await createdBy(as(token));
    await person.post(`${ofConnection()}/${id}/pause`);
    await revoke(token);
    expect(await read(id)).toMatchObject(PAUSED);
    const sender = await createToken({ scopes: ["deliveries:write"] });
    expectProblem(await resume(as(sender), id), 403, "scope-required", { scope: "endpoints:write" });
  });

  it("shows the role partner no name of a token", async () => {
    const id = await endedEndpoint();
    const developer = test.backOfficeFor({
      grants: [
        {
          role: "partner",
          connections: [
            {
              merchantId: uuidIn("mer", partner.merchantId),
              connectionId: uuidIn("con", partner.connectionId),
            },
          ],
        },
      ],
      name: "Dev",
    });
    expect(await read(id, developer)).toMatchObject({
      ...PAUSED,
      madeByTokens: [{ tokenName: null }, { tokenName: null }],
    });
  });
});

describe("the expiry of a token", () => {
  it("pauses the endpoints that it made", async () => {
    const token = await createToken({ expiresAt: tokens.inHours(1) });
    const made = await createdBy(as(token));
    expect(made.madeByTokens[0].endsAt).toBe(token.body.expiresAt);
    await runJob(test, "end-with-tokens");
    expect(await read(made.id)).toMatchObject(ACTIVE);
    test.clock.advance({ hours: 1 });
    expect(await runJob(test, "end-with-tokens")).toBe(1);
    expect(await read(made.id)).toMatchObject(PAUSED);
    expect(await runJob(test, "end-with-tokens")).toBe(0);
  });

  it("counts before a worker has paused the endpoint: a token that may only resume does not keep it", async () => {
    const token = await createToken({ expiresAt: tokens.inHours(1) });
    const made = await createdBy(as(token));
    await person.post(`${ofConnection()}/${made.id}/pause`);
    test.clock.advance({ hours: 1 });
    const sender = await createToken({ scopes: ["deliveries:write"] });
    expectProblem(await resume(as(sender), made.id), 403, "scope-required", { scope: "endpoints:write" });
  });
});

describe("the rotation of a token", () => {
  it("keeps the endpoints that the old one made, which then end with the new one", async () => {
    const old = await createToken({ expiresAt: tokens.inHours(10) });
    const made = await createdBy(as(old));
    const renewed = await test.backOffice.post(tokenPath(old, "/rotate"), { overlapHours: 0 });
    await runJob(test, "end-with-tokens");
    expect(await read(made.id)).toMatchObject({
      ...ACTIVE,
      madeByTokens: [{ ...ofToken(renewed, "address"), endsAt: renewed.body.expiresAt }, {}],
    });
    await revoke(renewed);
    expect(await read(made.id)).toMatchObject(PAUSED);
  });

  it("to an earlier expiry brings the ends of what its tokens made forward, of keys and of endpoints", async () => {
    const old = await createToken();
    const child = await tokens.create(ofMerchant(), as(old));
    const key = await as(child).post(`/api/connections/${partner.connectionId}/keys`, {});
    const made = await createdBy(as(child));
    const expiresAt = tokens.inHours(5);
    await test.backOffice.post(tokenPath(old, "/rotate"), { expiresAt });
    expect((await test.backOffice.get(`/api/keys/${key.body.id}`)).body.expiresAt).toBe(expiresAt);
    expect((await read(made.id)).madeByTokens).toMatchObject([{ endsAt: expiresAt }, { endsAt: expiresAt }]);
  });
});
