import type { Partner } from "./builders.ts";
import { routeAll } from "./facilities.ts";
import { processDuePayments } from "./payments.ts";
import { operationApplied, placeAcceptedOrder } from "./real-orders.ts";
import type { TestService } from "./test-service.ts";

export type ReturnableLine = { id: string; shipmentId: string | null; returnedQuantity: number };

/** An order of 5 units of each of two products, in a shipment each, completed and paid. */
export async function shipTwoParcels(test: TestService, partner: Partner) {
  const requested = partner.productIds.map((productId) => ({ productId, quantity: 5 }));
  const order = await placeAcceptedOrder(test, partner, { lines: requested });
  await routeAll(test);
  await processDuePayments(test);
  const lines = order.lines.map(({ id }: ReturnableLine) => id) as [string, string]; // Two lines.
  for (const id of lines) await operationApplied(test, order.id, "ship", { lineIds: [id] });
  const { shipments } = await operationApplied(test, order.id, "complete");
  return { id: order.id, lines, shipments: shipments.map((one: { id: string }) => one.id) };
}
