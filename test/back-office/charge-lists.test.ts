import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { personOf } from "../support/back-office-resources.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { processDuePayments, setCreditLimit } from "../support/payments.ts";
import { operationApplied } from "../support/real-orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

const get = async (path: string, client = test.backOffice) => {
  const { status, body } = await client.get(path);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const charges = (partner: Partner, query = "") => get(`/api/merchants/${partner.merchantId}/charges${query}`);
const place = async (partner: Partner): Promise<string> => {
  test.clock.advance({ seconds: 1 });
  return (await placeOrder(partner)).id;
};
const shown = ({ data }: { data: { orderId: string; kind: string; status: string }[] }): string[] =>
  data.map(({ orderId, kind, status }) => `${orderId} ${kind} ${status}`);

describe("GET /api/merchants/{id}/charges", () => {
  it("lists charges and refunds over all orders, the newest order first", async () => {
    const partner = await createPartner(test);
    const [first, second] = [await place(partner), await place(partner)];
    await processDuePayments(test);
    await operationApplied(test, first, "cancel");
    await processDuePayments(test);
    const third = await place(partner);
    const page = await charges(partner);
    expect(shown(page)).toEqual([
      `${third} goods pending`,
      `${second} goods succeeded`,
      `${first} refund succeeded`,
      `${first} goods succeeded`,
    ]);
    expect(page.nextCursor).toBeNull();
    const [, charge] = page.data;
    expect(await get(`/api/charges/${charge.id}`)).toEqual({ ...charge, externalOrderId: undefined });
  });

  it("is filtered by kind, status and the time of the order, and paged within an order", async () => {
    const partner = await createPartner(test);
    const first = await place(partner);
    await processDuePayments(test);
    await operationApplied(test, first, "cancel");
    test.clock.advance({ seconds: 1 });
    const since = test.clock.now().toISOString();
    const second = await place(partner);
    expect(shown(await charges(partner, "?kind=refund"))).toEqual([`${first} refund pending`]);
    expect(shown(await charges(partner, "?status=succeeded"))).toEqual([`${first} goods succeeded`]);
    expect(shown(await charges(partner, `?since=${since}`))).toEqual([`${second} goods pending`]);
    expect(shown(await charges(partner, `?until=${since}`))).toHaveLength(2);
    const pages: string[] = [];
    for (let cursor = ""; ; ) {
      const page = await charges(partner, `?limit=1${cursor}`);
      expect(page.data.length).toBeLessThanOrEqual(1);
      pages.push(...shown(page));
      if (page.nextCursor === null) break;
      cursor = `&cursor=${page.nextCursor}`;
    }
    expect(pages).toEqual(shown(await charges(partner)));
  });

  it.each(["?kind=gift", "?status=declined", "?since=yesterday", "?cursor=x", "?limit=101"])(
    "rejects %s",
    async (query) => {
      const { merchantId } = await createPartner(test);
      expect((await test.backOffice.get(`/api/merchants/${merchantId}/charges${query}`)).status).toBe(422);
    },
  );

  it("rejects the cursor of another list, and hides another merchant", async () => {
    const [own, other] = [await createPartner(test), await createPartner(test)];
    await place(own);
    await place(own);
    const { nextCursor } = await get(`/api/orders?limit=1&merchantId=${own.merchantId}`);
    const path = `/api/merchants/${own.merchantId}/charges`;
    expect((await test.backOffice.get(`${path}?cursor=${nextCursor}`)).status).toBe(422);
    expect((await personOf(test, other.merchantId).get(path)).status).toBe(404);
    expect((await get(path, personOf(test, own.merchantId))).data).toHaveLength(2);
  });
});

describe("GET /api/payment-failures", () => {
  const failures = async (partner: Partner, client = test.backOffice) =>
    (await get(`/api/payment-failures?merchantId=${partner.merchantId}`, client)).data;

  it("lists a declined payment with its reason and remedy, until it is paid", async () => {
    const partner = await createPartner(test);
    await setCreditLimit(test, partner, 0n);
    const [first, second] = [await place(partner), await place(partner)];
    expect(await failures(partner)).toEqual([]);
    await processDuePayments(test);
    const open = await failures(partner);
    expect(open).toMatchObject([{ orderId: second }, { orderId: first }]);
    expect(open[1]).toMatchObject({
      merchantId: partner.merchantId,
      connectionId: partner.connectionId,
      amount: { amount: expect.any(String), currency: "EUR" },
      reason: "credit_limit_exceeded",
      gateway: "account",
      remedy: "pay_account",
      stopsOrder: true,
      attempt: 1,
      nextAttemptAt: expect.any(String),
      failedAt: test.clock.now().toISOString(),
    });
    await operationApplied(test, second, "cancel");
    expect(await failures(partner)).toMatchObject([{ orderId: first }]);
    const amount = { amount: "1000.00", currency: "EUR" };
    const path = `/api/merchants/${partner.merchantId}/account/payments`;
    await test.backOffice.post(path, { amount, reference: "bank-1" });
    await processDuePayments(test);
    expect(await failures(partner)).toEqual([]);
  });

  it("shows a merchant its own only, and pages over all merchants", async () => {
    const [own, other] = [await createPartner(test), await createPartner(test)];
    const ids: string[] = [];
    for (const partner of [own, other]) {
      await setCreditLimit(test, partner, 0n);
      ids.push(await place(partner));
    }
    await processDuePayments(test);
    const client = personOf(test, own.merchantId);
    expect((await get("/api/payment-failures", client)).data).toMatchObject([{ orderId: ids[0] }]);
    expect(await failures(other, client)).toEqual([]);
    const first = await get("/api/payment-failures?limit=1");
    expect(first.data).toMatchObject([{ orderId: ids[1] }]);
    const next = await get(`/api/payment-failures?limit=1&cursor=${first.nextCursor}`);
    expect(next.data).toMatchObject([{ orderId: ids[0] }]);
    expect((await test.backOffice.get("/api/payment-failures?merchantId=x")).status).toBe(422);
  });
});

describe("a recorded payment", () => {
  it("names who recorded it, in the account and the statement; a charge names no person", async () => {
    const partner = await createPartner(test);
    await place(partner);
    await processDuePayments(test);
    const path = `/api/merchants/${partner.merchantId}/account`;
    const { body: token } = await test.backOffice.post("/api/tokens", {
      name: "Bank import",
      role: "operator",
      scopes: ["money:read", "money:write"],
    });
    const recorded = { kind: "operator", name: "Bank import", id: token.id };
    const payment = { amount: { amount: "5.00", currency: "EUR" }, reference: "bank-2" };
    const first = await test.backOfficeAs(token.token).post(`${path}/payments`, payment);
    expect(first.body.recordedBy).toEqual(recorded);
    const again = await test.backOffice.post(`${path}/payments`, payment);
    expect([again.status, again.body.recordedBy], "who was first").toEqual([200, recorded]);
    const { data } = await get(`${path}/entries`);
    expect(data).toMatchObject([
      { kind: "payment", recordedBy: recorded },
      { kind: "charge", recordedBy: null },
    ]);
    const from = new Date(test.clock.now().getTime() - 3_600_000).toISOString();
    test.clock.advance({ seconds: 1 });
    const to = test.clock.now().toISOString();
    const statement = await get(`/api/merchants/${partner.merchantId}/statement?from=${from}&to=${to}`);
    expect(JSON.stringify(statement)).toContain('"name":"Bank import"');
  });
});
