import { beforeEach, describe, expect, it } from "vitest";
import { accountGateway } from "../../src/payments/account/account.ts";
import { processPayments } from "../../src/payments/process-payments.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { cancelOrder } from "../support/orders.ts";
import { balanceOf, moves, payIn, processDuePayments, setCreditLimit } from "../support/payments.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeEach(async () => {
  test = await startServiceForTest();
  partner = await createPartner(test);
  await setCreditLimit(test, partner, 0n);
});

/** A worker that has claimed a charge, and then stops for longer than its lease before it books. */
async function processStalled(during: () => Promise<void>): Promise<void> {
  const real = accountGateway(test.context);
  let stalls = true;
  await processPayments(test.context, {
    ...real,
    async charge(payment) {
      if (stalls) {
        stalls = false;
        test.clock.advance({ seconds: 61 });
        await during();
      }
      return real.charge(payment);
    },
  });
}

describe("a worker that continues after its lease, with a charge that another worker recorded as declined", () => {
  it("charges nothing: the account returns the same result for the same charge", async () => {
    const { id } = await placeOrder(partner);
    await processStalled(async () => {
      await processDuePayments(test);
      expect(await moves(test, partner, id)).toEqual(["goods 1 failed", "goods 2 pending"]);
      await payIn(test, partner, "20.00");
    });
    await processDuePayments(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 failed", "goods 2 succeeded"]);
    expect(await balanceOf(test, partner)).toBe(1_000n);
  });

  it("takes no money for an order that was canceled in the meantime", async () => {
    const { id } = await placeOrder(partner);
    await processStalled(async () => {
      await processDuePayments(test);
      await cancelOrder(partner, id);
      await payIn(test, partner, "20.00");
    });
    test.clock.advance({ hours: 24 });
    await processDuePayments(test);
    expect(await moves(test, partner, id)).toEqual(["goods 1 failed", "goods 2 canceled"]);
    expect(await balanceOf(test, partner)).toBe(2_000n);
  });
});
