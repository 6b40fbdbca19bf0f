import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { OPERATOR_INVITATIONS_MAX } from "../../../src/people/invitation-limits.ts";
import { NO_UUID } from "../../../src/platform/ids.ts";
import { personOf } from "../../support/back-office-resources.ts";
import { createPartner, type Partner } from "../../support/builders.ts";
import { expectProblem } from "../../support/orders.ts";
import { type Answer, type Client, startTestService, type TestService } from "../../support/test-service.ts";

let test: TestService;
let partner: Partner;
let merchant: Client;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
  merchant = personOf(test, partner.merchantId);
});
afterAll(() => test.close());

const setMaximum = (invitationsPerDay: number | null, { merchantId } = partner) =>
  test.backOffice.request("PATCH", `/api/merchants/${merchantId}`, {
    body: { limits: { invitationsPerDay } },
  });
const ofMerchant = ({ merchantId } = partner) => ({ role: "merchant", merchantIds: [merchantId] });
const invite = (client: Client, grant: object = ofMerchant()): Promise<Answer> =>
  client.post("/api/people", {
    name: "Guest",
    email: `${test.context.newId()}@example.com`,
    grants: [grant],
  });
const resend = (client: Client, { body }: Answer): Promise<Answer> =>
  client.post(`/api/people/${body.id}/resend-invitation`);
const mailsTo = async ({ body }: Answer): Promise<number> => {
  const [row] = await test.db.query<{ count: number }>({
    name: "test-count-mails",
    text: "select count(*)::integer as count from outgoing_mails where recipient = $1",
    values: [body.email],
  });
  return row?.count ?? 0;
};

describe("an invitation", () => {
  it("is sent again three times in all, by merchant and operator, and no mail follows", async () => {
    const invited = await invite(merchant);
    for (const client of [merchant, test.backOffice, merchant])
      expect((await resend(client, invited)).status).toBe(200);
    for (const client of [merchant, test.backOffice])
      expectProblem(await resend(client, invited), 409, "limit-reached", {
        ...{ limit: "invitationResends", maximum: 3 },
      });
    test.clock.advance({ hours: 48 });
    expect((await resend(merchant, invited)).status).toBe(409);
    expect(await mailsTo(invited)).toBe(4);
    expect((await test.backOffice.post(`/api/people/${invited.body.id}/sign-in-link`)).status).toBe(201);
  });

  it("that is sent again at the same time is sent three times", async () => {
    const invited = await invite(merchant);
    const answers = await Promise.all(Array.from({ length: 8 }, () => resend(merchant, invited)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(await mailsTo(invited)).toBe(4);
  });
});

describe("the invitations of a merchant within a day", () => {
  it("have a limit over all its people and tokens, with those that are sent again, and a day later begin again", async () => {
    await setMaximum(3);
    const token = { name: "Inviter", ...ofMerchant(), scopes: ["*"] };
    const program = test.backOfficeAs((await test.backOffice.post("/api/tokens", token)).body.token);
    const first = await invite(merchant);
    expect([(await invite(program)).status, (await resend(merchant, first)).status]).toEqual([201, 200]);
    test.clock.advance({ hours: 1 });
    for (const refused of [await invite(merchant), await invite(program), await resend(program, first)]) {
      expectProblem(refused, 409, "limit-reached", { limit: "invitationsPerDay", maximum: 3 });
      expect(refused.headers["retry-after"]).toBe(String(23 * 3_600));
    }
    const { body } = await merchant.get(`/api/merchants/${partner.merchantId}/usage`);
    expect(body.invitationsPerDay).toEqual({ used: 3, maximum: 3, default: 100 });
    test.clock.advance({ hours: 23 });
    expect((await resend(merchant, first)).status).toBe(200);
  });

  it("are exact for ten requests at once", async () => {
    await setMaximum(4);
    const answers = await Promise.all(Array.from({ length: 10 }, () => invite(merchant)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(4);
  });

  it("do not count for another merchant or the operator, nor the operator's for the merchant", async () => {
    const other = await createPartner(test);
    await setMaximum(1);
    expect((await invite(merchant)).status).toBe(201);
    expect((await invite(personOf(test, other.merchantId), ofMerchant(other))).status).toBe(201);
    expect((await invite(test.backOffice)).status, "for the same merchant").toBe(201);
    await setMaximum(2);
    expect((await invite(merchant)).status).toBe(201);
  });

  it("count for each merchant of the person", async () => {
    const other = await createPartner(test);
    await setMaximum(1, other);
    const merchantIds = [partner.merchantId, other.merchantId];
    const both = { role: "merchant", merchantIds };
    const token = { name: "Both", ...both, scopes: ["*"] };
    const program = test.backOfficeAs((await test.backOffice.post("/api/tokens", token)).body.token);
    expect((await invite(program, both)).status).toBe(201);
    expectProblem(await invite(program, both), 409, "limit-reached", {
      limit: "invitationsPerDay",
      maximum: 1,
    });
    expect((await invite(program)).status).toBe(201);
  });
});

it("the invitations of operators have a limit of their own", async () => {
  await test.db.query({
    name: "test-set-invitation-count",
    text: `
      insert into invitation_counts (inviter_id, count, counted_from) values ($1, $2, $3)
      on conflict (inviter_id) do update set count = $2, counted_from = $3`,
    values: [NO_UUID, OPERATOR_INVITATIONS_MAX - 1, test.clock.now()],
  });
  const support = { role: "support" };
  expect((await invite(test.backOffice, support)).status).toBe(201);
  const refused = await invite(test.backOffice, support);
  expectProblem(refused, 409, "limit-reached", { limit: "invitations", maximum: OPERATOR_INVITATIONS_MAX });
  expect(refused.headers["retry-after"]).toBe(String(24 * 3_600));
  expect((await invite(merchant)).status).toBe(201);
});
