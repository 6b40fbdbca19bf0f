import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountGateway } from "../../src/payments/account/account.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { acceptAll, aRate, createFacility, routeAll } from "../support/facilities.ts";
import {
  balanceOf,
  payIn,
  processDuePayments,
  processPaymentsWith,
  setCreditLimit,
} from "../support/payments.ts";
import { expectRejected, operationApplied, readDetail } from "../support/real-orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let toBritain: string;
let toFrance: string;
beforeAll(async () => {
  test = await startTestService();
  toBritain = await createFacility(test); // For 5.00.
  toFrance = await createFacility(test, {
    countryCode: "FR",
    rates: [aRate({ country: "FR", amount: "8.00" })],
  });
});
afterAll(() => test.close());

const sendTo = (id: string, countryCode: string) =>
  test.backOffice.request("PATCH", `/api/orders/${id}/shipping-address`, { body: { countryCode } });

/** An order whose shipping is due, and whose goods may be. */
async function routed(): Promise<{ partner: Partner; id: string }> {
  const partner = await createPartner(test);
  const { id } = await placeOrder(partner);
  await acceptAll(test);
  await routeAll(test);
  return { partner, id };
}

describe("a correction of the country of an order whose payment failed", () => {
  it("waits while the shipping is being charged, and then charges the price of the new country", async () => {
    const { partner, id } = await routed();
    await setCreditLimit(test, partner, 0n);
    const gateway = accountGateway(test.context);
    const recheckAt = new Date(test.clock.now().getTime() + 60_000);
    await processPaymentsWith(test, {
      ...gateway,
      charge: async (payment) =>
        payment.kind === "goods"
          ? gateway.charge(payment)
          : { status: "pending", reference: "in progress", recheckAt },
    });
    expect((await readDetail(test, id)).onHoldReasons).toEqual(["payment_failed"]);
    expectRejected(await sendTo(id, "FR"), "shipping_charge_pending", "updateShippingAddress");
    await payIn(test, partner, "18.00");
    test.clock.advance({ minutes: 1 });
    await processDuePayments(test);
    expect((await sendTo(id, "FR")).body).toMatchObject({ onHoldReasons: [], facilityId: toFrance });
    await processDuePayments(test);
    expect(await balanceOf(test, partner)).toBe(0n);
  });

  it("waits for the shipping also if a person has placed the hold", async () => {
    const { partner, id } = await routed();
    await operationApplied(test, id, "hold", { reasons: ["payment_failed"] });
    expectRejected(await sendTo(id, "FR"), "shipping_charge_pending", "updateShippingAddress");
    await processDuePayments(test);
    expect((await sendTo(id, "FR")).status).toBe(200);
    await operationApplied(test, id, "release-hold", { reasons: ["payment_failed"] });
    await routeAll(test);
    await processDuePayments(test);
    expect(await readDetail(test, id)).toMatchObject({ facilityId: toFrance });
    expect(await balanceOf(test, partner)).toBe(-1_800n);
  });

  it("refunds nothing of what was waived", async () => {
    const { partner, id } = await routed();
    await processDuePayments(test);
    await setCreditLimit(test, partner, 1_500n);
    expect((await sendTo(id, "FR")).status).toBe(200);
    await processDuePayments(test); // The 3.00 that France costs more are declined.
    expect((await sendTo(id, "GB")).body).toMatchObject({ onHoldReasons: ["payment_failed"] });
    await operationApplied(test, id, "release-hold", { reasons: ["payment_failed"] });
    await routeAll(test);
    await processDuePayments(test);
    expect((await readDetail(test, id)).facilityId).toBe(toBritain);
    expect(await balanceOf(test, partner)).toBe(-1_500n);
  });
});
