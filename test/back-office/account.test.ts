import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { cancelOrder } from "../support/orders.ts";
import { payIn, processDuePayments, setCreditLimit } from "../support/payments.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let path: string;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());
beforeEach(async () => {
  partner = await createPartner(test);
  path = `/api/merchants/${partner.merchantId}/account`;
});

const euros = (amount: string) => ({ amount, currency: "EUR" });
const pay = (fields: object = {}) =>
  test.backOffice.post(`${path}/payments`, { amount: euros("25.00"), reference: "bank-1", ...fields });
const readAccount = async () => (await test.backOffice.get(path)).body;

describe("GET /api/merchants/{id}/account", () => {
  it("is empty and unlimited at first", async () => {
    expect(await readAccount()).toMatchObject({
      merchantId: partner.merchantId,
      balance: euros("0.00"),
      creditLimit: null,
      available: null,
    });
  });

  it("shows what the merchant owes, its limit, and the remaining credit", async () => {
    await setCreditLimit(test, partner, 10_050n);
    await placeOrder(partner);
    await processDuePayments(test);
    expect(await readAccount()).toMatchObject({
      balance: euros("-10.00"),
      creditLimit: euros("100.50"),
      available: euros("90.50"),
    });
    await setCreditLimit(test, partner, 500n); // Below what is owed by now.
    expect((await readAccount()).available).toEqual(euros("0.00"));
  });
});

describe("POST /api/merchants/{id}/account/payments", () => {
  it("adds to the balance once for each reference, however often and at the same time it is sent", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => pay({ note: "March" })));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers[0]?.body).toMatchObject({
      kind: "payment",
      amount: euros("25.00"),
      reference: "bank-1",
      note: "March",
    });
    expect((await readAccount()).balance).toEqual(euros("25.00"));
    await pay({ reference: "bank-2" });
    expect((await readAccount()).balance).toEqual(euros("50.00"));
  });

  it("accepts a reference once per merchant", async () => {
    const other = await createPartner(test);
    expect((await pay()).status).toBe(201);
    await payIn(test, other, "1.00");
    const body = { amount: euros("1.00"), reference: "bank-1" };
    expect(
      (await test.backOffice.post(`/api/merchants/${other.merchantId}/account/payments`, body)).status,
    ).toBe(201);
  });

  it("rejects a reference that was used for another amount, and books nothing", async () => {
    await pay();
    const before = await dumpTables(test);
    const answer = await pay({ amount: euros("25.01") });
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toMatchObject([{ pointer: "/reference" }]);
    expect(await dumpTables(test)).toEqual(before);
  });

  it.each<[string, object, string[]]>([
    ["nothing", { amount: euros("0.00") }, ["/amount"]],
    ["less than nothing", { amount: euros("-1.00") }, ["/amount/amount"]],
    ["another currency", { amount: { amount: "1.00", currency: "USD" } }, ["/amount"]],
    ["too many decimals", { amount: euros("1.001") }, ["/amount"]],
    ["no reference", { reference: "" }, ["/reference"]],
    ["all at once", { amount: euros("0"), reference: 1, note: 1 }, ["/amount", "/note", "/reference"]],
  ])("rejects %s", async (_, fields, pointers) => {
    const before = await dumpTables(test);
    const { status, body } = await pay(fields);
    expect(status).toBe(422);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual(pointers);
    expect(await dumpTables(test)).toEqual(before);
  });
});

describe("GET /api/merchants/{id}/account/entries", () => {
  it("lists charges, refunds and payments, newest first, page by page, and they add up to the balance", async () => {
    await setCreditLimit(test, partner, null);
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    test.clock.advance({ seconds: 1 });
    await pay();
    test.clock.advance({ seconds: 1 });
    await cancelOrder(partner, id);
    await processDuePayments(test);
    const entries = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const { body } = await test.backOffice.get(`${path}/entries?limit=1${query}`);
      entries.push(...body.data);
      cursor = body.nextCursor;
    }
    expect(entries).toMatchObject([
      { kind: "refund", amount: euros("10.00"), reference: null, note: null },
      { kind: "payment", amount: euros("25.00"), reference: "bank-1" },
      { kind: "charge", amount: euros("-10.00"), id: id.replace("ord_", "chg_") },
    ]);
    expect((await readAccount()).balance).toEqual(euros("25.00"));
  });

  it("rejects the cursor of another list", async () => {
    expect((await test.backOffice.get(`${path}/entries?cursor=abc`)).status).toBe(422);
  });
});

describe("who may see and change an account", () => {
  it("is the operator; a merchant's staff can read their own; the warehouse cannot", async () => {
    const other = await createPartner(test);
    const merchantId = fromTypeId("mer", partner.merchantId) ?? "";
    const own = test.backOfficeFor({ kind: "merchant", merchantIds: [merchantId], name: "M" });
    const warehouse = test.backOfficeFor({ kind: "warehouse", name: "W" });
    const foreign = `/api/merchants/${other.merchantId}`;
    for (const rest of ["", "/entries"]) {
      expect((await own.get(`${path}${rest}`)).status).toBe(200);
      expect((await own.get(`${foreign}/account${rest}`)).status).toBe(404);
      expect((await warehouse.get(`${path}${rest}`)).status).toBe(403);
    }
    const payment = { amount: euros("1.00"), reference: "r" };
    expect((await own.post(`${path}/payments`, payment)).status).toBe(403);
    const method = { body: { customerId: "cus_1", paymentMethodId: "pm_1" } };
    expect((await own.request("PUT", `/api/merchants/${partner.merchantId}/stripe`, method)).status).toBe(
      403,
    );
    expect((await own.request("DELETE", `/api/merchants/${partner.merchantId}/stripe`)).status).toBe(403);
    expect((await own.get(`${foreign}/stripe`)).body).toMatchObject({ detail: "No such merchant." });
  });
});
