import { SERVICE } from "../../lifecycle/applied-transition.ts";
import { asOf } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import { changeOrder } from "../../orders/changes/change-order.ts";
import type { Context } from "../../platform/context.ts";
import { wireOrderId } from "../../platform/ids.ts";
import { notFound } from "../../platform/wire/problems.ts";
import { routeOrder } from "../routing/route-orders.ts";

/**
 * Does for one order at once what workers do within a second: stores an acceptance by the deadline, and routes the
 * order. So shipping an order right after its acceptance is not rejected.
 *
 * @param order as it is now
 */
export async function prepareShipping(context: Context, order: Order): Promise<void> {
  if (order.testMode || order.status !== "ACCEPTED" || order.routedAt !== null) return;
  const { merchantId, connectionId, id, testMode } = order;
  await changeOrder(context, {
    merchantId,
    connectionId,
    ref: { id, testMode, externalOrderId: wireOrderId(order) },
    missing: notFound("order"),
    actor: SERVICE,
    operation: "accept",
    decide(stored, now) {
      const current = asOf(stored, now);
      return { outcome: "applied", from: current, order: current, facts: [] };
    },
  });
  await routeOrder(context, order, id);
}
