import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backOfficeRoutes } from "../../../src/api/back-office/routes.ts";
import { partnerRoutes } from "../../../src/api/partner/routes.ts";
import { createKey, createPartner, createProduct, type Partner, placeOrder } from "../../support/builders.ts";
import { acceptAll, createFacility, routeAll } from "../../support/facilities.ts";
import { processDuePayments, setCreditLimit } from "../../support/payments.ts";
import { operationApplied } from "../../support/real-orders.ts";
import {
  type Answer,
  OPERATOR_TOKEN,
  startTestService,
  type TestService,
} from "../../support/test-service.ts";
import { createEndpoint, deliveryOf, endpointPath, pauseEndpoint } from "../../support/webhooks.ts";

let test: TestService;
let partner: Partner;
/** A partner whose orders begin in review. */
let reviewed: Partner;
beforeAll(async () => {
  const config = { stripeSecretKey: "sk_test_1", webhookAllowPrivateNetworks: true };
  test = await startTestService({ config });
  partner = await createPartner(test);
  reviewed = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
});
afterAll(() => test.close());

const HEADERS = { "x-request-id": "request-of-the-test" };
type Request = [method: string, path: string, body?: object | undefined];

const price = { amount: "1.00", currency: "EUR" };
const inReview = async () =>
  (await placeOrder(reviewed, { lines: [{ productId: reviewed.productIds[0], quantity: 2 }] })).id;
const placed = async (): Promise<string> => (await placeOrder(partner)).id;
async function accepted(): Promise<string> {
  const id = await placed();
  await acceptAll(test);
  await routeAll(test);
  return id;
}
async function shipped() {
  return operationApplied(test, await accepted(), "ship");
}
async function declined(): Promise<string> {
  const poor = await createPartner(test);
  await setCreditLimit(test, poor, 0n);
  const { id } = await placeOrder(poor);
  await processDuePayments(test);
  return id;
}
async function delivered(): Promise<string> {
  const { id } = await createEndpoint(partner);
  return deliveryOf(partner, id, await placed());
}
const order = (id: string, step: string, body?: object): Request => [
  "POST",
  `/api/orders/${id}/${step}`,
  body,
];

/** For each route that changes something, a request that does change something. */
const CHANGES: Record<string, () => Request | Promise<Request>> = {
  createMerchant: () => ["POST", "/api/merchants", { name: "New", accountEmail: "new@example.com" }],
  updateMerchant: () => ["PATCH", `/api/merchants/${partner.merchantId}`, { creditLimit: price }],
  createConnection: () => ["POST", `/api/merchants/${partner.merchantId}/connections`, { name: "New" }],
  updateConnection: () => ["PATCH", `/api/connections/${partner.connectionId}`, { name: "Other" }],
  createKey: () => ["POST", `/api/connections/${partner.connectionId}/keys`, { name: "New" }],
  revokeKey: async () => ["POST", `/api/keys/${(await createKey(test, partner.connectionId)).id}/revoke`],
  createProduct: () => [
    "POST",
    `/api/merchants/${partner.merchantId}/products`,
    { sku: "S", name: "N", price },
  ],
  updateProduct: () => ["PATCH", `/api/products/${partner.productIds[0]}`, { name: "Other" }],
  importProducts: () => ["POST", `/api/merchants/${partner.merchantId}/products/import`],
  withdrawProduct: () => [
    "DELETE",
    `/api/connections/${partner.connectionId}/products/${partner.productIds[1]}`,
  ],
  exposeProduct: async () => {
    const id = await createProduct(test, partner.merchantId);
    return ["PUT", `/api/connections/${partner.connectionId}/products/${id}`];
  },
  recordAccountPayment: () => [
    "POST",
    `/api/merchants/${partner.merchantId}/account/payments`,
    { amount: price, reference: "transfer-1" },
  ],
  setStripeMethod: () => [
    "PUT",
    `/api/merchants/${reviewed.merchantId}/stripe`,
    { customerId: "cus_1", paymentMethodId: "pm_1" },
  ],
  deleteStripeMethod: () => ["DELETE", `/api/merchants/${reviewed.merchantId}/stripe`],
  redeliverDelivery: async () => [
    "POST",
    `/api/connections/${partner.connectionId}/deliveries/${await delivered()}/redeliver`,
  ],
  approveOrder: async () => order(await inReview(), "approve"),
  rejectOrder: async () => order(await inReview(), "reject"),
  cancelOrder: async () => order(await placed(), "cancel"),
  erasePersonalData: async () => {
    const id = await placed();
    await operationApplied(test, id, "cancel");
    return order(id, "erase-personal-data");
  },
  refundOrder: async () => {
    const { id } = await placeOrder(await createPartner(test)); // The credit limit of the other merchant is changed here.
    await processDuePayments(test);
    return order(id, "refund", { amount: price, reason: "damaged", reference: "ticket-1" });
  },
  retryPayment: async () => order(await declined(), "retry-payment"),
  holdOrder: async () => order(await placed(), "hold"),
  releaseOrderHold: async () => {
    const id = await placed();
    await operationApplied(test, id, "hold");
    return order(id, "release-hold");
  },
  shipOrder: async () => order(await accepted(), "ship"),
  completeOrder: async () => order((await shipped()).id, "complete"),
  returnShipment: async () => order((await shipped()).id, "return"),
  updateShipment: async () => [
    "PATCH",
    `/api/shipments/${(await shipped()).shipments[0].id}`,
    { status: "shipped" },
  ],
  createFacility: () => ["POST", "/api/facilities", { name: "New", countryCode: "FR" }],
  updateFacility: async () => ["PATCH", `/api/facilities/${await createFacility(test)}`, { name: "Other" }],
  setStock: async () => [
    "PUT",
    `/api/facilities/${await createFacility(test)}/stock/${reviewed.productIds[1]}`,
    { onHand: 5 },
  ],
  adjustStock: async () => {
    const path = `/api/facilities/${await createFacility(test)}/stock/${reviewed.productIds[1]}`;
    await test.backOffice.request("PUT", path, { body: { onHand: 5 } });
    return ["POST", `${path}/adjust`, { difference: -1, reason: "lost" }];
  },
  closeFacility: async () => ["POST", `/api/facilities/${await createFacility(test)}/close`],
  openFacility: async () => {
    const path = `/api/facilities/${await createFacility(test)}`;
    await test.backOffice.post(`${path}/close`);
    return ["POST", `${path}/open`];
  },
  setRates: async () => ["PUT", `/api/facilities/${await createFacility(test)}/rates`, { rates: [] }],
};

async function endpointRequest(step?: string, body?: object): Promise<Request> {
  const { id } = await createEndpoint(partner);
  return ["POST", endpointPath(id, step), body];
}

/** The same for what a partner changes of its endpoints. */
const CHANGES_BY_PARTNERS: Record<string, () => Request | Promise<Request>> = {
  createWebhookEndpoint: () => ["POST", "/v1/webhook-endpoints", { url: "https://1.1.1.1/hook?token=t0ken" }],
  updateWebhookEndpoint: async () => {
    const [, path] = await endpointRequest();
    return ["PATCH", path, { url: "https://1.1.1.1/hook?token=t0ken" }];
  },
  deleteWebhookEndpoint: async () => {
    const [, path] = await endpointRequest();
    return ["DELETE", path];
  },
  rotateWebhookSecret: () => endpointRequest("rotate-secret", {}),
  resumeWebhookEndpoint: async () => {
    const { id } = await createEndpoint(partner);
    await pauseEndpoint(test, id);
    return ["POST", endpointPath(id, "resume")];
  },
  recoverDeliveries: () => endpointRequest("recover", { since: test.clock.now().toISOString() }),
  redeliverDelivery: async () => ["POST", `/v1/deliveries/${await delivered()}/redeliver`],
};

/** Changes of partners that the timeline of an order records, and a test event, which changes nothing. */
const NOT_AUDITED = ["createOrder", "cancelOrder", "transitionTestOrder", "pingWebhookEndpoint"];

const CSV = { rawBody: "sku,name,price\nS,N,1.00\n", headers: { ...HEADERS, "content-type": "text/csv" } };

type Entry = Record<string, unknown>;
const newestEntries = async (count: number): Promise<Entry[]> =>
  (await test.backOffice.get(`/api/audit-entries?limit=${count}`)).body.data;

/** The entries that a request leaves, with the response. */
async function entriesOf(send: () => Promise<Answer>): Promise<{ answer: Answer; entries: Entry[] }> {
  const known = new Set((await newestEntries(100)).map(({ id }) => id));
  test.clock.advance({ ms: 1 });
  const answer = await send();
  return { answer, entries: (await newestEntries(10)).filter(({ id }) => !known.has(id)) };
}

describe("a change through the back office", () => {
  const changing = backOfficeRoutes.filter(({ method }) => method !== "GET");

  it.each(changing.map(({ operationId }) => operationId))("%s leaves an entry", async (operationId) => {
    const request = CHANGES[operationId];
    if (request === undefined) throw new Error(`Add a request of ${operationId} to this test.`);
    const [method, path, body] = await request();
    const options = operationId === "importProducts" ? CSV : { body, headers: HEADERS };
    const { answer, entries } = await entriesOf(() => test.backOffice.request(method, path, options));
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    expect(entries).toMatchObject([
      {
        action: operationId,
        actor: { kind: "operator", name: "operator" },
        requestId: HEADERS["x-request-id"],
        createdAt: test.clock.now().toISOString(),
      },
    ]);
    expect(entries[0]?.["subjectIds"]).not.toEqual([]);
  });

  it("leaves none if it is rejected or changes nothing", async () => {
    const { merchantId, connectionId, productIds } = partner;
    const requests: Request[] = [
      ["PATCH", "/api/merchants/mer_01m7y7np16fe68bxp4h91tdmdn", { name: "Other" }],
      ["POST", `/api/merchants/${merchantId}/products`, { sku: "S" }],
      ["PUT", `/api/connections/${connectionId}/products/${productIds[0]}`],
      order(await placed(), "complete"),
    ];
    const { entries } = await entriesOf(async () => {
      const answers: Answer[] = [];
      for (const [method, path, body] of requests)
        answers.push(await test.backOffice.request(method, path, { body }));
      expect(answers.map(({ status }) => status)).toEqual([404, 422, 200, 409]);
      return answers[0] as Answer; // There are four.
    });
    expect(entries).toEqual([]);
  });
});

describe("a change by a partner", () => {
  const changing = partnerRoutes.filter(
    ({ method, operationId }) => method !== "GET" && !NOT_AUDITED.includes(operationId),
  );

  it.each(changing.map(({ operationId }) => operationId))("%s leaves an entry", async (operationId) => {
    const request = CHANGES_BY_PARTNERS[operationId];
    if (request === undefined) throw new Error(`Add a request of ${operationId} to this test.`);
    const [method, path, body] = await request();
    const send = () => partner.client.request(method, path, { body, headers: HEADERS });
    const { answer, entries } = await entriesOf(send);
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    const keys = await test.backOffice.get(`/api/connections/${partner.connectionId}/keys`);
    expect(entries).toMatchObject([
      {
        action: operationId,
        actor: { kind: "partner", name: keys.body.data[0].id },
        requestId: HEADERS["x-request-id"],
        merchantId: partner.merchantId,
        connectionId: partner.connectionId,
      },
    ]);
  });

  it("of an order leaves none: the order's timeline has it", async () => {
    const { entries } = await entriesOf(async () => {
      const id = await placed();
      await partner.client.get(`/v1/orders/${id}`);
      return partner.client.post(`/v1/orders/${id}/cancel`);
    });
    expect(entries).toEqual([]);
  });
});

it("no entry holds a key, a secret, or what comes after the host of an address", async () => {
  const { key } = await createKey(test, partner.connectionId);
  const { secret } = await createEndpoint(partner, { url: "https://1.1.1.1/hook?token=t0ken" });
  const rows = await test.db.query<{ row: string }>({
    name: "test-audit-rows",
    text: "select e::text as row from audit_entries e",
    values: [],
  });
  const text = JSON.stringify(rows);
  expect(rows.length).toBeGreaterThan(40);
  for (const hidden of [key, secret, partner.key, "t0ken", "whsec_", OPERATOR_TOKEN])
    expect(text).not.toContain(hidden);
});

describe("the entry and the change", () => {
  it("commit together: neither exists without the other", async () => {
    const other = await startTestService();
    try {
      const shop = await createPartner(other);
      const path = `/api/connections/${shop.connectionId}/keys`;
      await other.db.runScript(
        "alter table audit_entries add constraint refuse check (action <> 'createKey') not valid",
      );
      expect((await other.backOffice.post(path, {})).status).toBe(500);
      expect((await other.backOffice.get(path)).body.data).toHaveLength(1);
      await other.db.runScript("alter table audit_entries drop constraint refuse");
      // Checked at the commit, when both are written.
      await other.db.runScript(
        "alter table api_keys add constraint refuse unique (connection_id) deferrable initially deferred",
      );
      const before = (await other.backOffice.get("/api/audit-entries?action=createKey")).body.data.length;
      expect((await other.backOffice.post(path, { name: "Refused" })).status).toBe(500);
      expect((await other.backOffice.get("/api/audit-entries?action=createKey")).body.data).toHaveLength(
        before,
      );
    } finally {
      await other.close();
    }
  });
});
