import { created, placeOrder } from "../support/builders.ts";
import { createFacility, routeAll, setStock } from "../support/facilities.ts";
import { placeAcceptedOrder } from "../support/real-orders.ts";
import type { Client } from "../support/test-service.ts";
import type { World } from "./world.ts";

/** What pages of the warehouse show. */
export type Floor = {
  readonly facilityId: string;
  readonly pickListId: string;
  /** An order that waits to be packed. */
  readonly readyOrder: string;
  /** An order of which nothing has happened yet, and a test order: time has passed for those of the world. */
  readonly freshOrder: string;
  readonly testOrder: string;
  /** A token with some of the scopes of its role. */
  readonly tokenId: string;
  /** An endpoint of the merchant and one of the facility, each with the delivery of a ping. */
  readonly ofMerchant: OwnEndpoint;
  readonly ofFacility: OwnEndpoint;
};

type OwnEndpoint = { readonly endpointId: string; readonly deliveryId: string };

/** Opens a facility with stock, rates, an order on a pick list and another one to pack, and puts an order in review. */
export async function openFloor({ service, partner }: World): Promise<Floor> {
  const { backOffice } = service;
  const facilityId = await createFacility(service);
  await backOffice.request("PATCH", `/api/facilities/${facilityId}`, { body: { name: "Hall one" } });
  const [first, second] = partner.productIds;
  await setStock(service, facilityId, first, 40);
  await setStock(service, facilityId, second, 3);
  const readyOrder = (await placeAcceptedOrder(service, partner, { externalOrderId: "shop-1004" })).id;
  await placeAcceptedOrder(service, partner, { externalOrderId: "shop-1005" });
  await routeAll(service);
  const taken = await backOffice.post("/api/pick-lists", {
    ...{ facilityId, takenBy: "Table 3", orderLimit: 1, leaseMinutes: 720 },
  });
  await backOffice.request("PATCH", `/api/connections/${partner.connectionId}`, {
    body: { reviewPolicy: { maxQuantity: 5 } },
  });
  const lines = [{ productId: first, quantity: 6 }];
  await placeOrder(partner, { externalOrderId: "shop-1006", lines });
  const freshOrder = (await placeOrder(partner, { externalOrderId: "shop-1007" })).id;
  const testOrder = (await placeOrder(partner, { externalOrderId: "rehearsal-1", testMode: true })).id;
  const token = await backOffice.post("/api/tokens", {
    ...{ name: "Scales", role: "warehouse", scopes: ["orders:read", "stock:read", "stock:write"] },
  });
  const tokenId = token.body.id;
  const ofMerchant = await pingedEndpoint(backOffice, `/api/merchants/${partner.merchantId}`);
  const ofFacility = await pingedEndpoint(backOffice, `/api/facilities/${facilityId}`);
  return {
    ofMerchant,
    ofFacility,
    facilityId,
    pickListId: taken.body.pickList.id,
    readyOrder,
    freshOrder,
    testOrder,
    tokenId,
  };
}

/** An endpoint below a path of the back office, with the delivery of a ping, which nothing sends. */
export async function pingedEndpoint(
  backOffice: Client,
  path: string,
  fields: object = { url: "https://1.1.1.1/programs", description: "A program" },
): Promise<OwnEndpoint> {
  const { id: endpointId } = await created(backOffice.post(`${path}/webhook-endpoints`, fields));
  const ping = await backOffice.post(`${path}/webhook-endpoints/${endpointId}/ping`);
  return { endpointId, deliveryId: ping.body.id };
}
