import { beforeEach, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../../support/builders.ts";
import { acceptAll, aRate, createFacility, routeAll, setRates } from "../../support/facilities.ts";
import { moves, processDuePayments, setCreditLimit } from "../../support/payments.ts";
import { type Browser, createPerson, signIn } from "../../support/people.ts";
import { operationApplied, readDetail } from "../../support/real-orders.ts";
import { startServiceForTest, type TestService } from "../../support/test-service.ts";
import { anEndpoint, createEndpoint } from "../../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let browser: Browser;
beforeEach(async () => {
  test = await startServiceForTest({ config: { paymentRetryMs: [3_600_000] } });
  partner = await createPartner(test);
});

const rows = (text: string) => test.db.query({ name: text, text, values: [] });
const eur = (amount: string) => ({ amount, currency: "EUR" });
const refundFields = { amount: eur("1.00"), reason: "damaged", reference: "ticket 1" };

/** A person of the operator whose last proof is older than 15 minutes. */
async function stale(): Promise<void> {
  browser = await signIn(test, await createPerson(test));
  test.clock.advance({ minutes: 15 });
}

async function chargedOrder(): Promise<string> {
  const { id } = await placeOrder(partner);
  await processDuePayments(test);
  return id;
}

/** Its shipping to GB was charged: 5.00. To DE it is 3.00, to FR 8.00, and no facility ships to NO. */
async function routedOrder(): Promise<string> {
  const rates = [aRate(), aRate({ country: "DE", amount: "3.00" }), aRate({ country: "FR", amount: "8.00" })];
  await createFacility(test, { rates });
  const id = await chargedOrder();
  await acceptAll(test);
  await routeAll(test);
  await processDuePayments(test);
  return id;
}

async function shippedOrder(): Promise<string> {
  const id = await routedOrder();
  await operationApplied(test, id, "ship", {});
  return id;
}

async function declinedOrder(): Promise<string> {
  await setCreditLimit(test, partner, 0n);
  return chargedOrder();
}

async function withOrder(make: () => Promise<string>) {
  const id = await make();
  return { id, effect: () => moves(test, partner, id) };
}

const correction = (id: string, fields: object) => ["PATCH", `/api/orders/${id}/shipping-address`, fields];

async function withAddress() {
  const id = await routedOrder();
  return { id, effect: async () => (await readDetail(test, id)).shippingAddress.countryCode };
}

async function withEndpoint() {
  const { id } = await createEndpoint(partner);
  return { id, effect: () => rows("select url from webhook_endpoints order by id") };
}

const endpoints = () => `/api/connections/${partner.connectionId}/webhook-endpoints`;

type Way = [string, () => Promise<{ id: string; effect: () => Promise<unknown> }>, (id: string) => unknown[]];
const WAYS: Way[] = [
  ["a refund", () => withOrder(chargedOrder), (id) => ["POST", `/api/orders/${id}/refund`, refundFields]],
  [
    "a return with a refund",
    () => withOrder(shippedOrder),
    (id) => [
      "POST",
      `/api/orders/${id}/return`,
      { reason: "other", refund: { amount: eur("1.00"), reference: "ticket 1" } },
    ],
  ],
  [
    "the cancel of an order that was charged",
    () => withOrder(chargedOrder),
    (id) => ["POST", `/api/orders/${id}/cancel`, {}],
  ],
  [
    "the release of an order that was not paid",
    () => withOrder(declinedOrder),
    (id) => ["POST", `/api/orders/${id}/release-hold`, { reasons: ["payment_failed"] }],
  ],
  [
    "an address to which the shipping costs less",
    () => withOrder(routedOrder),
    (id) => correction(id, { countryCode: "DE" }),
  ],
  [
    "an address to which nothing ships yet, because the shipping was paid and a later route may cost less",
    withAddress,
    (id) => correction(id, { countryCode: "NO" }),
  ],
  ["a new endpoint", withEndpoint, () => ["POST", endpoints(), anEndpoint({ url: "https://1.1.1.1/new" })]],
  [
    "another address of an endpoint",
    withEndpoint,
    (id) => ["PATCH", `${endpoints()}/${id}`, { url: "https://1.1.1.1/elsewhere" }],
  ],
];

describe("money, waivers and addresses of endpoints need recent authentication", () => {
  it.each(WAYS)("%s", async (_name, make, requestOf) => {
    const { id, effect } = await make();
    await stale();
    const [method, path, body] = requestOf(id) as [string, string, object];
    const before = await effect();
    expect(await browser.request(method, path, body)).toMatchObject({
      status: 403,
      body: { code: "recent-authentication-required" },
    });
    expect(await effect()).toEqual(before);
    await signIn(test, await createPerson(test), browser);
    expect((await browser.request(method, path, body)).status).toBeLessThan(300);
    expect(await effect()).not.toEqual(before);
  });

  it("and a program with a token never does", async () => {
    const id = await chargedOrder();
    await stale();
    expect((await test.backOffice.post(`/api/orders/${id}/refund`, refundFields)).status).toBe(201);
  });
});

describe("the same operations need none", () => {
  it.each([
    ["a return without a refund", shippedOrder, "return", { reason: "other" }],
    ["the release of another hold", chargedOrder, "release-hold", { reasons: ["merchant_request"] }],
  ])("for %s", async (_name, make, operation, body) => {
    const id = await make();
    if (operation === "release-hold") await operationApplied(test, id, "hold", {});
    await stale();
    expect((await browser.post(`/api/orders/${id}/${operation}`, body)).status).toBe(200);
  });

  it("for an order in review that is rejected: it was never charged", async () => {
    partner = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
    const { id } = await placeOrder(partner, { lines: [{ productId: partner.productIds[0], quantity: 2 }] });
    await stale();
    const { body } = await browser.post(`/api/orders/${id}/reject`, {});
    expect(body.status, JSON.stringify(body)).toBe("CANCELED");
  });

  it.each([
    ["within the country", routedOrder, { city: "Leeds" }],
    ["to which the shipping costs more", routedOrder, { countryCode: "FR" }],
    ["before anything was paid for the shipping", chargedOrder, { countryCode: "DE" }],
  ])("for an address %s", async (_name, make, fields) => {
    const [method, path, body] = correction(await make(), fields) as [string, string, object];
    await stale();
    const answer = await browser.request(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  });

  it("for the warehouse that ships an order whose route returns some of the shipping: its correction has asked", async () => {
    const id = await routedOrder();
    await test.backOffice.request("PATCH", `/api/orders/${id}/shipping-address`, {
      body: { countryCode: "NO" },
    });
    const rates = [aRate({ country: "NO", amount: "1.00" })];
    await setRates(test, await createFacility(test, { rates: [] }), rates);
    await operationApplied(test, id, "release-hold", { reasons: ["address_unserviceable"] });
    const packer = await createPerson(test, { grants: [{ role: "warehouse", facilityIds: null }] });
    browser = await signIn(test, packer);
    test.clock.advance({ minutes: 15 });
    expect((await browser.post(`/api/orders/${id}/ship`, {})).status).toBe(200);
    expect(await moves(test, partner, id)).toContain("refund 1 pending");
  });

  it("for an endpoint whose address stays", async () => {
    const { id } = await createEndpoint(partner);
    await stale();
    expect((await browser.request("PATCH", `${endpoints()}/${id}`, { description: "new" })).status).toBe(200);
  });
});
