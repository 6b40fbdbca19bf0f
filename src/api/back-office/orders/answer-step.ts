import { transitionOrder } from "../../../orders/changes/transition-order.ts";
import type { Context } from "../../../platform/context.ts";
import { isProblem, notFound, type Problem } from "../../../platform/wire/problems.ts";
import type { Answer } from "../../http/route.ts";
import type { BackOfficeCaller } from "../access.ts";
import { describeOrder, findOrder, OrderIdParams } from "./find-order.ts";
import { BackOfficeOrderSchema } from "./order-schemas.ts";

/** The common part of the rows of all transitions of a real order. */
export const stepRow = {
  method: "POST",
  tag: "Orders",
  params: OrderIdParams,
  answers: { 200: { description: "The order after the transition.", schema: BackOfficeOrderSchema } },
  problems: ["not-found", "validation-failed", "transition-refused"],
} as const;

/** Applies a transition to the order that a path names, and returns the resulting order. */
export async function answerStep(
  context: Context,
  caller: BackOfficeCaller,
  id: string,
  step: Omit<Parameters<typeof transitionOrder>[1], "actor" | "merchantId" | "connectionId" | "orderId">,
): Promise<Answer | Problem> {
  const found = await findOrder(context, caller, id);
  if (found === null) return notFound("order");
  const { merchantId, connectionId, id: orderId } = found.order;
  const actor = { kind: caller.kind, name: caller.name };
  const taken = await transitionOrder(context, { ...step, actor, merchantId, connectionId, orderId });
  if (isProblem(taken)) return taken;
  return { status: 200, body: await describeOrder(context, { ...found, order: taken }) };
}
