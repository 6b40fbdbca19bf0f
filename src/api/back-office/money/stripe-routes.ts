import { type Static, Type } from "typebox";
import { removeStripeMethod } from "../../../payments/stripe/remove-stripe-method.ts";
import { setStripeMethod } from "../../../payments/stripe/set-stripe-method.ts";
import { readStripeMethod, type StripeMethod } from "../../../payments/stripe/stripe-methods-sql.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { notFound, type ValidationError } from "../../../platform/wire/problems.ts";
import { dateTime, idField } from "../../../platform/wire/schemas.ts";
import { type BackOfficeRoute, merchantSide, operatorOnly, route } from "../access.ts";
import { findMerchant, MerchantIdParams } from "../lookups.ts";

const methodFields = {
  customerId: Type.String({
    pattern: "^cus_[A-Za-z0-9]{1,200}$",
    description: "Id of the merchant as a customer at Stripe.",
    examples: ["cus_NffrFeUfNV2Hib"],
  }),
  paymentMethodId: Type.String({
    pattern: "^[a-z]{2,10}_[A-Za-z0-9]{1,200}$",
    description:
      "Id of a payment method at Stripe that is attached to the customer and may be charged off-session.",
    examples: ["pm_1MqLiJLkdIwHu7ixUEgbFdYF"],
  }),
};

const StripeMethodRequestSchema = Type.Object(methodFields, {
  title: "StripeMethodRequest",
  description: "The payment method to charge from now on.",
});
const StripeMethodSchema = Type.Object(
  {
    merchantId: idField("mer", "Id of the merchant."),
    ...methodFields,
    createdAt: dateTime("When the payment method was set."),
  },
  { title: "StripeMethod", description: "The payment method at Stripe that a merchant is charged through." },
);

const toWireMethod = (method: StripeMethod): Static<typeof StripeMethodSchema> => ({
  merchantId: toTypeId("mer", method.merchantId),
  customerId: method.customerId,
  paymentMethodId: method.paymentMethodId,
  createdAt: method.createdAt.toISOString(),
});

const NO_KEY: ValidationError = {
  pointer: "/customerId",
  detail: "cannot be used: the service has no Stripe key (STRIPE_SECRET_KEY)",
};

export const stripeRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/merchants/{id}/stripe",
    operationId: "getStripeMethod",
    admits: merchantSide,
    tag: "Money",
    summary: "Get a merchant's Stripe payment method",
    params: MerchantIdParams,
    responses: { 200: { description: "The payment method in use.", schema: StripeMethodSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      const method = await readStripeMethod(context.db, merchant.id);
      return method === null ? notFound("Stripe method") : { status: 200, body: toWireMethod(method) };
    },
  }),
  route({
    method: "PUT",
    path: "/api/merchants/{id}/stripe",
    operationId: "setStripeMethod",
    needsRecentAuthentication: true,
    admits: operatorOnly,
    tag: "Money",
    summary: "Set a merchant's Stripe payment method",
    description:
      "New charges of the merchant's orders use this payment method. The worker then attempts declined charges again at once, those of the oldest orders first. Payments in progress keep their method. A refund uses the method of its charge.",
    params: MerchantIdParams,
    body: StripeMethodRequestSchema,
    responses: { 200: { description: "The payment method in use.", schema: StripeMethodSchema } },
    problems: ["not-found", "validation-failed"],
    bodyErrors: async (_request, { context }) => (context.config.stripeSecretKey === null ? [NO_KEY] : []),
    handle: async ({ caller, params, by, body: { customerId, paymentMethodId } }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      const method = await setStripeMethod(context, merchant, { customerId, paymentMethodId }, by);
      return { status: 200, body: toWireMethod(method) };
    },
  }),
  route({
    method: "DELETE",
    path: "/api/merchants/{id}/stripe",
    operationId: "deleteStripeMethod",
    needsRecentAuthentication: true,
    admits: operatorOnly,
    tag: "Money",
    summary: "Remove a merchant's Stripe payment method",
    params: MerchantIdParams,
    description:
      "If there was one, the worker then attempts declined charges again at once, those of the oldest orders first.",
    responses: { 204: { description: "New charges go to the merchant's account." } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      await removeStripeMethod(context, merchant, by);
      return { status: 204 };
    },
  }),
];
