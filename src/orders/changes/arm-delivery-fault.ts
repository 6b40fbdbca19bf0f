import type { OrderRef } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { notFound, type Problem } from "../../platform/wire/problems.ts";
import { armFault, type DeliveryFaultRequest } from "../../webhooks/faults/arm-fault.ts";
import type { ArmedFault } from "../../webhooks/faults/delivery-fault.ts";
import { listFaults } from "../../webhooks/faults/faults-sql.ts";
import type { ReadOrder } from "../reading/read-order.ts";
import { inOrderTransaction } from "./change-order.ts";

/**
 * POST /v1/test/orders/{orderId}/delivery-faults. The order is locked as its transitions lock it, so a fault is armed before an event
 * or after it. A real order gets the same response as a missing one (docs/design/deliveries.md, "Rehearsed faults").
 */
export const armDeliveryFault = (
  context: Context,
  connection: ConnectionKey,
  ref: OrderRef,
  request: DeliveryFaultRequest,
): Promise<ArmedFault | Problem> =>
  inOrderTransaction(context, connection, ref, async (tx, order, at) =>
    order?.testMode ? armFault(tx, at, order, request, at.now) : notFound("test order"),
  );

/** The faults of a test order, oldest first. */
export async function listDeliveryFaults(
  { db }: Context,
  readOrder: ReadOrder,
  { merchantId, connectionId }: ConnectionKey,
  ref: OrderRef,
): Promise<ArmedFault[] | Problem> {
  const order = await readOrder({ merchantId, connectionId, ref });
  return order?.testMode ? listFaults(db, { merchantId, connectionId }, order.id) : notFound("test order");
}
