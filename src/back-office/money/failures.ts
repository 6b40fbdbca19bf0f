import { type Static, Type } from "typebox";
import { idErrors, idIn } from "../../http/route.ts";
import type { GatewayName } from "../../ledger/ledger.ts";
import {
  COUNTED_FAILURES_MAX,
  type FailedPayment,
  type FailuresOfMerchant,
  listFailuresByMerchant,
  listOpenFailures,
  type OpenFailure,
} from "../../ledger/payment-failures-sql.ts";
import { PAYMENT_FAILED } from "../../lifecycle/order.ts";
import { retryMerchantPayments } from "../../payments/retry-payments.ts";
import { toTypeId } from "../../platform/ids.ts";
import { formatMoney } from "../../platform/money.ts";
import { pagePosition, toPage, UUID_MAX } from "../../platform/wire/cursor.ts";
import { isProblem, notFound, validationFailed } from "../../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  enumeration,
  idField,
  limitField,
  MoneySchema,
  nullable,
  nullableTime,
  pageOf,
} from "../../platform/wire/schemas.ts";
import { type BackOfficeRoute, merchantSide, route, shownMerchants } from "../access.ts";
import { findMerchant, MerchantIdParams } from "../lookups.ts";
import { ChargeSchema, PaidBySchema } from "./charge-wire.ts";

const REMEDIES = ["pay_account", "replace_payment_method"] as const;

const failedFields = {
  amount: describedAs(MoneySchema, "The charge that was declined last."),
  reason: Type.String({
    description: "The gateway's code for the first decline, such as `credit_limit_exceeded`.",
  }),
  gateway: describedAs(ChargeSchema.properties.gateway, "The gateway that declined. Never null."),
  remedy: enumeration(
    "PaymentRemedy",
    REMEDIES,
    "What ends it. `pay_account`: the merchant pays its account, or gets a higher credit limit; the charge is then attempted again at once. `replace_payment_method`: the merchant needs another payment method at Stripe, or clears the decline with its bank; `retry-payment` then attempts the charge at once.",
  ),
  attempt: Type.Integer({ description: "Which attempt at the charge was declined last, from 1." }),
  nextAttemptAt: nullableTime("When the charge is attempted again. Null: the schedule has ended."),
  failedAt: dateTime("When the payment failed first."),
};

/** The declined payment of an order, within the order. */
export const FailedPaymentSchema = Type.Object(failedFields, {
  title: "FailedPayment",
  description: "The payment for which an order is on hold.",
});

const PaymentFailureSchema = Type.Object(
  {
    orderId: idField("ord", "Id of the order."),
    externalOrderId: nullable(Type.String(), "The partner's own id of the order. Null if it has none."),
    merchantId: idField("mer", "Id of the merchant that owes the charge."),
    merchantName: Type.String({ description: "Name of the merchant." }),
    connectionId: idField("con", "Id of the connection that placed the order."),
    connectionName: Type.String({ description: "Name of the connection." }),
    orderStatus: Type.String({ description: "Status of the order." }),
    stopsOrder: Type.Boolean({
      description: "Whether the order is on hold for this payment. False if all of it had shipped.",
    }),
    ...failedFields,
  },
  { title: "PaymentFailure", description: "A declined payment that is still owed. The service changes it." },
);

export const toWireFailedPayment = (failure: FailedPayment): Static<typeof FailedPaymentSchema> => ({
  amount: formatMoney({ minor: failure.amountMinor, currency: failure.currency }),
  reason: failure.reason,
  gateway: failure.gateway,
  remedy: remedyOf(failure.gateway),
  attempt: failure.attemptCount,
  nextAttemptAt: failure.nextAttemptAt?.toISOString() ?? null,
  failedAt: failure.failedAt.toISOString(),
});

const toWireFailure = (failure: OpenFailure): Static<typeof PaymentFailureSchema> => ({
  orderId: toTypeId("ord", failure.id),
  externalOrderId: failure.externalOrderId,
  merchantId: toTypeId("mer", failure.merchantId),
  merchantName: failure.merchantName,
  connectionId: toTypeId("con", failure.connectionId),
  connectionName: failure.connectionName,
  orderStatus: failure.status,
  stopsOrder: failure.holdReasons.includes(PAYMENT_FAILED),
  ...toWireFailedPayment(failure),
});

const FailuresOfMerchantSchema = Type.Object(
  {
    merchantId: idField("mer", "Id of the merchant."),
    merchantName: Type.String({ description: "Name of the merchant." }),
    gateway: describedAs(PaidBySchema, "The gateway that declined the newest of them."),
    remedy: failedFields.remedy,
    count: Type.Integer({
      description: `Orders with a declined charge that is still owed. At most ${COUNTED_FAILURES_MAX} are counted.`,
    }),
    amount: describedAs(MoneySchema, "The sum of these charges."),
    oldestAt: dateTime("When the oldest of them failed first."),
    nextAttemptAt: nullableTime("When the first of them is attempted again. Null: none is planned."),
  },
  { title: "PaymentFailuresOfMerchant", description: "The declined payments of a merchant." },
);

const remedyOf = (gateway: GatewayName | null) =>
  gateway === "stripe" ? ("replace_payment_method" as const) : ("pay_account" as const);

const toWireFailures = (failures: FailuresOfMerchant): Static<typeof FailuresOfMerchantSchema> => ({
  merchantId: toTypeId("mer", failures.id),
  merchantName: failures.name,
  gateway: failures.gateway ?? "account",
  remedy: remedyOf(failures.gateway),
  count: failures.count,
  amount: formatMoney({ minor: failures.amountMinor, currency: failures.currency }),
  oldestAt: failures.oldestAt.toISOString(),
  nextAttemptAt: failures.nextAttemptAt?.toISOString() ?? null,
});

export const failureRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/payment-failures/by-merchant",
    operationId: "listPaymentFailuresByMerchant",
    admits: merchantSide,
    tag: "Money",
    summary: "List declined payments by merchant",
    description:
      "One row for each merchant with declined payments that are still owed, with their number and sum.",
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      merchantId: Type.Optional(Type.String({ description: "Only of this merchant." })),
    }),
    responses: {
      200: {
        description: "A page, the oldest merchant first.",
        schema: pageOf(FailuresOfMerchantSchema, "PaymentFailuresByMerchantPage"),
      },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const errors = idErrors("mer", "merchantId", query);
      if (errors.length > 0) return validationFailed(errors);
      const position = pagePosition("payment-failures-by-merchant", query);
      if (isProblem(position)) return position;
      const merchantIds = shownMerchants(caller, idIn("mer", query.merchantId));
      const rows = await listFailuresByMerchant(context.db, merchantIds, position);
      return { status: 200, body: toPage(rows, position, toWireFailures) };
    },
  }),
  route({
    method: "POST",
    path: "/api/merchants/{id}/retry-payments",
    operationId: "retryPayments",
    scope: "orders:write",
    admits: merchantSide,
    tag: "Money",
    summary: "Retry all declined payments of a merchant",
    description:
      "The worker then attempts all declined charges of the merchant again at once, those of the oldest orders first. What cannot be paid yet is declined again. A retry is safe.",
    params: MerchantIdParams,
    responses: { 202: { description: "They will be attempted again." } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      await retryMerchantPayments(context, merchant.id, by);
      return { status: 202 };
    },
  }),
  route({
    method: "GET",
    path: "/api/payment-failures",
    operationId: "listPaymentFailures",
    admits: merchantSide,
    tag: "Money",
    summary: "List declined payments that are still owed",
    description:
      "One for each order with a declined charge that was neither paid, waived nor canceled, the newest order first, with the reason and what to do.",
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      merchantId: Type.Optional(Type.String({ description: "Only of this merchant." })),
    }),
    responses: {
      200: {
        description: "A page, the newest order first.",
        schema: pageOf(PaymentFailureSchema, "PaymentFailurePage"),
      },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const errors = idErrors("mer", "merchantId", query);
      if (errors.length > 0) return validationFailed(errors);
      const position = pagePosition("payment-failures", query, UUID_MAX);
      if (isProblem(position)) return position;
      const merchantIds = shownMerchants(caller, idIn("mer", query.merchantId));
      const failures = await listOpenFailures(context.db, merchantIds, position);
      return { status: 200, body: toPage(failures, position, toWireFailure) };
    },
  }),
];
