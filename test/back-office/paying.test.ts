import { beforeAll, describe, expect, it } from "vitest";
import { personOf } from "../support/back-office-resources.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { withoutItsOwn } from "../support/orders.ts";
import { moves, payIn, processDuePayments, setCreditLimit } from "../support/payments.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService({ config: { paymentRetryMs: [3_600_000] } });
  return () => test.close();
});

const eur = (amount: string) => ({ amount, currency: "EUR" });
const accountOf = async ({ merchantId }: Partner) => {
  const { status, body } = await personOf(test, merchantId).get(`/api/merchants/${merchantId}/account`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const setBank = (fields: object, currency = "EUR"): Promise<Answer> =>
  test.backOffice.request("PUT", `/api/bank-details/${currency}`, {
    body: { accountHolder: "Fulfilment Ltd", accountNumber: "DE75 5121 0800 1245 1261 99", ...fields },
  });

/** A merchant that may owe 15.00 EUR, with an order of 10.00 EUR that was paid and two that were declined. */
async function indebted(): Promise<{ partner: Partner; declined: string[] }> {
  const partner = await createPartner(test);
  await setCreditLimit(test, partner, 1_500n);
  await placeOrder(partner);
  const { id: one } = await placeOrder(partner);
  const { id: other } = await placeOrder(partner);
  await processDuePayments(test);
  return { partner, declined: [one, other] };
}

describe("GET /api/merchants/{id}/account", () => {
  it("tells what is owed, what was declined, and what must be paid so that all of it fits", async () => {
    const { partner } = await indebted();
    expect(await accountOf(partner)).toMatchObject({
      balance: eur("-10.00"),
      available: eur("5.00"),
      gateway: "account",
      owed: eur("30.00"),
      declined: { count: 2, amount: eur("20.00"), toPay: eur("15.00") },
      paymentReference: partner.merchantId,
    });
    await payIn(test, partner, "15.00");
    await processDuePayments(test);
    expect(await accountOf(partner)).toMatchObject({
      owed: eur("15.00"),
      declined: { count: 0, amount: eur("0.00"), toPay: eur("0.00") },
    });
  });

  it("tells where to pay in the currency of the merchant, as soon as the operator has set it", async () => {
    const partner = await createPartner(test);
    await test.backOffice.request("DELETE", "/api/bank-details/EUR");
    expect((await accountOf(partner)).bankDetails).toBeNull();
    expect((await setBank({ bankName: "Bank", bankCode: null }, "GBP")).status).toBe(200);
    expect((await accountOf(partner)).bankDetails).toBeNull();
    expect((await setBank({ bankCode: "SOGEDEFF" })).status).toBe(200);
    expect((await accountOf(partner)).bankDetails).toEqual({
      id: expect.stringMatching(/^bank_/),
      currency: "EUR",
      accountHolder: "Fulfilment Ltd",
      accountNumber: "DE75512108001245126199",
      bankCode: "SOGEDEFF",
      bankName: null,
      note: null,
      updatedAt: test.clock.now().toISOString(),
    });
  });
});

describe("PUT /api/bank-details/{currency}", () => {
  it("finds a wrong character of an IBAN, and takes any other number as it is", async () => {
    const wrong = await setBank({ accountNumber: "DE75512108001245126198" });
    expect(wrong.status).toBe(422);
    expect(wrong.body.errors).toMatchObject([{ pointer: "/accountNumber", rule: "iban" }]);
    const { body } = await setBank({ accountNumber: "0123 456" }, "USD");
    expect(body.accountNumber).toBe("0123 456");
    expect((await setBank({}, "XXX")).status).toBe(404);
    const { body: list } = await test.backOffice.get("/api/bank-details");
    expect(list.data.map(({ currency }: { currency: string }) => currency)).toContain("USD");
  });

  it("needs a holder and a number that are more than spaces", async () => {
    const blank = await setBank({ accountHolder: " ", accountNumber: " \u00a0 " });
    expect(blank.status).toBe(422);
    expect(blank.body.errors).toMatchObject([
      { pointer: "/accountHolder", rule: "blank" },
      { pointer: "/accountNumber", rule: "blank" },
    ]);
  });

  it("is for the operator only", async () => {
    const { merchantId } = await createPartner(test);
    const merchant = personOf(test, merchantId);
    const body = { accountHolder: "Thief", accountNumber: "1" };
    expect((await merchant.request("PUT", "/api/bank-details/EUR", { body })).status).toBe(403);
    expect((await merchant.get("/api/bank-details")).status).toBe(403);
  });
});

describe("GET /api/payment-failures/by-merchant", () => {
  it("has a row for each merchant with its number and sum, and of no other merchant for its people", async () => {
    const { partner } = await indebted();
    const { partner: other } = await indebted();
    const { body } = await test.backOffice.get("/api/payment-failures/by-merchant");
    const ids = body.data.map(({ merchantId }: { merchantId: string }) => merchantId);
    expect(ids).toEqual(expect.arrayContaining([partner.merchantId, other.merchantId]));
    const own = await personOf(test, partner.merchantId).get("/api/payment-failures/by-merchant");
    expect(own.body.data).toEqual([
      {
        merchantId: partner.merchantId,
        merchantName: "Merchant",
        gateway: "account",
        remedy: "pay_account",
        count: 2,
        amount: eur("20.00"),
        oldestAt: test.clock.now().toISOString(),
        nextAttemptAt: new Date(test.clock.now().getTime() + 3_600_000).toISOString(),
      },
    ]);
  });

  it("continues on a further page", async () => {
    await indebted();
    await indebted();
    const first = await test.backOffice.get("/api/payment-failures/by-merchant?limit=1");
    const path = `/api/payment-failures/by-merchant?limit=1&cursor=${first.body.nextCursor}`;
    const [one] = first.body.data;
    const [next] = (await test.backOffice.get(path)).body.data;
    expect(next.merchantId > one.merchantId).toBe(true);
  });
});

describe("POST /api/merchants/{id}/retry-payments", () => {
  it("attempts all declined charges of the merchant again", async () => {
    const { partner, declined } = await indebted();
    await setCreditLimit(test, partner, 10_000n); // Without the request of the operator, which would retry them as well.
    const path = `/api/merchants/${partner.merchantId}/retry-payments`;
    expect((await personOf(test, partner.merchantId).post(path, undefined)).status).toBe(202);
    await processDuePayments(test);
    for (const id of declined)
      expect(await moves(test, partner, id)).toEqual(["goods 1 failed", "goods 2 succeeded"]);
  });

  it("treats the merchant of others as missing", async () => {
    const [own, other] = [await createPartner(test), await createPartner(test)];
    const client = personOf(test, own.merchantId);
    const send = (id: string) => client.post(`/api/merchants/${id}/retry-payments`, undefined);
    const foreign = await send(other.merchantId);
    expect(foreign.status).toBe(404);
    expect(withoutItsOwn(foreign).replaceAll(other.merchantId, "")).toBe(
      withoutItsOwn(await send("mer_01m7y7np16fe68bxp4h91tdmdn")).replaceAll(
        "mer_01m7y7np16fe68bxp4h91tdmdn",
        "",
      ),
    );
  });
});
