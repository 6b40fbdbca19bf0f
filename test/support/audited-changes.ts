import { randomUUID } from "node:crypto";
import { peopleChanges } from "./audited-people.ts";
import {
  createExposedProduct,
  createKey,
  createPartner,
  createProduct,
  type Partner,
  placeOrder,
  placeTestOrder,
} from "./builders.ts";
import { acceptAll, createFacility, routeAll } from "./facilities.ts";
import { processDuePayments, setCreditLimit } from "./payments.ts";
import { operationApplied, readDetail } from "./real-orders.ts";
import { strangersConnection } from "./self-service.ts";
import { aTestOrder, createTestOrder, testOrdersPath } from "./test-orders.ts";
import type { TestService } from "./test-service.ts";
import { createEndpoint, deliveryOf, endpointPath, pauseEndpoint } from "./webhooks.ts";

/** Where changes are requested. The orders of `reviewed` begin in review. */
export type AuditedWorld = { test: TestService; partner: Partner; reviewed: Partner };
export type ChangeRequest = [method: string, path: string, body?: object | undefined];
/** By the id of an operation, a request of it that does change something. */
type ChangeRequests = Record<string, () => ChangeRequest | Promise<ChangeRequest>>;

const price = { amount: "1.00", currency: "EUR" };

/** The files that imports send, which change something. */
export const importedFiles = ({ partner }: AuditedWorld): Readonly<Record<string, string>> => ({
  importProducts: "sku,name,price\nIMPORTED,N,1.00\n",
  importStock: `productId,onHand\n${partner.productIds[1]},5\n`,
  importShipments: "externalOrderId,carrier,trackingNumber\nIMPORTED,DHL,1Z\n",
});

const inReview = async ({ reviewed }: AuditedWorld): Promise<string> =>
  (await placeOrder(reviewed, { lines: [{ productId: reviewed.productIds[0], quantity: 2 }] })).id;
export const placed = async ({ partner }: AuditedWorld): Promise<string> => (await placeOrder(partner)).id;

async function accepted(world: AuditedWorld, fields: object = {}): Promise<string> {
  const { id } = await placeOrder(world.partner, fields);
  await acceptAll(world.test);
  await routeAll(world.test);
  return id;
}

const shipped = async (world: AuditedWorld) => operationApplied(world.test, await accepted(world), "ship");

async function declined({ test }: AuditedWorld): Promise<string> {
  const poor = await createPartner(test);
  await setCreditLimit(test, poor, 0n);
  const { id } = await placeOrder(poor);
  await processDuePayments(test);
  return id;
}

async function delivered(world: AuditedWorld): Promise<string> {
  const { id } = await createEndpoint(world.partner);
  return deliveryOf(world.partner, id, await placed(world));
}

/** The facility of an order that can be shipped. Undefined without facilities. */
async function facilityOfWork({ test }: AuditedWorld): Promise<string | undefined> {
  const { data } = (await test.backOffice.get("/api/work-list?taken=false")).body;
  return data[0].facilityId ?? undefined;
}

/** Each with a name of its own, as a page has no two views of one name. */
const aView = () => ({ name: `Held ${randomUUID()}`, page: "orders", query: "onHold=true" });
const viewOf = async ({ test }: AuditedWorld): Promise<string> =>
  (await test.backOffice.post("/api/views", aView())).body.id;

const aToken = async ({ test }: AuditedWorld): Promise<string> =>
  (await test.backOffice.post("/api/tokens", { name: "New", role: "support" })).body.id;

async function endpointRequest(world: AuditedWorld, step?: string, body?: object): Promise<ChangeRequest> {
  const { id } = await createEndpoint(world.partner);
  return ["POST", endpointPath(id, step), body];
}

/** A request of an operation of an order. */
export const orderRequest = (id: string, operation: string, body?: object): ChangeRequest => [
  "POST",
  `/api/orders/${id}/${operation}`,
  body,
];

/** For each route of the back office that changes something. */
export const backOfficeChanges = (world: AuditedWorld): ChangeRequests => ({
  ...catalogChanges(world),
  ...moneyChanges(world),
  ...endpointChanges(world),
  ...orderChanges(world),
  ...sandboxChanges(world),
  ...warehouseChanges(world),
});

const catalogChanges = (world: AuditedWorld): ChangeRequests => ({
  createMerchant: () => ["POST", "/api/merchants", { name: "New", accountEmail: "new@example.com" }],
  updateMerchant: () => ["PATCH", `/api/merchants/${world.partner.merchantId}`, { creditLimit: price }],
  createView: () => ["POST", "/api/views", aView()],
  updateView: async () => ["PATCH", `/api/views/${await viewOf(world)}`, { name: "Other" }],
  deleteView: async () => ["DELETE", `/api/views/${await viewOf(world)}`],
  createToken: () => ["POST", "/api/tokens", { name: "New", role: "support" }],
  ...peopleChanges(world),
  revokeToken: async () => ["POST", `/api/tokens/${await aToken(world)}/revoke`],
  rotateToken: async () => ["POST", `/api/tokens/${await aToken(world)}/rotate`, {}],
  createConnection: () => ["POST", `/api/merchants/${world.partner.merchantId}/connections`, { name: "New" }],
  updateConnection: () => ["PATCH", `/api/connections/${world.partner.connectionId}`, { name: "Other" }],
  endConnection: async () => ["POST", `/api/connections/${(await strangersConnection(world)).id}/end`],
  createKey: () => ["POST", `/api/connections/${world.partner.connectionId}/keys`, { name: "New" }],
  rotateKey: async () => [
    "POST",
    `/api/keys/${(await createKey(world.test, world.partner.connectionId)).id}/rotate`,
    {},
  ],
  revokeKey: async () => [
    "POST",
    `/api/keys/${(await createKey(world.test, world.partner.connectionId)).id}/revoke`,
  ],
  createProduct: () => [
    "POST",
    `/api/merchants/${world.partner.merchantId}/products`,
    { sku: "S", name: "N", price },
  ],
  updateProduct: () => ["PATCH", `/api/products/${world.partner.productIds[0]}`, { name: "Other" }],
  importProducts: () => ["POST", `/api/merchants/${world.partner.merchantId}/products/import`],
  withdrawProduct: () => [
    "DELETE",
    `/api/connections/${world.partner.connectionId}/products/${world.partner.productIds[1]}`,
  ],
  exposeProducts: async () => {
    const productIds = [await createProduct(world.test, world.partner.merchantId)];
    return ["POST", `/api/connections/${world.partner.connectionId}/products/expose`, { productIds }];
  },
  withdrawProducts: async () => {
    const { merchantId, connectionId } = world.partner;
    const productIds = [await createExposedProduct(world.test, merchantId, connectionId)];
    return ["POST", `/api/connections/${connectionId}/products/withdraw`, { productIds }];
  },
  exposeProduct: async () => {
    const id = await createProduct(world.test, world.partner.merchantId);
    return ["PUT", `/api/connections/${world.partner.connectionId}/products/${id}`];
  },
});

const moneyChanges = (world: AuditedWorld): ChangeRequests => ({
  recordAccountPayment: () => [
    "POST",
    `/api/merchants/${world.partner.merchantId}/account/payments`,
    { amount: price, reference: "transfer-1" },
  ],
  setStripeMethod: () => [
    "PUT",
    `/api/merchants/${world.reviewed.merchantId}/stripe`,
    { customerId: "cus_1", paymentMethodId: "pm_1" },
  ],
  setBankDetails: () => [
    "PUT",
    "/api/bank-details/EUR",
    { accountHolder: "Fulfilment", accountNumber: "DE75512108001245126199" },
  ],
  deleteBankDetails: async () => {
    const body = { accountHolder: "Fulfilment", accountNumber: "1" };
    await world.test.backOffice.request("PUT", "/api/bank-details/GBP", { body });
    return ["DELETE", "/api/bank-details/GBP"];
  },
  retryPayments: () => ["POST", `/api/merchants/${world.partner.merchantId}/retry-payments`],
  deleteStripeMethod: () => ["DELETE", `/api/merchants/${world.reviewed.merchantId}/stripe`],
  refundOrder: async () => {
    const { id } = await placeOrder(await createPartner(world.test)); // The credit limit of the other merchant is changed here.
    await processDuePayments(world.test);
    return orderRequest(id, "refund", { amount: price, reason: "damaged", reference: "ticket-1" });
  },
  retryPayment: async () => orderRequest(await declined(world), "retry-payment"),
});

/** What has endpoints: the word in the names of its operations, and what its paths begin with. */
type EndpointsOf = { readonly word: "" | "Merchant" | "Facility"; path(): string | Promise<string> };

const endpointChanges = (world: AuditedWorld): ChangeRequests => ({
  ...changesOfEndpoints(world, { word: "", path: () => `/api/connections/${world.partner.connectionId}` }),
  ...changesOfEndpoints(world, {
    word: "Merchant",
    path: () => `/api/merchants/${world.partner.merchantId}`,
  }),
  ...changesOfEndpoints(world, {
    word: "Facility",
    path: async () => `/api/facilities/${await createFacility(world.test)}`,
  }),
});

const changesOfEndpoints = ({ test }: AuditedWorld, { word, path }: EndpointsOf): ChangeRequests => {
  const settings = { url: "https://1.1.1.1/hook?token=t0ken" };
  const now = () => test.clock.now().toISOString();
  const post = async (rest: string, body: object) => {
    const target = `${await path()}/${rest}`;
    const answer = await test.backOffice.post(target, body);
    return { target, created: answer.body };
  };
  const onNew = async (method: string, rest: string, body?: object): Promise<ChangeRequest> => {
    const { target, created: endpoint } = await post("webhook-endpoints", settings);
    if (rest === "/resume") await pauseEndpoint(test, endpoint.id);
    return [method, `${target}/${endpoint.id}${rest}`, body];
  };
  return {
    [`create${word}Resend`]: async () => ["POST", `${await path()}/resends`, { since: now() }],
    [`cancel${word}Resend`]: async () => {
      const { target, created: resend } = await post("resends", { since: now() });
      return ["POST", `${target}/${resend.id}/cancel`];
    },
    [`create${word}WebhookEndpoint`]: async () => ["POST", `${await path()}/webhook-endpoints`, settings],
    [`update${word}WebhookEndpoint`]: () => onNew("PATCH", "", { url: "https://1.1.1.1/other?token=t0ken" }),
    [`delete${word}WebhookEndpoint`]: () => onNew("DELETE", ""),
    [`rotate${word}WebhookSecret`]: () => onNew("POST", "/rotate-secret", {}),
    [`pause${word}WebhookEndpoint`]: () => onNew("POST", "/pause"),
    [`resume${word}WebhookEndpoint`]: () => onNew("POST", "/resume"),
    [`ping${word}WebhookEndpoint`]: () => onNew("POST", "/ping"),
    [`recover${word}Deliveries`]: () => onNew("POST", "/recover", { since: now() }),
    [`redeliver${word}Delivery`]: async () => {
      const { target, created: endpoint } = await post("webhook-endpoints", settings);
      await test.backOffice.post(`${target}/${endpoint.id}/ping`, {});
      const deliveries = target.replace("webhook-endpoints", "deliveries");
      const { data } = (await test.backOffice.get(`${deliveries}?endpointId=${endpoint.id}`)).body;
      return ["POST", `${deliveries}/${data[0].id}/redeliver`];
    },
  };
};

const sandboxChanges = (world: AuditedWorld): ChangeRequests => {
  const { test, partner } = world;
  const path = async (rest: string) =>
    testOrdersPath(partner, `/${(await createTestOrder(test.backOffice, partner)).order.id}/${rest}`);
  return {
    createTestOrder: () => ["POST", testOrdersPath(partner), aTestOrder(partner)],
    transitionTestOrder: async () => ["POST", await path("transitions"), { transition: "hold" }],
    cancelTestOrder: async () => ["POST", await path("cancel")],
    eraseTestOrder: async () => ["POST", await path("erase")],
    armDeliveryFault: async () => {
      await createEndpoint(partner, { mode: "test" });
      return ["POST", await path("delivery-faults"), { fault: "duplicate" }];
    },
    createCertification: async () => {
      const own = await createPartner(test); // A connection has one open run.
      return ["POST", certificationsPath(own), await certificationRequest(own)];
    },
    cancelCertification: async () => {
      const own = await createPartner(test);
      const { body } = await test.backOffice.post(certificationsPath(own), await certificationRequest(own));
      return ["POST", `${certificationsPath(own)}/${body.id}/cancel`];
    },
  };
};

const certificationsPath = ({ connectionId }: Partner) => `/api/connections/${connectionId}/certifications`;
const certificationRequest = async (partner: Partner) => ({
  endpointId: (await createEndpoint(partner, { mode: "test" })).id,
});

const orderChanges = (world: AuditedWorld): ChangeRequests => ({
  approveOrder: async () => orderRequest(await inReview(world), "approve"),
  rejectOrder: async () => orderRequest(await inReview(world), "reject"),
  cancelOrder: async () => orderRequest(await placed(world), "cancel"),
  cancelLines: async () => {
    const partner = await createPartner(world.test); // The credit limit of the other merchant is changed.
    const { id } = await placeOrder(partner, { lines: [{ productId: partner.productIds[0], quantity: 2 }] });
    await acceptAll(world.test);
    await processDuePayments(world.test);
    const { lines, totals } = await readDetail(world.test, id);
    const all = { amount: totals.refundable, reason: "goodwill", reference: "all" }; // A refund would be a second entry.
    await world.test.backOffice.post(`/api/orders/${id}/refund`, all);
    const parts = [{ lineId: lines[0].id, quantity: 1 }];
    return orderRequest(id, "cancel-lines", { lines: parts, reason: "damaged", reference: "ticket-1" });
  },
  erasePersonalData: async () => {
    const id = await placed(world);
    await operationApplied(world.test, id, "cancel");
    return orderRequest(id, "erase-personal-data");
  },
  updateShippingAddress: async () => {
    const path = `/api/orders/${await placed(world)}/shipping-address`;
    return ["PATCH", path, { zip: "N1" }];
  },
  holdOrder: async () => orderRequest(await placed(world), "hold"),
  addOrderNote: async () => orderRequest(await placed(world), "notes", { text: "Call first" }),
  releaseOrderHold: async () => {
    const id = await placed(world);
    await operationApplied(world.test, id, "hold");
    return orderRequest(id, "release-hold");
  },
  adjustStock: async () => {
    const path = `/api/facilities/${await createFacility(world.test)}/stock/${world.reviewed.productIds[1]}`;
    await world.test.backOffice.request("PUT", path, { body: { onHand: 5 } });
    return ["POST", `${path}/adjust`, { difference: -1, reason: "lost" }];
  },
  takePickList: async () => {
    await accepted(world);
    const facilityId = await facilityOfWork(world);
    return ["POST", "/api/pick-lists", { takenBy: "Wilma", orderLimit: 1, facilityId }];
  },
  releasePickList: async () => {
    await accepted(world);
    const body = { takenBy: "Otto", facilityId: await facilityOfWork(world) };
    const { pickList } = (await world.test.backOffice.post("/api/pick-lists", body)).body;
    return ["POST", `/api/pick-lists/${pickList.id}/release`];
  },
  putOrderAside: async () => orderRequest(await accepted(world), "put-aside", { reason: "missing" }),
  takeOrderUp: async () => {
    const id = await accepted(world);
    await operationApplied(world.test, id, "put-aside", { reason: "missing" });
    return orderRequest(id, "take-up");
  },
  closeFacility: async () => ["POST", `/api/facilities/${await createFacility(world.test)}/close`],
  openFacility: async () => {
    const path = `/api/facilities/${await createFacility(world.test)}`;
    await world.test.backOffice.post(`${path}/close`);
    return ["POST", `${path}/open`];
  },
});

const warehouseChanges = (world: AuditedWorld): ChangeRequests => ({
  shipOrder: async () => orderRequest(await accepted(world), "ship"),
  shipOrders: async () => ["POST", "/api/orders/ship", { orders: [{ orderId: await accepted(world) }] }],
  importShipments: async () => {
    await accepted(world, { externalOrderId: "IMPORTED" });
    return ["POST", "/api/shipments/import"];
  },
  completeOrder: async () => orderRequest((await shipped(world)).id, "complete"),
  returnShipment: async () => orderRequest((await shipped(world)).id, "return"),
  updateShipment: async () => [
    "PATCH",
    `/api/shipments/${(await shipped(world)).shipments[0].id}`,
    { status: "shipped" },
  ],
  voidShipment: async () => ["POST", `/api/shipments/${(await shipped(world)).shipments[0].id}/void`, {}],
  createFacility: () => ["POST", "/api/facilities", { name: "New", countryCode: "FR" }],
  updateFacility: async () => [
    "PATCH",
    `/api/facilities/${await createFacility(world.test)}`,
    { name: "Other" },
  ],
  setStock: async () => [
    "PUT",
    `/api/facilities/${await createFacility(world.test)}/stock/${world.reviewed.productIds[1]}`,
    { onHand: 5 },
  ],
  importStock: async () => ["POST", `/api/facilities/${await createFacility(world.test)}/stock/import`],
  setRates: async () => ["PUT", `/api/facilities/${await createFacility(world.test)}/rates`, { rates: [] }],
});

/** The same for what a partner changes of its endpoints. */
export const partnerChanges = (world: AuditedWorld): ChangeRequests => ({
  createWebhookEndpoint: () => ["POST", "/v1/webhook-endpoints", { url: "https://1.1.1.1/hook?token=t0ken" }],
  updateWebhookEndpoint: async () => {
    const [, path] = await endpointRequest(world);
    return ["PATCH", path, { url: "https://1.1.1.1/hook?token=t0ken" }];
  },
  deleteWebhookEndpoint: async () => {
    const [, path] = await endpointRequest(world);
    return ["DELETE", path];
  },
  rotateWebhookSecret: () => endpointRequest(world, "rotate-secret", {}),
  resumeWebhookEndpoint: async () => {
    const { id } = await createEndpoint(world.partner);
    await pauseEndpoint(world.test, id);
    return ["POST", endpointPath(id, "resume")];
  },
  recoverDeliveries: () => endpointRequest(world, "recover", { since: world.test.clock.now().toISOString() }),
  redeliverDelivery: async () => ["POST", `/v1/deliveries/${await delivered(world)}/redeliver`],
  eraseTestOrder: async () => ["POST", `/v1/test-orders/${(await placeTestOrder(world.partner)).id}/erase`],
});
