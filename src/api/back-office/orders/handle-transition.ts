import type { Role } from "../../../access/grant.ts";
import { roleOnOrder } from "../../../access/scope.ts";
import type { Order } from "../../../lifecycle/order.ts";
import { type RequestedTransition, transitionOrder } from "../../../orders/changes/transition-order.ts";
import type { Context } from "../../../platform/context.ts";
import { isProblem, notFound, type Problem } from "../../../platform/wire/problems.ts";
import type { RouteResponse } from "../../http/route.ts";
import type { BackOfficeCaller } from "../access.ts";
import { actingOn, describeOrder, findOwner, OrderIdParams } from "./find-order.ts";
import { BackOfficeOrderSchema } from "./order-schemas.ts";

/** The common part of the rows of all transitions of a real order. */
export const orderOperationRow = {
  method: "POST",
  tag: "Orders",
  params: OrderIdParams,
  responses: { 200: { description: "The order after the transition.", schema: BackOfficeOrderSchema } },
  problems: ["not-found", "validation-failed", "transition-refused"],
} as const;

type OrderTransition = Omit<RequestedTransition, "cause" | "transition"> &
  RequestedTransition["cause"] & {
    /** The role is the one in which the caller sees the order. */
    transition(order: Order, role: Role): ReturnType<RequestedTransition["transition"]>;
  };

/** Applies a transition to the order that a path names, and returns the resulting order. */
export async function handleTransition(
  context: Context,
  caller: BackOfficeCaller,
  id: string,
  { operation, detail = null, restock = false, by, transition, ...request }: OrderTransition,
): Promise<RouteResponse | Problem> {
  const found = await findOwner(context, caller, id);
  if (found === null) return notFound("order");
  const cause = { operation, detail, restock };
  const order = await transitionOrder(context, found, {
    ...request,
    by: actingOn(found, by),
    cause,
    transition(read) {
      // Routing may have moved it to another facility since then.
      const role = roleOnOrder(caller.grants, read);
      return role === null ? notFound("order") : transition(read, role);
    },
  });
  return isProblem(order)
    ? order
    : { status: 200, body: await describeOrder(context, caller, { order, owner: found }) };
}
