import { applyTransition, isSettled } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderRef } from "../../lifecycle/order.ts";
import type { KeyAccess } from "../../merchants/key-mode.ts";
import type { Context } from "../../platform/context.ts";
import { isProblem, notFound, type Problem } from "../../platform/wire/problems.ts";
import { lockOrder } from "../orders-sql.ts";
import { changeOrder } from "./change-order.ts";
import { auditedIfStaff, byPartner, causedBy, type Requester } from "./requester.ts";

/**
 * POST /v1/orders/{orderId}/cancel. Specification, part 4. Cancel and acceptance can never both succeed (decision
 * 0012). A retry is safe: for a canceled order it returns the order again and publishes nothing.
 */
export async function cancelOrder(
  context: Context,
  access: KeyAccess,
  ref: OrderRef,
  by: Requester = byPartner(),
): Promise<Order | Problem> {
  const outcome = await changeOrder(context, {
    async lock(tx) {
      const order = await lockOrder(tx, access, ref, context.clock);
      return access.testOnly && !order?.testMode ? undefined : order;
    },
    missing: missingOrder(access),
    cause: causedBy(by, "cancel"),
    ...auditedIfStaff(context, by),
    decide: (order, now) => applyTransition(order, { name: "cancelByPartner" }, now),
  });
  if (isProblem(outcome)) return outcome;
  return outcome.outcome === "applied" ? outcome.order : notCancelable(outcome.order);
}

/** For a test key a real order is missing, and the response names what was searched (decision 0074). */
export const missingOrder = ({ testOnly }: Pick<KeyAccess, "testOnly">): Problem =>
  notFound(testOnly ? "test order" : "order");

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
