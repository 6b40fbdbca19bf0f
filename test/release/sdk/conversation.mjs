// What each runtime does with the SDK. It names nothing that only one of them has.
import { isNewer, isProblem, PartnerOrders, webhooks } from "@partner-orders/sdk";
import { sampleRequest, sampleTypes } from "@partner-orders/sdk/testing";

/** @returns what was said, which is the same in every runtime */
export async function converse({ api, key, name }) {
  const attempts = [];
  const client = new PartnerOrders({ baseUrl: api, key, onAttempt: ({ status }) => attempts.push(status) });
  const { data } = await client.products.list({ limit: 1 });
  const order = {
    externalOrderId: `of-${name} ü`,
    testMode: true,
    lines: [{ productId: data[0].id, quantity: 1 }],
    shippingAddress: {
      firstName: "Ada",
      lastName: "Lovelace",
      address1: "12 St James Square",
      city: "London",
      zip: "SW1Y 4JH",
      countryCode: "GB",
    },
  };
  const first = await client.orders.createOrGet(order, { idempotencyKey: `${name} ü` });
  const again = await client.orders.createOrGet(order, { idempotencyKey: `${name} other` });
  const before = await client.orders.get(order.externalOrderId);
  const held = await client.testOrders.transition(first.order.id, { transition: "hold" });
  await client.testOrders.transition(first.order.id, { transition: "accept" });
  const error = await client.orders.cancel(first.order.id).catch((reason) => reason);
  const types = [];
  for await (const { events } of client.events.follow({ orderId: first.order.id, pollMs: 10 })) {
    types.push(...events.map(({ type }) => type));
    if (types.includes("order.onHold")) break;
  }
  const aborted = await client.orders
    .get(first.order.id, { signal: AbortSignal.abort("left") })
    .catch((reason) => reason);
  const away = new PartnerOrders({ baseUrl: "http://127.0.0.1:9", attemptsMax: 1 });
  const unreachable = await away.me().catch((reason) => reason);
  const secret = `whsec_${btoa("0123456789abcdef0123456789abcdef")}`;
  const verified = [];
  for (const type of sampleTypes)
    verified.push((await webhooks.verify(await sampleRequest(type, { secret }), secret)).type === type);
  const forged = await webhooks
    .verify(await sampleRequest("order.created", { secret: `whsec_${btoa("another")}` }), secret)
    .catch((reason) => reason);
  await client.testOrders.erase(first.order.id);
  return {
    created: [first.created, again.created, again.order.id === first.order.id],
    isNewer: isNewer(held, before),
    problem: isProblem(error) && [error.code, error.problem.orderStatus, typeof error.requestId],
    types,
    aborted,
    unreachable: unreachable.name,
    verified: verified.every(Boolean),
    forged: forged.reason,
    attempts,
  };
}
