import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { personOf, warehouseOf } from "../support/back-office-resources.ts";
import { anAddress, createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  acceptAll,
  aRate,
  createFacility,
  expectStockAddsUp,
  readStock,
  routeAll,
  setRates,
  setStock,
} from "../support/facilities.ts";
import { expectErrors, expectProblem, readOrder, readOrderEventTypes } from "../support/orders.ts";
import { balanceOf, payIn, processDuePayments, setCreditLimit } from "../support/payments.ts";
import { expectRejected, operationApplied, operationsOf, readDetail } from "../support/real-orders.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";
import { tally, times } from "../support/two-services.ts";

let test: TestService;
let partner: Partner;
/** Ship to GB for 5.00, and to FR for 8.00 and DE for 3.00. */
let leeds: string;
let lille: string;
beforeAll(async () => {
  test = await startTestService();
  leeds = await createFacility(test);
  const rates = [aRate({ country: "FR", amount: "8.00" }), aRate({ country: "DE", amount: "3.00" })];
  lille = await createFacility(test, { countryCode: "FR", rates });
});
beforeEach(async () => {
  partner = await createPartner(test);
  for (const facility of [leeds, lille]) await setStock(test, facility, partner.productIds[0], 5);
});
afterAll(() => test.close());

const correct = (id: string, change: object, client: Client = test.backOffice) =>
  client.request("PATCH", `/api/orders/${id}/shipping-address`, { body: change });
async function corrected(id: string, change: object) {
  const { status, body } = await correct(id, change);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}
async function routedOrder(fields: object = {}): Promise<string> {
  const { id } = await placeOrder(partner, fields);
  await acceptAll(test);
  await routeAll(test);
  await processDuePayments(test);
  return id;
}
const stocks = async () =>
  Promise.all([leeds, lille].map(async (at) => (await readStock(test, at, partner.productIds[0])).reserved));
const paid = async (goods: bigint) => {
  await processDuePayments(test);
  return -(await balanceOf(test, partner)) - goods;
};

describe("a correction of the address", () => {
  it("changes the fields that it names, removes what is null, and is on the timeline without the address", async () => {
    const { id } = await placeOrder(partner, { shippingAddress: anAddress({ company: "A", address2: "B" }) });
    const before = await readOrder(partner, id);
    test.clock.advance({ minutes: 1 });
    const body = await corrected(id, { zip: "N1 9GU", company: null, firstName: "Augusta" });
    const shippingAddress = {
      ...before.shippingAddress,

      zip: "N1 9GU",
      company: null,
      firstName: "Augusta",
      name: `Augusta ${before.shippingAddress.lastName}`,
    };
    expect(body.shippingAddress).toEqual(shippingAddress);
    const updatedAt = test.clock.now().toISOString();
    expect(await readOrder(partner, id)).toEqual({ ...before, shippingAddress, updatedAt });
    expect(body.timeline.at(-1)).toMatchObject({
      operation: "updateShippingAddress",
      detail: "company, firstName, zip",
      actor: { kind: "operator" },
    });
    expect(await readOrderEventTypes(test, partner)).toEqual(["order.created"]);
  });

  it("is in every later event, and does not change the request: a retry is replayed", async () => {
    const request = { externalOrderId: "shop-1", lines: [{ productId: partner.productIds[0], quantity: 1 }] };
    const { id } = await placeOrder(partner, request);
    await corrected(id, { city: "Leeds" });
    const retry = await partner.client.post("/v1/orders", { ...request, shippingAddress: anAddress() });
    expect([retry.status, retry.body.id]).toEqual([200, id]);
    expect((await partner.client.post(`/v1/orders/${id}/cancel`)).body.shippingAddress.city).toBe("Leeds");
  });

  it("changes and records nothing if the address is the same", async () => {
    const { id } = await placeOrder(partner);
    const before = await readDetail(test, id);
    test.clock.advance({ minutes: 1 });
    expect(await corrected(id, { countryCode: "gb", city: before.shippingAddress.city })).toEqual(before);
    expect(await corrected(id, {})).toEqual(before);
    expect(await corrected(id, { zip: null, phone: "" })).toEqual(before);
  });

  it.each<[string, object, string]>([
    ["an empty text", { city: "" }, "/city"],
    ["UK", { countryCode: "UK" }, "/countryCode"],
    ["a long text", { name: "n".repeat(256) }, "/name"],
  ])("is rejected with %s", async (_, change, pointer) => {
    const { id } = await placeOrder(partner);
    const answer = await correct(id, change);
    expectErrors(answer, [{ pointer }]);
  });

  it("is for the merchant and the operator, and for real orders", async () => {
    const { id } = await placeOrder(partner);
    const other = await createPartner(test);
    expect((await correct(id, { zip: "1" }, personOf(test, partner.merchantId))).status).toBe(200);
    expectProblem(await correct(id, { zip: "2" }, personOf(test, other.merchantId)), 404, "not-found");
    expectProblem(await correct(id, { zip: "2" }, warehouseOf(test)), 403, "forbidden");
    expectProblem(await correct((await placeTestOrder(partner)).id, { zip: "2" }), 404, "not-found");
  });

  it("is rejected once something has shipped, and when the order is settled", async () => {
    const id = await routedOrder();
    await operationApplied(test, id, "ship");
    expectRejected(
      await correct(id, { zip: "1" }),
      "already_shipped",
      "updateShippingAddress",
      "IN_PROGRESS",
    );
    await operationApplied(test, id, "complete");
    expectRejected(await correct(id, { zip: "1" }), "order_settled", "updateShippingAddress", "COMPLETED");
  });

  it("is possible 20 times", async () => {
    const { id } = await placeOrder(partner);
    for (let n = 1; n <= 20; n += 1) await corrected(id, { zip: `Z${n}` });
    expectRejected(await correct(id, { zip: "Z21" }), "too_many_corrections", "updateShippingAddress", "NEW");
    expect((await readOrder(partner, id)).shippingAddress.zip).toBe("Z20");
  });

  it("changes nothing if the last possible one is repeated", async () => {
    const { id } = await placeOrder(partner);
    for (let n = 1; n <= 20; n += 1) await corrected(id, { zip: `Z${n}` });
    const before = await readDetail(test, id);
    expect(await corrected(id, { zip: "Z20" })).toEqual(before);
  });
});

describe("routing after a correction", () => {
  it("keeps the route, the stock and the charge within the country", async () => {
    const id = await routedOrder();
    const before = await readDetail(test, id);
    const after = await corrected(id, { city: "Leeds" });
    expect([after.facilityId, after.routedAt]).toEqual([before.facilityId, before.routedAt]);
    expect([await stocks(), await paid(1_000n)]).toEqual([[1, 0], 500n]);
  });

  it.each([
    ["more", "FR", 800n, ["shipping"]],
    ["less", "DE", 300n, ["refund"]],
  ])(
    "chooses another facility, moves the reservation, and charges the difference if it costs %s",
    async (_, country, price, kinds) => {
      const id = await routedOrder();
      expect([await stocks(), await paid(1_000n)]).toEqual([[1, 0], 500n]);
      const after = await corrected(id, { countryCode: country });
      expect([after.facilityId, after.status, after.onHoldReasons]).toEqual([lille, "ACCEPTED", []]);
      expect(after.charges.slice(2).map(({ kind }: { kind: string }) => kind)).toEqual(kinds);
      expect([await stocks(), await paid(1_000n)]).toEqual([[0, 1], price]);
      expect(operationsOf(after).slice(-2)).toEqual([
        "updateShippingAddress by operator",
        "route by service",
      ]);
      await expectStockAddsUp(test);
    },
  );

  it("ends at the price of the last country, wherever the order was sent in between", async () => {
    const id = await routedOrder();
    for (const [country, price] of [
      ["FR", 800n],
      ["DE", 300n],
      ["GB", 500n],
      ["DE", 300n],
      ["FR", 800n],
    ] as const) {
      await corrected(id, { countryCode: country });
      expect([country, await paid(1_000n)]).toEqual([country, price]);
    }
    await operationApplied(test, id, "cancel");
    expect([await paid(0n), await stocks()]).toEqual([0n, [0, 0]]);
  });

  it("holds the order if no facility ships there, frees its stock, and charges the shipping when one does", async () => {
    const id = await routedOrder();
    const held = await corrected(id, { countryCode: "NO" });
    expect([held.onHoldReasons, held.facilityId, held.routedAt]).toEqual([
      ["address_unserviceable"],
      null,
      null,
    ]);
    expect(await stocks()).toEqual([0, 0]);
    const back = await corrected(id, { countryCode: "FR" });
    expect([back.onHoldReasons, back.facilityId]).toEqual([[], lille]);
    expect([await stocks(), await paid(1_000n)]).toEqual([[0, 1], 800n]);
    expect((await readOrderEventTypes(test, partner)).slice(-2)).toEqual([
      "order.onHold",
      "order.onHoldReleased",
    ]);
  });

  it("releases an order that was held for its address, and routes it like any other if rates arrive later", async () => {
    const id = await routedOrder({ shippingAddress: anAddress({ countryCode: "SE" }) });
    expect((await readOrder(partner, id)).onHoldReasons).toEqual(["address_unserviceable"]);
    expect(await corrected(id, { countryCode: "DK" })).toMatchObject({
      onHoldReasons: ["address_unserviceable"],
    });
    const facility = await createFacility(test, { rates: [] });
    await setStock(test, facility, partner.productIds[0], 1);
    await setRates(test, facility, [aRate({ country: "DK", amount: "6.00" })]);
    await routeAll(test);
    expect(await readDetail(test, id)).toMatchObject({ onHoldReasons: [], facilityId: facility });
    expect(await paid(1_000n)).toBe(600n);
    await setRates(test, facility, []);
  });

  it("clears a hold for the address before the acceptance", async () => {
    const { id } = await placeOrder(partner);
    await operationApplied(test, id, "hold", { reasons: ["address_unserviceable", "merchant_request"] });
    expect((await corrected(id, { zip: "N1" })).onHoldReasons).toEqual(["merchant_request"]);
  });

  it("stores an acceptance by the deadline first, and routes at once", async () => {
    const { id } = await placeOrder(partner);
    test.clock.advance({ hours: 2 });
    const after = await corrected(id, { countryCode: "FR" });
    expect(operationsOf(after).slice(1)).toEqual([
      "accept by service",
      "updateShippingAddress by operator",
      "route by service",
    ]);
    expect(await paid(1_000n)).toBe(800n);
  });

  it("is rejected while the shipping is being charged, if the country changes", async () => {
    const { id } = await placeOrder(partner);
    await acceptAll(test);
    await routeAll(test);
    expectRejected(
      await correct(id, { countryCode: "FR" }),
      "shipping_charge_pending",
      "updateShippingAddress",
    );
    expect((await corrected(id, { city: "Leeds" })).facilityId).toBe(leeds);
    await processDuePayments(test);
    expect((await corrected(id, { countryCode: "FR" })).facilityId).toBe(lille);
  });

  it("waits for a declined payment: the order is routed and charged the difference once it is paid", async () => {
    await setCreditLimit(test, partner, 1_000n);
    const id = await routedOrder();
    expect((await readOrder(partner, id)).onHoldReasons).toEqual(["payment_failed"]);
    expect(await corrected(id, { countryCode: "FR" })).toMatchObject({ facilityId: null, routedAt: null });
    expect(await stocks()).toEqual([0, 0]);
    await payIn(test, partner, "5.00");
    await processDuePayments(test);
    await routeAll(test);
    await processDuePayments(test);
    expect((await readDetail(test, id)).onHoldReasons).toEqual(["payment_failed"]); // The difference is declined, too.
    await payIn(test, partner, "3.00");
    await processDuePayments(test);
    expect(await readDetail(test, id)).toMatchObject({ onHoldReasons: [], facilityId: lille });
    expect(await balanceOf(test, partner)).toBe(-1_000n);
  });

  it("does not refund again what a person has refunded", async () => {
    const id = await routedOrder();
    const refund = { amount: { amount: "15.00", currency: "EUR" }, reason: "goodwill", reference: "sorry" };
    expect((await test.backOffice.post(`/api/orders/${id}/refund`, refund)).status).toBeLessThan(300);
    await processDuePayments(test);
    await corrected(id, { countryCode: "DE" });
    expect(await paid(0n)).toBe(0n);
  });

  it("happens once when it is requested many times at once, while the order is shipped or canceled", async () => {
    const ids = [await routedOrder(), await routedOrder()];
    const [shipped, canceled] = ids as [string, string];
    const answers = await Promise.all([
      ...times(4, () => correct(shipped, { countryCode: "FR" })),
      test.backOffice.post(`/api/orders/${shipped}/ship`, {}),
      ...times(4, () => correct(canceled, { countryCode: "FR" })),
      test.backOffice.post(`/api/orders/${canceled}/cancel`, {}),
    ]);
    expect(Object.keys(tally(answers)).every((status) => ["200", "409"].includes(status))).toBe(true);
    const [one, other] = [await readDetail(test, shipped), await readDetail(test, canceled)];
    expect([one.status, other.status]).toEqual(["IN_PROGRESS", "CANCELED"]);
    const price = one.facilityId === lille ? 800n : 500n;
    expect(await paid(1_000n)).toBe(price);
    await expectStockAddsUp(test);
  });
});
