import { describe, expect, it } from "vitest";
import { claimPayments, listPayers } from "../../src/ledger/due-payments-sql.ts";
import { createPartner, placeOrder } from "../support/builders.ts";
import { moves, processDuePayments, readDuePayments } from "../support/payments.ts";
import { chargeTo, methodPath, startWorld } from "../support/stripe-world.ts";
import { startServiceForTest } from "../support/test-service.ts";

describe("PUT /api/merchants/{id}/stripe", () => {
  it("is rejected where no key is configured", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const body = { customerId: "cus_1", paymentMethodId: "pm_1" };
    const answer = await test.backOffice.request("PUT", methodPath(partner), { body });
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toEqual([
      { pointer: "/customerId", rule: "stripe_key", detail: expect.stringContaining("STRIPE_SECRET_KEY") },
    ]);
    expect((await test.backOffice.get(methodPath(partner))).status).toBe(404);
  });

  it("reports all errors, is safe to repeat, and leaves one method in use for any number of concurrent requests", async () => {
    const { test, partner } = await startWorld();
    const path = methodPath(partner);
    const bad = await test.backOffice.request("PUT", path, {
      body: { customerId: "4242", paymentMethodId: "" },
    });
    expect(bad.status).toBe(422);
    expect(bad.body.errors).toHaveLength(2);
    const first = await test.backOffice.get(path);
    test.clock.advance({ hours: 1 });
    await chargeTo(test, partner, "pm_ok");
    expect((await test.backOffice.get(path)).body).toEqual(first.body);
    await Promise.all(["pm_a", "pm_b", "pm_c", "pm_d"].map((method) => chargeTo(test, partner, method)));
    const inUse = await test.db.query({
      name: "test-methods-in-use",
      text: "select id from stripe_methods where ended_at is null",
      values: [],
    });
    expect(inUse).toHaveLength(1);
    expect((await test.backOffice.request("DELETE", path)).status).toBe(204);
    expect((await test.backOffice.request("DELETE", path)).status).toBe(204);
    expect((await test.backOffice.get(path)).status).toBe(404);
  });
});

describe("DELETE /api/merchants/{id}/stripe", () => {
  it("applies from then on, also in a worker that has seen the method before", async () => {
    const { test, partner } = await startWorld();
    const { id } = await placeOrder(partner);
    const now = test.clock.now();
    const [payer] = await listPayers(test.db, "stripe", now);
    if (payer === undefined) throw new Error("The charge is due at Stripe.");
    expect((await test.backOffice.request("DELETE", methodPath(partner))).status).toBe(204);
    const claim = { claimId: test.context.newId(), now, leasedUntil: now, share: 10 };
    expect(await claimPayments(test.db, "stripe", [payer], claim)).toEqual([]);
    expect(await readDuePayments(test)).toMatchObject([{ attempt_count: 0, leased_until: null }]);
    expect(await processDuePayments(test)).toBe(1);
    expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded"]);
  });
});
