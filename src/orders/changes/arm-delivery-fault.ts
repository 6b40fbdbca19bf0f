import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import type { OrderRef } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { isProblem, notFound, type Problem } from "../../platform/wire/problems.ts";
import { armFault, type DeliveryFaultRequest } from "../../webhooks/faults/arm-fault.ts";
import type { ArmedFault } from "../../webhooks/faults/delivery-fault.ts";
import { listFaults } from "../../webhooks/faults/faults-sql.ts";
import type { ReadOrder } from "../reading/read-order.ts";
import { inOrderTransaction } from "./change-order.ts";

/**
 * POST /v1/test/orders/{orderId}/delivery-faults. The order is locked as its transitions lock it, so a fault is armed before an event
 * or after it. A real order gets the same response as a missing one (docs/design/deliveries.md, "Rehearsed faults").
 * @param by who requests it, for the audit log. Null for a partner, whose faults leave no entry
 */
export const armDeliveryFault = (
  context: Context,
  connection: ConnectionKey,
  ref: OrderRef,
  request: DeliveryFaultRequest,
  by: Initiator | null = null,
): Promise<ArmedFault | Problem> =>
  inOrderTransaction(context, connection, ref, async (tx, order, at) => {
    if (!order?.testMode) return notFound("test order");
    const armed = await armFault(tx, at, order, request, at.now);
    if (by !== null && !isProblem(armed)) {
      const { merchantId, connectionId, id } = order;
      const { fault } = armed;
      await recordAudit(tx, at, by, {
        merchantId,
        connectionId,
        subject: "test",
        ids: [id],
        details: { fault },
      });
    }
    return armed;
  });

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
