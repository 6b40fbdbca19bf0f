import { Type } from "typebox";
import type { Role } from "../../../access/grant.ts";
import { MERCHANT_REQUEST, PAYMENT_FAILED } from "../../../lifecycle/hold-reasons.ts";
import { holdReasonsField } from "../../../orders/changes/request-fields.ts";
import { transitionRefused } from "../../../orders/changes/transition-refused.ts";
import { releaseHold } from "../../../orders/holds/release-hold.ts";
import { erasePersonalData } from "../../../orders/personal-data/erase-personal-data.ts";
import { retryPayment } from "../../../payments/retry/retry-payment.ts";
import { isProblem, notFound, type ValidationError } from "../../../platform/wire/problems.ts";
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
import { actingOn, describeOrder, findOwner } from "./find-order.ts";
import { handleTransition, orderOperationRow } from "./handle-transition.ts";

const ReasonBody = Type.Object(
  {
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        format: "text",
        description: "Explanation for the order's timeline.",
      }),
    ),
  },
  { title: "ReasonRequest", description: "Why an order is changed." },
);

/** Review, holds and cancellation of real orders, on the lifecycle that the sandbox rehearses. */
export const orderOperationRoutes: readonly BackOfficeRoute[] = [
  route({
    ...orderOperationRow,
    path: "/api/orders/{id}/approve",
    operationId: "approveOrder",
    admits: warehouse,
    summary: "Approve an order in review",
    description: "Accepts the order, and charges its goods to the merchant.",
    body: ReasonBody,
    handle: async ({ caller, params, body, by }, { context }) =>
      handleTransition(context, caller, params.id, {
        by,
        operation: "approve",
        detail: body.reason ?? null,
        transition: () => ({ name: "approve" }),
      }),
  }),
  route({
    ...orderOperationRow,
    path: "/api/orders/{id}/reject",
    operationId: "rejectOrder",
    admits: warehouse,
    summary: "Reject an order in review",
    description: "Cancels the order: `order.canceled` is published. The merchant is not charged.",
    body: ReasonBody,
    handle: async ({ caller, params, body, by }, { context }) =>
      handleTransition(context, caller, params.id, {
        by,
        operation: "reject",
        detail: body.reason ?? null,
        transition: () => ({ name: "reject" }),
      }),
  }),
  route({
    ...orderOperationRow,
    path: "/api/orders/{id}/cancel",
    operationId: "cancelOrder",
    admits: merchantSide,
    summary: "Cancel an order",
    description:
      "Cancels the order from any status that is not settled; by a merchant's staff only before anything has shipped. `order.canceled` is published, and the merchant is refunded.",
    body: ReasonBody,
    handle: async ({ caller, params, body, by }, { context }) =>
      handleTransition(context, caller, params.id, {
        by,
        operation: "cancel",
        detail: body.reason ?? null,
        // After goods have shipped, a merchant cannot cancel and be refunded (decision 0038).
        transition: (order, role) =>
          role === "merchant" && order.shipments.length > 0
            ? transitionRefused("cancel", order, "already_shipped")
            : { name: "cancel" },
      }),
  }),
  route({
    ...orderOperationRow,
    path: "/api/orders/{id}/retry-payment",
    operationId: "retryPayment",
    admits: merchantSide,
    summary: "Retry an order's payment",
    description:
      "Attempts declined charges again within a second, instead of at their scheduled time. For a canceled order, it attempts declined refunds.",
    handle: async ({ caller, params, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      const order = await retryPayment(context, found, actingOn(found, by));
      return isProblem(order)
        ? order
        : { status: 200, body: await describeOrder(context, caller, { order, owner: found }) };
    },
  }),
  route({
    ...orderOperationRow,
    path: "/api/orders/{id}/hold",
    operationId: "holdOrder",
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
    bodyErrors: async ({ caller, params, body }, { context }) =>
      reasonErrors((await findOwner(context, caller, params.id))?.role ?? roleOf(caller), body),
    handle: async ({ caller, params, body, by }, { context }) =>
      handleTransition(context, caller, params.id, {
        by,
        operation: "hold",
        transition: () => ({ name: "hold", reasons: body.reasons ?? [MERCHANT_REQUEST] }),
      }),
  }),
  route({
    ...orderOperationRow,
    path: "/api/orders/{id}/release-hold",
    operationId: "releaseOrderHold",
    admits: everyone,
    summary: "Release an order's hold",
    description:
      "Changes nothing on an order without a hold. The operator can release every reason, the warehouse those that the warehouse placed, and a merchant's staff `merchant_request`. If a named reason is not the caller's to release, or without names none of them is, nothing is released, and the rule is `hold_not_releasable`. Only the operator can release a failed payment, by naming it; the declined charge is then waived.",
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
    bodyErrors: async ({ caller, params, body }, { context }) =>
      reasonErrors((await findOwner(context, caller, params.id))?.role ?? roleOf(caller), body),
    handle: async ({ caller, params, body, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      const order = await releaseHold(context, found, { reasons: body.reasons, by: actingOn(found, by) });
      return isProblem(order)
        ? order
        : { status: 200, body: await describeOrder(context, caller, { order, owner: found }) };
    },
  }),
  route({
    ...orderOperationRow,
    path: "/api/orders/{id}/erase-personal-data",
    operationId: "erasePersonalData",
    admits: operatorOnly,
    summary: "Erase the buyer's personal data of an order",
    description:
      "Erases the address, the tracking and the texts of the timeline, in the order, its events, deliveries and mails. It cannot be undone. Rejected until the order is settled. Repeating the request returns the same.",
    handle: async ({ caller, params, by }, { context }) => {
      const found = await findOwner(context, caller, params.id);
      if (found === null) return notFound("order");
      const order = await erasePersonalData(context, found, actingOn(found, by));
      return isProblem(order)
        ? order
        : { status: 200, body: await describeOrder(context, caller, { order, owner: found }) };
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
    ? errorsWhere(sent, (reason) => reason === PAYMENT_FAILED, "can be set and released only by the operator")
    : errorsWhere(
        sent,
        (reason) => reason !== MERCHANT_REQUEST,
        `must be ${MERCHANT_REQUEST}; your role does not allow other reasons`,
      );
}

const errorsWhere = (
  sent: unknown[],
  isWrong: (reason: unknown) => boolean,
  detail: string,
): ValidationError[] =>
  sent.flatMap((reason, index) => (isWrong(reason) ? [{ pointer: `/reasons/${index}`, detail }] : []));
