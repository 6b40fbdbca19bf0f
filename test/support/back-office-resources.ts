import { backOfficeRoutes } from "../../src/back-office/routes.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import {
  anAddress,
  created,
  createKey,
  createPartner,
  type Partner,
  placeOrder,
  placeTestOrder,
} from "./builders.ts";
import type { Client, RequestOptions, TestService } from "./test-service.ts";
import { createEndpoint } from "./webhooks.ts";

/** One of everything that a path of the back office can name, all of one merchant. */
export type MerchantResources = { partner: Partner; ids: Record<string, string> };

/** An order in review, so that every route finds the resources that it names. */
export async function createMerchantResources(test: TestService): Promise<MerchantResources> {
  const partner = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
  const { id: keyId } = await createKey(test, partner.connectionId);
  const endpoint = await createEndpoint(partner);
  const { id: orderId } = await placeOrder(partner, {
    lines: [{ productId: partner.productIds[0], quantity: 2 }],
  });
  // The first charge has the id of its order, and an order in review has none.
  const charged = await placeOrder(partner);
  const testOrder = await placeTestOrder(partner);
  const facility = await created(
    test.backOffice.post("/api/facilities", { name: "Depot", countryCode: "GB" }),
  );
  const deliveries = await partner.client.get("/v1/deliveries");
  const resend = await test.backOffice.post(`/api/connections/${partner.connectionId}/resends`, {
    since: "2026-03-02T08:00:00Z",
  });
  const { id: testEndpointId } = await createEndpoint(partner, { mode: "test" });
  const run = await test.backOffice.post(`/api/connections/${partner.connectionId}/certifications`, {
    endpointId: testEndpointId,
  });
  const token = await created(
    test.backOffice.post("/api/tokens", { name: "T", role: "merchant", merchantIds: [partner.merchantId] }),
  );
  const person = await created(
    test.backOffice.post("/api/people", {
      name: "P",
      email: `${partner.merchantId}@example.com`,
      grants: [{ role: "merchant", merchantIds: [partner.merchantId] }],
    }),
  );
  return {
    partner,
    ids: {
      people: person.id,
      merchants: partner.merchantId,
      connections: partner.connectionId,
      keys: keyId,
      products: partner.productIds[0],
      productId: partner.productIds[0],
      orders: orderId,
      orderId: testOrder.id,
      charges: charged.id.replace("ord_", "chg_"),
      facilities: facility.id,
      "pick-lists": "pick_01m7y7np16fe68bxp4h91tdmdn",
      endpointId: endpoint.id,
      deliveryId: deliveries.body.data[0].id,
      resendId: resend.body.id,
      certificationId: run.body.id,
      shipments: "shp_01m7y7np16fe68bxp4h91tdmdn",
      tokens: token.id,
      views: "view_01m7y7np16fe68bxp4h91tdmdn",
      "audit-entries": "aud_01m7y7np16fe68bxp4h91tdmdn",
    },
  };
}

const price = { amount: "1.00", currency: "EUR" };
/** A body that fits, for routes that need one. */
const BODIES: Record<string, object> = {
  createMerchant: { name: "New", accountEmail: "new@example.com" },
  createConnection: { name: "New" },
  createView: { name: "New", page: "orders", query: "" },
  addOrderNote: { text: "Call first" },
  cancelLines: {
    lines: [{ lineId: "line_01m7y7np16fe68bxp4h91tdmdn", quantity: 1 }],
    reason: "damaged",
    reference: "ticket-1",
  },
  createFacility: { name: "New", countryCode: "DE" },
  setStock: { onHand: 5 },
  shipOrders: { orders: [{ orderId: "ord_01m7y7np16fe68bxp4h91tdmdn" }] },
  takePickList: { takenBy: "Wilma" },
  putOrderAside: { reason: "missing" },
  exposeProducts: { filter: {} },
  withdrawProducts: { filter: {} },
  adjustStock: { difference: 1, reason: "found" },
  setRates: { rates: [] },
  recordAccountPayment: { amount: price, reference: "transfer-1" },
  refundOrder: { amount: price, reason: "damaged", reference: "ticket-1" },
  setBankDetails: { accountHolder: "Fulfilment", accountNumber: "DE75512108001245126199" },
  setStripeMethod: { customerId: "cus_1", paymentMethodId: "pm_1" },
  recoverDeliveries: { since: "2026-03-02T08:00:00Z" },
  createResend: { since: "2026-03-02T08:00:00Z" },
  createWebhookEndpoint: { url: "https://1.1.1.1/hooks" },
  recoverMerchantDeliveries: { since: "2026-03-02T08:00:00Z" },
  createMerchantResend: { since: "2026-03-02T08:00:00Z" },
  createMerchantWebhookEndpoint: { url: "https://1.1.1.1/hooks" },
  recoverFacilityDeliveries: { since: "2026-03-02T08:00:00Z" },
  createFacilityResend: { since: "2026-03-02T08:00:00Z" },
  createFacilityWebhookEndpoint: { url: "https://1.1.1.1/hooks" },
  createTestOrder: {
    lines: [{ productId: "019f1f83-aac1-73a5-9745-52489a50b5b6", quantity: 1 }],
    shippingAddress: anAddress(),
  },
  transitionTestOrder: { transition: "hold" },
  armDeliveryFault: { fault: "duplicate" },
  createToken: { name: "New", role: "monitoring" },
  invitePerson: { name: "New", email: "new@example.com", grants: [{ role: "support" }] },
  setGrants: { grants: [{ role: "support" }] },
  createProduct: { sku: "NEW", name: "New", price },
};

export type BackOfficeRequest = {
  operationId: string;
  method: string;
  path: string;
  options: RequestOptions;
  send(client: Client): ReturnType<Client["request"]>;
};

const csv = (rawBody: string) => ({ rawBody, headers: { "content-type": "text/csv" } });
/** A file that fits, for routes that take one. */
const FILES: Record<string, RequestOptions> = {
  importProducts: csv("sku,name,price\nS,N,1.00\n"),
  importStock: csv("sku,onHand\nS,1\n"),
  importShipments: csv("orderId,trackingNumber\nord_01m7y7np16fe68bxp4h91tdmdn,1Z\n"),
};

/** A request for every route of the back office, with the ids of one merchant's resources. */
export const requestsOf = ({ ids }: MerchantResources): BackOfficeRequest[] => {
  const namingIds: Record<string, object> = {
    createCertification: { endpointId: String(ids["endpointId"]) },
  };
  return backOfficeRoutes.map(({ operationId, method, path: template, body: schema }) => {
    const [, , things = ""] = template.split("/");
    const path = template
      .replace("{id}", String(ids[things]))
      .replace(/\{(\w+)\}/g, (_, name: string) => (name === "currency" ? "EUR" : String(ids[name])));
    const body = schema && { body: BODIES[operationId] ?? namingIds[operationId] ?? {} };
    const options: RequestOptions = FILES[operationId] ?? { ...body };
    return { operationId, method, path, options, send: (client) => client.request(method, path, options) };
  });
};

/** A person of the warehouse, or of a merchant. */
export const warehouseOf = (test: TestService): Client =>
  test.backOfficeFor({ kind: "warehouse", name: "Wilma Packer" });
export function personOf(test: TestService, merchantId: string): Client {
  const id = fromTypeId("mer", merchantId);
  if (id === null) throw new Error(`${merchantId} is no merchant's id.`);
  return test.backOfficeFor({ kind: "merchant", merchantIds: [id], name: "Mia Merchant" });
}

/** A person of the partner of this connection. */
export function developerOf(
  test: TestService,
  partner: Pick<Partner, "merchantId" | "connectionId">,
): Client {
  const [merchantId, connectionId] = [
    fromTypeId("mer", partner.merchantId),
    fromTypeId("con", partner.connectionId),
  ];
  if (merchantId === null || connectionId === null) throw new Error("These are no ids of a connection.");
  const grants = [{ role: "partner" as const, connections: [{ merchantId, connectionId }] }];
  return test.backOfficeFor({ grants, name: "Dev Developer" });
}
