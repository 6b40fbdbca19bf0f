import { beforeEach, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { acceptAll, createFacility, routeAll } from "../support/facilities.ts";
import {
  balanceOf,
  moves,
  payIn,
  processDuePayments,
  processPaymentsWith,
  retry,
  scriptedGateway,
  setCreditLimit,
} from "../support/payments.ts";
import { operationApplied, readDetail } from "../support/real-orders.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeEach(async () => {
  test = await startServiceForTest({ config: { paymentRetryMs: [3_600_000] } });
  partner = await createPartner(test);
  await setCreditLimit(test, partner, 0n);
});

const releasePayment = (id: string) =>
  operationApplied(test, id, "release-hold", { reasons: ["payment_failed"] });
/** An order whose goods remain unpaid; its shipping is paid. */
async function placeWaived(): Promise<{ id: string }> {
  await createFacility(test);
  const order = await placeOrder(partner);
  await processDuePayments(test);
  await releasePayment(order.id);
  await acceptAll(test);
  await routeAll(test);
  await payIn(test, partner, "50.00");
  await processDuePayments(test);
  return order;
}
const reasonsOf = async (id: string) => (await readDetail(test, id)).onHoldReasons;

describe("a failed payment that the operator has released", () => {
  it("is not charged any more: its scheduled attempt is canceled, and the hold does not come back", async () => {
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    await releasePayment(id);
    expect(await moves(test, partner, id)).toEqual(["goods 1 failed", "goods 2 canceled"]);
    await payIn(test, partner, "50.00");
    test.clock.advance({ hours: 24 });
    await processDuePayments(test);
    expect(await reasonsOf(id)).toEqual([]);
    expect(await balanceOf(test, partner)).toBe(5_000n);
  });

  it("stays released when nothing was scheduled any more", async () => {
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    test.clock.advance({ hours: 1 });
    await processDuePayments(test);
    await releasePayment(id);
    expect(await moves(test, partner, id)).toEqual(["goods 1 failed", "goods 2 failed", "goods 3 canceled"]);
    await payIn(test, partner, "50.00");
    await processDuePayments(test);
    expect(await balanceOf(test, partner)).toBe(5_000n);
    expect(await retry(test, partner, id)).toMatchObject({ members: { rule: "nothing_to_pay" } });
  });

  it.each<["declined" | "succeeded", string[]]>([
    ["declined", ["goods 1 failed", "goods 2 failed", "goods 3 canceled"]],
    ["succeeded", ["goods 1 failed", "goods 2 succeeded", "goods 3 canceled"]],
  ])(
    "during a request to the gateway stays released, also when that then returns %s",
    async (answer, expected) => {
      const { id } = await placeOrder(partner);
      await processDuePayments(test);
      test.clock.advance({ hours: 1 });
      const beforeMove = async () => {
        await releasePayment(id);
      };
      const decide = () => answer;
      await processPaymentsWith(test, scriptedGateway(test, { beforeMove, decide }));
      expect(await moves(test, partner, id)).toEqual(expected);
      expect(await reasonsOf(id)).toEqual([]);
      test.clock.advance({ hours: 24 });
      expect(await processDuePayments(test)).toBe(0);
    },
  );

  it("stays on hold when the operator holds it again, whatever an earlier gateway request returns", async () => {
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    test.clock.advance({ hours: 1 });
    const beforeMove = async () => {
      await releasePayment(id);
      await operationApplied(test, id, "hold", { reasons: ["payment_failed"] });
    };
    await processPaymentsWith(test, scriptedGateway(test, { beforeMove, decide: () => "declined" }));
    expect(await reasonsOf(id)).toEqual(["payment_failed"]);
  });

  it("does not change charges that were not declined", async () => {
    const { id } = await placeWaived();
    expect(await moves(test, partner, id)).toEqual([
      "goods 1 failed",
      "goods 2 canceled",
      "shipping 1 succeeded",
    ]);
  });

  it("is refunded only what was charged when it is canceled later", async () => {
    const { id } = await placeWaived();
    await operationApplied(test, id, "cancel");
    await processDuePayments(test);
    expect(await balanceOf(test, partner)).toBe(5_000n);
  });

  it("does not let warehouse staff make a paid order cancelable by its partner", async () => {
    const { id } = await placeOrder(partner);
    const warehouse = test.backOfficeFor({ kind: "warehouse", name: "Ada" });
    const held = await warehouse.post(`/api/orders/${id}/hold`, { reasons: ["payment_failed"] });
    expect(held.status).toBe(422);
    expect(held.body.errors).toMatchObject([{ pointer: "/reasons/0" }]);
    expect(await reasonsOf(id)).toEqual([]);
  });
});
