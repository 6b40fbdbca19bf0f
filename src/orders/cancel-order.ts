import { notFound, type Problem } from "../http/problems.ts";
import { inOneStep, type Service } from "../service.ts";
import { isStorableText } from "../text.ts";
import { applyTransition } from "./lifecycle.ts";
import type { Order, OrderRef } from "./order.ts";
import { lockOrder } from "./orders-sql.ts";
import { asSeenNow } from "./read-order.ts";
import { storeOutcome } from "./store-outcome.ts";

/**
 * POST /v1/orders/{orderId}/cancel. Specification, part 4. The clock is read under the order's lock, so that cancel
 * and acceptance can never both win (decision 0012). A retry is safe: a canceled order answers again, and no second
 * event is told.
 */
export async function cancelOrder(
  service: Service,
  connectionId: string,
  ref: OrderRef,
): Promise<Order | Problem> {
  if (!isStorableText(ref.externalOrderId)) return notFound("order");
  return inOneStep(service, async (tx) => {
    const stored = await lockOrder(tx, connectionId, ref, service.clock);
    const now = service.clock.now();
    if (stored === undefined || asSeenNow(stored, now) === null) return notFound("order");
    const outcome = applyTransition(stored, { name: "cancelByPartner" }, now);
    await storeOutcome(tx, stored, outcome, service.newId, now);
    return outcome.outcome === "applied" ? outcome.order : notCancelable(outcome.order);
  });
}

function notCancelable({ status }: Order): Problem {
  const detail =
    status === "PROCESSING"
      ? "The order is being reviewed; it never had a cancel window. It stays live and its events continue."
      : "The order's cancel window has closed. The order stays live and its events continue.";
  return { problem: "order-not-cancelable", detail, members: { orderStatus: status } };
}
