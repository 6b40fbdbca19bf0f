import { toTypeId } from "../../../../src/platform/ids.ts";
import { created } from "../../../support/builders.ts";
import { sendDue, startDispatcher, storeEndpoint } from "../../../support/dispatch.ts";
import { runJob } from "../../../support/jobs.ts";
import { operationApplied } from "../../../support/real-orders.ts";
import { startReceiver } from "../../../support/receivers.ts";
import { deliveryOf } from "../../../support/webhooks.ts";
import { type Shop, sell } from "./shop.ts";

/** What the pages of the pictures are about. */
export type Trade = {
  readonly endpointId: string;
  /** Of an event that has arrived after failures. */
  readonly deliveryId: string;
  /** Orders by what is special about them. */
  readonly orders: Readonly<Record<"shipped" | "reviewed" | "ready" | "test", string>>;
};

const ENDPOINT = "https://shop.northern-gifts.example/webhooks";

/** The merchant pays a part of what it owes. */
const pay = ({ service, partner }: Shop) =>
  created(
    service.backOffice.post(`/api/merchants/${partner.merchantId}/account/payments`, {
      amount: { amount: "300.00", currency: "EUR" },
      reference: "bank-2026-03-05",
    }),
  );

/** A week of orders. The receiver of the webhooks fails on Thursday, and at the end. */
export async function trade(shop: Shop): Promise<Trade> {
  const { service, partner } = shop;
  let status = 200;
  const receiver = await startReceiver((_, response) => {
    const body = status === 200 ? { received: true } : { error: "The shop is being updated." };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  const endpoint = await storeEndpoint(service, partner, { url: receiver.url });
  const dispatcher = startDispatcher(service, { allowPrivateNetworks: true });
  const work = async () => {
    for (const name of ["accept-orders", "process-payments", "route-orders", "complete-shipped-orders"])
      await runJob(service, name);
    await sendDue(dispatcher);
  };
  const pass = async (hours: number) => {
    await work();
    service.clock.advance({ hours });
    await work();
  };
  const ship = (id: string, trackingNumber: string) =>
    operationApplied(service, id, "ship", { carrier: "Royal Mail", trackingNumber });

  let shipped = "";
  for (const day of [1, 2, 3, 4]) {
    status = day === 4 ? 503 : 200;
    const orders = [
      await sell(shop, { 0: day, 2: 1 }),
      await sell(shop, { 1: 2 }),
      await sell(shop, { 3: 4, 4: day }),
    ];
    await pass(3);
    for (const [index, id] of orders.entries()) {
      shipped = id;
      await ship(id, `JD01460000${day}${index}GB`);
      if (day < 3) await operationApplied(service, id, "complete");
    }
    await pass(21);
    if (day === 3) await pay(shop);
  }
  status = 200;
  const held = await sell(shop, { 4: 2 });
  const ready = await sell(shop, { 0: 2, 3: 1 });
  await sell(shop, { 1: 6 });
  await sell(shop, { 2: 1 });
  await pass(2.5);
  status = 503;
  await operationApplied(service, held, "hold", { reasons: ["merchant_request"] });
  const reviewed = await sell(shop, { 0: 60, 1: 24 });
  await sell(shop, { 3: 200 });
  await sell(shop, { 0: 1 });
  const canceled = await sell(shop, { 4: 1 });
  await partner.client.post(`/v1/orders/${canceled}/cancel`);
  await pass(0.2);
  await service.db.query({
    name: "picture-endpoint",
    text: "update webhook_endpoints set url = $2 where id = $1",
    values: [endpoint.id, ENDPOINT],
  });
  await receiver.close();
  const deliveryId = await deliveryOf(partner, toTypeId("whe", endpoint.id), shipped);
  return {
    endpointId: endpoint.id,
    deliveryId,
    orders: { shipped, reviewed, ready, test: await rehearse(shop) },
  };
}

/** A test order in the middle of its life. Returns its id. */
async function rehearse(shop: Shop): Promise<string> {
  const id = await sell(shop, { 0: 2 }, { externalOrderId: "NG-rehearsal", testMode: true });
  for (const transition of ["accept", "hold", "releaseHold", "ship"])
    await shop.partner.client.post(`/v1/test/orders/${id}/transitions`, { transition });
  return id;
}
