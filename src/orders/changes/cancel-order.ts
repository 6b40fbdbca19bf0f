import { PARTNER } from "../../lifecycle/applied-transition.ts";
import { applyTransition, isSettled } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderRef } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { isProblem, notFound, type Problem } from "../../platform/wire/problems.ts";
import { lockOrder } from "../orders-sql.ts";
import { changeOrder } from "./change-order.ts";

/**
 * POST /v1/orders/{orderId}/cancel. Specification, part 4. Cancel and acceptance can never both succeed (decision
 * 0012). A retry is safe: for a canceled order it returns the order again and publishes nothing.
 */
export async function cancelOrder(
  context: Context,
  connection: ConnectionKey,
  ref: OrderRef,
): Promise<Order | Problem> {
  const outcome = await changeOrder(context, {
    lock: (tx) => lockOrder(tx, connection, ref, context.clock),
    missing: notFound("order"),
    cause: { actor: PARTNER, operation: "cancel" },
    decide: (order, now) => applyTransition(order, { name: "cancelByPartner" }, now),
  });
  if (isProblem(outcome)) return outcome;
  return outcome.outcome === "applied" ? outcome.order : notCancelable(outcome.order);
}

function notCancelable(order: Order): Problem {
  const { status } = order;
  const members = { orderStatus: status };
  if (isSettled(order))
    return {
      code: "order-not-cancelable",
      detail: "The order is already completed, canceled or returned.",
      members,
    };
  const detail =
    status === "PROCESSING"
      ? "An order in review cannot be canceled: it never had a cancel window. It remains active, and its events continue."
      : "The order's cancel window has closed. The order remains active, and its events continue.";
  return { code: "order-not-cancelable", detail, members };
}
