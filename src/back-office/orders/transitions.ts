import { Type } from "typebox";
import type { Role } from "../../audit/grant.ts";
import { hasScope, scopeRequired } from "../../audit/scope.ts";
import { cancelLines, correctOrderAddress } from "../../fulfilment/routing/route-orders.ts";
import { MERCHANT_REQUEST, PAYMENT_FAILED } from "../../lifecycle/order.ts";
import { CancelLinesSchema } from "../../orders/cancellations/cancel-lines.ts";
import { holdReasonsField } from "../../orders/changes/ship-request.ts";
import {
  addNote,
  approveOrder,
  cancelByStaff,
  holdOrder,
  NOTES_MAX,
  rejectOrder,
  releaseHold,
} from "../../orders/changes/transition-order.ts";
import { AddressUpdateSchema } from "../../orders/order-wire.ts";
import { erasePersonalData } from "../../orders/personal-data.ts";
import { retryPayment } from "../../payments/retry-payments.ts";
import { isProblem, notFound, type ValidationError } from "../../platform/wire/problems.ts";
import type { Violation } from "../../platform/wire/rules.ts";
import {
  type BackOfficeRoute,
  everyone,
  merchantSide,
  operatorOnly,
  roleOf,
  route,
  warehouse,
} from "../access.ts";
import { valueAt } from "../money/amounts.ts";
import { describeOrder, findOwner, OrderIdParams, orderResponse } from "./find-order.ts";
import {
  BackOfficeOrderSchema,
  MONEY_PROBLEMS,
  OPERATION_PROBLEMS,
  ORDER_AFTER,
  ReasonBody,
} from "./order-wire.ts";

/** Review, holds, cancellation, payment, notes, address and personal data of real orders. */
export const orderOperationRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/orders/{id}/approve",
    operationId: "approveOrder",
    tag: "Orders",
    params: OrderIdParams,
    admits: warehouse,
    summary: "Approve an order in review",
    description: "Accepts the order, and charges its goods to the merchant.",
    body: ReasonBody,
    responses: { 200: ORDER_AFTER },
    problems: OPERATION_PROBLEMS,
    handle: async ({ caller, params, body, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      const order = await approveOrder(context, { ...caller, by }, found, body.reason ?? null);
      return orderResponse(context, caller, found, order);
    },
  }),
  route({
    method: "POST",
    path: "/api/orders/{id}/reject",
    operationId: "rejectOrder",
    tag: "Orders",
    params: OrderIdParams,
    admits: warehouse,
    summary: "Reject an order in review",
    description: "Cancels the order: `order.canceled` is published. The merchant is not charged.",
    body: ReasonBody,
    responses: { 200: ORDER_AFTER },
    problems: OPERATION_PROBLEMS,
    handle: async ({ caller, params, body, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      const order = await rejectOrder(context, { ...caller, by }, found, body.reason ?? null);
      return orderResponse(context, caller, found, order);
    },
  }),
  route({
    method: "POST",
    path: "/api/orders/{id}/cancel",
    operationId: "cancelOrder",
    tag: "Orders",
    params: OrderIdParams,
    admits: merchantSide,
    summary: "Cancel an order",
    description:
      "Cancels the order from any status that is not settled; by a merchant's staff only before anything has shipped. `order.canceled` is published, and the merchant is refunded. For an order that has been charged, a person needs recent authentication.",
    body: ReasonBody,
    responses: { 200: ORDER_AFTER },
    problems: MONEY_PROBLEMS,
    handle: async ({ caller, params, body, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      const order = await cancelByStaff(context, { ...caller, by }, found, body.reason ?? null);
      return orderResponse(context, caller, found, order);
    },
  }),
  route({
    method: "POST",
    path: "/api/orders/{id}/cancel-lines",
    operationId: "cancelLines",
    tag: "Orders",
    params: OrderIdParams,
    admits: merchantSide,
    summary: "Cancel lines of an order",
    description:
      "For units that cannot be delivered: they never ship, their stock is free again, and the merchant is refunded for exactly these goods. What has shipped and the price of shipping stay. If nothing is left to ship, the order is completed like by `completeOrder`. Rejected before the order is accepted, for lines that have shipped (`nothing_to_cancel`), if nothing of the order would be left (`whole_order`: cancel the order), and while the goods are not paid (`goods_unpaid`). Published as `order.linesCanceled` to endpoints that name this type. For goods that are refunded, a person needs recent authentication.",
    body: CancelLinesSchema,
    responses: {
      200: {
        ...ORDER_AFTER,
        headers: {
          "Idempotent-Replayed": "Is `true` if an earlier request with the reference canceled the lines.",
        },
      },
    },
    problems: MONEY_PROBLEMS,
    handle: async ({ caller, params, body, by }, { context }) => {
      const owner = await findOwner(context, caller, params.id);
      if (owner === null) return notFound("order");
      const canceled = await cancelLines(context, { ...caller, by }, owner, body);
      if (isProblem(canceled)) return canceled;
      const { order, replayed } = canceled;
      return {
        status: 200,
        body: await describeOrder(context, caller, { order, owner }),
        ...(replayed && { headers: { "idempotent-replayed": "true" } }),
      };
    },
  }),
  route({
    method: "POST",
    path: "/api/orders/{id}/retry-payment",
    operationId: "retryPayment",
    tag: "Orders",
    params: OrderIdParams,
    admits: merchantSide,
    summary: "Retry an order's payment",
    description:
      "Attempts declined charges again within a second, instead of at their scheduled time. For a canceled order, it attempts declined refunds.",
    responses: { 200: ORDER_AFTER },
    problems: OPERATION_PROBLEMS,
    handle: async ({ caller, params, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      const order = await retryPayment(context, { ...caller, by }, found);
      return orderResponse(context, caller, found, order);
    },
  }),
  route({
    method: "POST",
    path: "/api/orders/{id}/hold",
    operationId: "holdOrder",
    tag: "Orders",
    params: OrderIdParams,
    admits: everyone,
    summary: "Hold an order",
    description:
      "Adds reasons; those of others stay. Nothing changes if the order already has them all. An order on hold cannot be shipped. `payment_failed` suspends acceptance and lets the partner cancel; only the operator can set it. A merchant's staff can add only `merchant_request`.",
    body: Type.Object(
      {
        reasons: Type.Optional(
          holdReasonsField(
            "What must change before the order can proceed. Default: `merchant_request`.",
            MERCHANT_REQUEST,
          ),
        ),
      },
      { title: "HoldRequest", description: "Why an order is put on hold." },
    ),
    responses: { 200: ORDER_AFTER },
    problems: OPERATION_PROBLEMS,
    bodyErrors: async ({ caller, params, body }, { context }) =>
      reasonErrors((await findOwner(context, caller, params.id))?.role ?? roleOf(caller), body),
    handle: async ({ caller, params, body, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      const order = await holdOrder(context, { ...caller, by }, found, body.reasons ?? [MERCHANT_REQUEST]);
      return orderResponse(context, caller, found, order);
    },
  }),
  route({
    method: "POST",
    path: "/api/orders/{id}/release-hold",
    operationId: "releaseOrderHold",
    tag: "Orders",
    params: OrderIdParams,
    admits: everyone,
    summary: "Release an order's hold",
    description:
      "Changes nothing on an order without a hold. The operator can release every reason, the warehouse those that the warehouse placed, and a merchant's staff `merchant_request`. If a named reason is not the caller's to release, or without names none of them is, nothing is released, and the rule is `hold_not_releasable`. Only the operator can release a failed payment, by naming it; the declined charge is then waived, for which a person needs recent authentication.",
    body: Type.Object(
      {
        reasons: Type.Optional(
          holdReasonsField(
            "The reasons to release. Default: all that the caller may release, except `payment_failed`.",
            MERCHANT_REQUEST,
          ),
        ),
      },
      { title: "ReleaseHoldRequest", description: "Which reasons for a hold are released." },
    ),
    responses: { 200: ORDER_AFTER },
    problems: MONEY_PROBLEMS,
    bodyErrors: async ({ caller, params, body }, { context }) =>
      reasonErrors((await findOwner(context, caller, params.id))?.role ?? roleOf(caller), body),
    handle: async ({ caller, params, body, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      if (body.reasons?.includes("payment_failed") && !hasScope(caller.scopes, "money:write"))
        return scopeRequired(
          "money:write",
          "Releasing a failed payment waives it, and needs the scope money:write.",
        );
      const order = await releaseHold(context, { ...caller, by }, found, body.reasons);
      return orderResponse(context, caller, found, order);
    },
  }),
  route({
    method: "POST",
    path: "/api/orders/{id}/erase-personal-data",
    operationId: "erasePersonalData",
    tag: "Orders",
    params: OrderIdParams,
    admits: operatorOnly,
    summary: "Erase the buyer's personal data of an order",
    description:
      "Erases the address, the tracking and the texts of the timeline, in the order, its events, deliveries and mails. It cannot be undone. Rejected until the order is settled. Repeating the request returns the same.",
    responses: { 200: ORDER_AFTER },
    problems: OPERATION_PROBLEMS,
    handle: async ({ caller, params, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      const order = await erasePersonalData(context, { ...caller, by }, found);
      return orderResponse(context, caller, found, order);
    },
  }),
  route({
    method: "POST",
    path: "/api/orders/{id}/notes",
    operationId: "addOrderNote",
    tag: "Orders",
    params: OrderIdParams,
    admits: everyone,
    summary: "Add a note to an order",
    description: `A text for the staff who handle the order, in its timeline, in every status. The partner does not see it. At most ${NOTES_MAX} of an order; none of a test order. It cannot be changed; the erasure of the buyer's personal data erases it.`,
    body: Type.Object(
      {
        text: Type.String({
          minLength: 1,
          maxLength: 1_000,
          format: "text",
          description: "The note. All who see the order in the back office see it.",
        }),
      },
      { title: "NoteRequest", description: "A note of the staff." },
    ),
    responses: { 201: { description: "The order with the note.", schema: BackOfficeOrderSchema } },
    problems: ["not-found", "validation-failed", "limit-reached"],
    handle: async ({ caller, params, body, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      const order = await addNote(context, { ...caller, by }, found, body.text);
      if (isProblem(order)) return order;
      return { status: 201, body: await describeOrder(context, caller, { order, owner: found }) };
    },
  }),
  route({
    method: "PATCH",
    path: "/api/orders/{id}/shipping-address",
    operationId: "updateShippingAddress",
    tag: "Orders",
    params: OrderIdParams,
    admits: merchantSide,
    summary: "Correct an order's address",
    description:
      "Possible until something has shipped, in every status that is not settled, up to 20 times. If the country changes, the order is routed again: its reservations are released, the holds of routing are decided again, and the difference of the price of shipping is charged or refunded. If shipping that was paid costs less, or the order waits for a facility, a person needs recent authentication. Rejected while a charge for shipping is being processed. No event announces the correction; later events show the new address.",
    body: AddressUpdateSchema,
    responses: { 200: { ...ORDER_AFTER, description: "The corrected order." } },
    problems: [...MONEY_PROBLEMS, "version-changed"],
    handle: async ({ caller, params, body, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      const order = await correctOrderAddress(context, { ...caller, by }, found, body);
      return orderResponse(context, caller, found, order);
    },
  }),
];

/**
 * Only the operator may set `payment_failed`, which lets the partner cancel, or release it, which waives the charge.
 */
function reasonErrors(role: Role, body: unknown): ValidationError[] {
  const sent = valueAt(body, "/reasons");
  if (role === "operator" || !Array.isArray(sent)) return [];
  return role === "warehouse"
    ? errorsWhere(sent, (reason) => reason === PAYMENT_FAILED, { rule: "operator_sets" })
    : errorsWhere(sent, (reason) => reason !== MERCHANT_REQUEST, {
        rule: "role_allows",
        allowed: [MERCHANT_REQUEST],
      });
}

const errorsWhere = (
  sent: unknown[],
  isWrong: (reason: unknown) => boolean,
  violation: Violation,
): ValidationError[] =>
  sent.flatMap((reason, index) => (isWrong(reason) ? [{ pointer: `/reasons/${index}`, ...violation }] : []));
