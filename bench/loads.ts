import { ADDRESS } from "../test/support/address.ts";
import type { Load, LoadResult } from "./load-generator.ts";
import { generateLoad } from "./processes.ts";
import { countOrders, type Partner, type Site } from "./site.ts";

export const CONNECTIONS = 64;

/** Two lines, as partners typically send. */
export const orderTemplate = ({ productIds }: Pick<Partner, "productIds">): string =>
  JSON.stringify({
    externalOrderId: "{id}",
    lines: [
      { productId: productIds[0], quantity: 1 },
      { productId: productIds[1], quantity: 2 },
    ],
    shippingAddress: ADDRESS,
  });

let loads = 0;

export function loadOf(site: Site, path: string, to: string, change: Partial<Load> = {}): Load {
  loads += 1;
  const headers = { authorization: `Bearer ${site.partner.key}`, "content-type": "application/json" };
  return {
    url: to + path,
    method: "GET",
    headers,
    idPrefix: `load-${loads}`,
    connections: CONNECTIONS,
    seconds: 5,
    ...change,
  };
}

export const creation = (site: Site, to = site.service.url, change: Partial<Load> = {}): Load =>
  loadOf(site, "/v1/orders", to, { method: "POST", bodyTemplate: orderTemplate(site.partner), ...change });

/** Creates orders and compares the responses with the database: every 201 is an order, with its lines and event. */
export async function createOrders(site: Site, change: Partial<Load> = {}): Promise<LoadResult> {
  const before = await countOrders(site);
  const result = await generateLoad(creation(site, site.service.url, change));
  const made = (await countSettled(site)) - before;
  // The generator disconnects when its time is over, so up to one order per connection is stored but not counted.
  if (result.failed > 0 || made < result.ok || made > result.ok + (change.connections ?? CONNECTIONS)) {
    throw new Error(`${result.ok} creations succeeded, ${result.failed} failed, ${made} orders are stored.`);
  }
  return result;
}

/** Orders that were on their way when the generator disconnected are stored then, so that the next load does not count them. */
async function countSettled(site: Site): Promise<number> {
  for (let before = -1; ; ) {
    const orders = await countOrders(site);
    if (orders === before) return orders;
    before = orders;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
