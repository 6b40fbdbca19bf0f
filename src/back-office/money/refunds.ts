import { readMerchant } from "../../merchants/merchants-sql.ts";
import { refundOrder } from "../../orders/returns/refund-order.ts";
import { isProblem, notFound } from "../../platform/wire/problems.ts";
import { type BackOfficeRoute, operatorOnly, route } from "../access.ts";
import { describeOrder, findOwner, OrderIdParams } from "../orders/find-order.ts";
import { BackOfficeOrderSchema, MONEY_PROBLEMS } from "../orders/order-wire.ts";
import { orderRefundErrors, RefundRequestSchema, toSentRefund } from "./refund-wire.ts";

export const refundRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/orders/{id}/refund",
    operationId: "refundOrder",
    admits: operatorOnly,
    tag: "Money",
    params: OrderIdParams,
    problems: MONEY_PROBLEMS,
    summary: "Refund an order",
    description:
      "Refunds the merchant an amount, or the price of lines, through the gateways that charged it. The request names what it returns; `totals` of the order says how much is left. The status of the order does not change. Never more is refunded than was charged. A person needs recent authentication. Repeating a reference with the same amount, lines and reason returns 200 and refunds nothing.",
    body: RefundRequestSchema,
    responses: {
      200: { description: "The order. The refund was already requested.", schema: BackOfficeOrderSchema },
      201: { description: "The order with its refund.", schema: BackOfficeOrderSchema },
    },
    bodyErrors: async ({ caller, params, body }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      const merchant = found === null ? null : await readMerchant(context.db, found.merchantId);
      return merchant === null ? [] : orderRefundErrors(body, merchant.currency);
    },
    handle: async ({ caller, params, body, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      const refunded = await refundOrder(context, { ...caller, by }, found, toSentRefund(body));
      if (isProblem(refunded)) return refunded;
      const { order, replayed } = refunded;
      return {
        status: replayed ? 200 : 201,
        body: await describeOrder(context, caller, { order, owner: found }),
      };
    },
  }),
];
