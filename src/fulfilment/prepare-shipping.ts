import { notFound } from "../http/problems.ts";
import { changeOrder } from "../orders/change-order.ts";
import { asOf } from "../orders/lifecycle.ts";
import type { Order } from "../orders/order.ts";
import { SERVICE } from "../orders/order-step.ts";
import { wireOrderId } from "../orders/order-wire.ts";
import type { Service } from "../service.ts";
import { routeOrder } from "./route-orders.ts";

/**
 * Does for one order at once what workers do within a second: stores an acceptance that the deadline has made, and
 * routes it. So whoever ships an order as soon as it is accepted is not refused for being too quick.
 *
 * @param order as it stands now
 */
export async function prepareShipping(service: Service, order: Order): Promise<void> {
  if (order.testMode || order.status !== "ACCEPTED" || order.routedAt !== null) return;
  const { connectionId, id, testMode } = order;
  await changeOrder(service, {
    connectionId,
    ref: { id, testMode, externalOrderId: wireOrderId(order) },
    missing: notFound("order"),
    actor: SERVICE,
    action: "accept",
    decide(stored, now) {
      const current = asOf(stored, now);
      return { outcome: "applied", from: current, order: current, facts: [] };
    },
  });
  await routeOrder(service, connectionId, id);
}
