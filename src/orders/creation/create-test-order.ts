import type { Static } from "typebox";
import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { fullAccess } from "../../merchants/key-mode.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import type { ReadOrder } from "../read-order.ts";
import { type Created, placementOf, resolvePlacement } from "./create-order.ts";
import type { Placement } from "./draft-order.ts";
import type { TestOrderRequestSchema } from "./order-request.ts";
import { type Placed, placeOrderWithin } from "./place-orders.ts";

/**
 * Creates a test order for a caller of the back office (decision 0140). It has the rules, limits, keys and events of the
 * partner's own test orders. A request without a key and without an external id is never a retry.
 */
export async function createTestOrder(
  context: Context,
  readOrder: ReadOrder,
  connection: ConnectionKey,
  request: {
    readonly idempotencyKey: string | undefined;
    readonly body: Static<typeof TestOrderRequestSchema>;
  },
  by: Initiator,
): Promise<Created | Problem> {
  const { idempotencyKey, body } = request;
  const key = idempotencyKey ?? body.externalOrderId ?? context.newId();
  const placement = placementOf(connection, key, { ...body, testMode: true }, by.requestId ?? undefined);
  // Who makes test orders here reads the real orders of the connection, too.
  const access = fullAccess(connection);
  return resolvePlacement(access, placement, (one) => placeAudited(context, one, by), readOrder);
}

async function placeAudited(context: Context, placement: Placement, by: Initiator): Promise<Placed> {
  const placed = await inTransaction(context, async (tx) => {
    const outcome = await placeOrderWithin(tx, context, placement);
    if (outcome.outcome === "created") {
      const { merchantId, connectionId, id, status, externalOrderId } = outcome.order;
      const details = { status, ...(externalOrderId !== null && { externalOrderId }) };
      await recordAudit(tx, context, by, { merchantId, connectionId, subject: "test", ids: [id], details });
    }
    return outcome;
  });
  if (placed.outcome === "created") context.signals.send("deliveries_due", [placement]);
  return placed;
}
