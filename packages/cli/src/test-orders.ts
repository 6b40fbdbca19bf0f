import { randomUUID } from "node:crypto";
import type { CreatedOrder, PartnerOrders } from "../../sdk/src/index.ts";
import { UsageError } from "./exit.ts";

/** A test order of one product, by default the first one that can be ordered. */
export async function createTestOrder(
  client: PartnerOrders,
  options: { readonly product?: string; readonly quantity?: number; readonly externalId?: string } = {},
): Promise<CreatedOrder> {
  const { product = await anyProduct(client), quantity = 1, externalId = `cli-${randomUUID()}` } = options;
  return client.orders.create({
    externalOrderId: externalId,
    testMode: true,
    lines: [{ productId: product, quantity }],
    shippingAddress: {
      firstName: "Ada",
      lastName: "Lovelace",
      address1: "12 St James Square",
      city: "London",
      zip: "SW1Y 4JH",
      countryCode: "GB",
    },
  });
}

async function anyProduct(client: PartnerOrders): Promise<string> {
  for await (const { id, status } of client.products.list()) if (status === "active") return id;
  throw new UsageError(
    "The connection has no product that can be ordered. The merchant exposes products to it.",
  );
}
