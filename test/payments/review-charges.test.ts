import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import {
  balanceOf,
  moves,
  orderUuid,
  processDuePayments,
  readDuePayments,
  setCreditLimit,
} from "../support/payments.ts";
import { operationApplied, readDetail, requestOperation } from "../support/real-orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let id: string;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
  ({ id } = await placeOrder(partner, { lines: [{ productId: partner.productIds[0], quantity: 2 }] }));
});
afterAll(() => test.close());

const dueOf = async (orderId: string) =>
  (await readDuePayments(test)).filter((due) => due.entry_id === orderUuid(orderId));

describe("an order in review", () => {
  it("has no charge, and none is attempted", async () => {
    expect(await processDuePayments(test)).toBe(0);
    expect(await readDetail(test, id)).toMatchObject({ status: "PROCESSING", charges: [] });
    expect(await balanceOf(test, partner)).toBe(0n);
    expect((await requestOperation(test, id, "retry-payment")).body.rule).toBe("nothing_to_pay");
  });

  it("is charged for its goods once it is approved: once, however often that is requested", async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => requestOperation(test, id, "approve")));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(5).fill(409)]);
    expect(await processDuePayments(test)).toBe(1);
    expect(await processDuePayments(test)).toBe(0);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
    expect(await balanceOf(test, partner)).toBe(-2_000n);
  });

  it("is either charged or canceled when it is approved and rejected at the same time", async () => {
    const [approved, rejected] = await Promise.all([
      requestOperation(test, id, "approve"),
      requestOperation(test, id, "reject"),
    ]);
    expect([approved.status, rejected.status].sort()).toEqual([200, 409]);
    await processDuePayments(test);
    expect(await moves(test, partner, id)).toEqual(approved.status === 200 ? ["goods 1 succeeded"] : []);
  });

  it.each(["reject", "cancel"])("is never charged after %s", async (operation) => {
    const { charges } = await operationApplied(test, id, operation);
    expect(charges).toEqual([]);
    expect(await dueOf(id)).toEqual([]);
  });

  it("stays uncharged while it is held and released in review", async () => {
    await operationApplied(test, id, "hold", { reasons: ["fraud_check"] });
    await operationApplied(test, id, "release-hold", { reasons: ["fraud_check"] });
    expect(await dueOf(id)).toEqual([]);
  });

  it("reserves no credit, and is held after the approval if there is none left", async () => {
    await setCreditLimit(test, partner, 1_000n);
    await placeOrder(partner);
    expect(await processDuePayments(test)).toBe(1);
    expect(await balanceOf(test, partner)).toBe(-1_000n);
    await operationApplied(test, id, "approve");
    await processDuePayments(test);
    expect(await readDetail(test, id)).toMatchObject({
      status: "ACCEPTED",
      onHoldReasons: ["payment_failed"],
    });
    expect((await moves(test, partner, id))[0]).toBe("goods 1 failed");
  });
});
