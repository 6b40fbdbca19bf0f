import { type Static, Type } from "typebox";
import { idErrors, idIn } from "../../http/route.ts";
import { COUNTED_FAILURES_MAX, listFailuresByMerchant } from "../../ledger/payment-failures-sql.ts";
import type { Merchant } from "../../merchants/merchants-sql.ts";
import { recordPayment } from "../../payments/account/account.ts";
import {
  type AccountEntry,
  listAccountEntries,
  listAccountEntriesOfOrder,
  readAccount,
} from "../../payments/account/account-sql.ts";
import {
  type BankDetails,
  isIban,
  listBankDetails,
  looksLikeIban,
  readBankDetails,
  removeBankDetails,
  setBankDetails,
} from "../../payments/account/bank-details.ts";
import { availableCredit, BOOKING_KINDS } from "../../payments/account/bookings.ts";
import {
  readStripeMethod,
  removeStripeMethod,
  type StripeMethod,
  setStripeMethod,
} from "../../payments/stripe/stripe-methods.ts";
import { toTypeId } from "../../platform/ids.ts";
import { formatMoney, isCurrency } from "../../platform/money.ts";
import { pagePosition, toPage, UUID_MAX, UUID_MIN } from "../../platform/wire/cursor.ts";
import { isProblem, notFound, type ValidationError, validationFailed } from "../../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  describedAs,
  enumeration,
  idField,
  limitField,
  MoneyRequestSchema,
  MoneySchema,
  nullable,
  pageOf,
  shortText,
} from "../../platform/wire/schemas.ts";
import { andMonitoring, type BackOfficeRoute, merchantSide, operatorOnly, route } from "../access.ts";
import { ActorSchema, toWireActor } from "../actor-schema.ts";
import { findMerchant, MerchantIdParams } from "../lookups.ts";
import { minorOf, positiveAmountErrors, valueAt } from "./amounts.ts";
import { ChargeSchema, PaidBySchema } from "./charge-wire.ts";

const AccountEntryKindSchema = enumeration(
  "AccountEntryKind",
  BOOKING_KINDS,
  "`charge`: for an order. `refund`: the return of a charge. `payment`: by the merchant, recorded by the operator.",
);

export const AccountEntrySchema = Type.Object(
  {
    id: idField("chg", "Id of the charge or the refund; of a payment, an id with the prefix `pay_`."),
    kind: AccountEntryKindSchema,
    amount: describedAs(MoneySchema, "Change of the balance. Negative for a charge."),
    orderId: nullable(Type.String(), "Id of the order that was charged or refunded. Null for payments."),
    externalOrderId: nullable(
      Type.String(),
      "The partner's own id of that order. Null if it has none, and for payments.",
    ),
    chargeId: nullable(
      Type.String(),
      "Id of the charge or the refund of the order, for `GET /api/charges/{id}`. Null for payments.",
    ),
    chargeKind: nullable(ChargeSchema.properties.kind, "What was charged or refunded. Null for payments."),
    refundOf: nullable(
      Type.String(),
      "Id of the charge that a refund returns, or a part of it. Null for other kinds.",
    ),
    reference: nullable(
      Type.String(),
      "The operator's reference of a payment, such as the bank reference. Null for charges and refunds.",
    ),
    note: nullable(Type.String(), "The operator's note about a payment. Null if there is none."),
    recordedBy: nullable(
      ActorSchema,
      "Who recorded a payment. Null for charges and refunds, and for payments that were recorded before this was stored.",
    ),
    createdAt: dateTime("When the entry was booked."),
  },
  { title: "AccountEntry", description: "A change of a merchant's balance. Entries are never changed." },
);

export const toWireEntry =
  (currency: string) =>
  ({ charge, ...entry }: AccountEntry): Static<typeof AccountEntrySchema> => ({
    id: toTypeId(entry.kind === "payment" ? "pay" : "chg", entry.id),
    kind: entry.kind,
    amount: formatMoney({ minor: entry.amountMinor, currency }),
    orderId: charge === null ? null : toTypeId("ord", charge.orderId),
    externalOrderId: charge?.externalOrderId ?? null,
    chargeId: charge === null ? null : toTypeId("chg", entry.id),
    chargeKind: charge?.kind ?? null,
    refundOf: charge?.refundOf ? toTypeId("chg", charge.refundOf) : null,
    reference: entry.reference,
    note: entry.note,
    recordedBy: entry.recordedBy && toWireActor(entry.recordedBy),
    createdAt: entry.createdAt.toISOString(),
  });

const bankFields = {
  accountHolder: shortText("Name of the account's holder.", ["Fulfilment Ltd"]),
  accountNumber: shortText("IBAN, or another number of the account.", ["DE75512108001245126199"]),
  bankCode: Type.Optional(
    shortText("BIC, sort code or routing number, if the number needs one.", ["SOGEDEFF"]),
  ),
  bankName: Type.Optional(shortText("Name of the bank.")),
  note: Type.Optional(shortText("What else merchants must know, such as whom to ask.")),
};

const BankDetailsRequestSchema = Type.Object(bankFields, {
  title: "BankDetailsRequest",
  description: "The bank account that merchants pay to.",
});

const BankDetailsSchema = Type.Object(
  {
    id: idField("bank", "Id of the bank details, set by the service."),
    currency: Type.String({
      description: "Merchants of this currency pay to the account.",
      examples: ["EUR"],
    }),
    accountHolder: Type.String({ description: "Name of the account's holder." }),
    accountNumber: Type.String({ description: "IBAN without spaces, or another number of the account." }),
    bankCode: nullable(Type.String(), "BIC, sort code or routing number. Null if the number needs none."),
    bankName: nullable(Type.String(), "Name of the bank. Null if it is not given."),
    note: nullable(Type.String(), "What else merchants must know. Null if there is nothing."),
    updatedAt: dateTime("When it was set."),
  },
  { title: "BankDetails", description: "The operator's bank account for merchants of a currency." },
);

const toWireBank = ({ id, updatedAt, ...details }: BankDetails): Static<typeof BankDetailsSchema> => ({
  ...details,
  id: toTypeId("bank", id),
  updatedAt: updatedAt.toISOString(),
});

const AccountSchema = Type.Object(
  {
    merchantId: idField("mer", "Id of the merchant."),
    balance: describedAs(
      MoneySchema,
      "Payments and refunds minus charges. Negative if the merchant owes money.",
    ),
    creditLimit: nullable(
      MoneySchema,
      "How much the merchant may owe. Null: unlimited. The operator sets it.",
    ),
    available: nullable(MoneySchema, "How much can still be charged. Null: unlimited."),
    gateway: describedAs(
      PaidBySchema,
      "How new charges are paid: `account`, or a payment method at `stripe`.",
    ),
    owed: describedAs(
      MoneySchema,
      "What the merchant has to pay in all: the debt of its account, and the charges that were declined.",
    ),
    declined: Type.Object(
      {
        count: Type.Integer({
          description: `Orders with a declined charge that is still owed. At most ${COUNTED_FAILURES_MAX} are counted.`,
        }),
        amount: describedAs(MoneySchema, "The sum of these charges."),
        toPay: describedAs(
          MoneySchema,
          "What must be paid to the account so that all of them fit. Zero if they fit by now, and with Stripe.",
        ),
      },
      { title: "DeclinedCharges", description: "The charges of the merchant that were declined." },
    ),
    bankDetails: nullable(
      BankDetailsSchema,
      "Where the merchant pays what it owes on its account. Null if the operator has not set it.",
    ),
    paymentReference: Type.String({
      description: "What a payment names, so that the operator can tell whose it is.",
    }),
  },
  { title: "Account", description: "The account of a merchant with the service." },
);

const PaymentRequestSchema = Type.Object(
  {
    amount: describedAs(MoneyRequestSchema, "The amount paid, in the merchant's currency."),
    reference: shortText(
      "Reference of the payment, such as the bank reference. A payment is recorded once for each reference.",
      ["2026-03-02/transfer/7781"],
    ),
    note: Type.Optional(shortText("A note about the payment.")),
  },
  { title: "AccountPaymentRequest", description: "A payment by a merchant." },
);

const paymentErrors = (body: unknown, merchant: Merchant | null): ValidationError[] =>
  merchant === null ? [] : positiveAmountErrors(body, "/amount", merchant.currency);

const REFERENCE_TAKEN = validationFailed([
  { pointer: "/reference", rule: "reference_used", usedFor: "payment" },
]);

export const accountRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/merchants/{id}/account",
    operationId: "getAccount",
    admits: andMonitoring(merchantSide),
    tag: "Money",
    summary: "Get a merchant's account",
    params: MerchantIdParams,
    responses: { 200: { description: "The account.", schema: AccountSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      const account = merchant === null ? null : await readAccount(context.db, merchant.id);
      if (merchant === null || account === null) return notFound("merchant");
      const money = (minor: bigint) => formatMoney({ minor, currency: merchant.currency });
      const free = availableCredit(account);
      const method = await readStripeMethod(context.db, merchant.id);
      const bank = await readBankDetails(context.db, merchant.currency);
      const [failures] = await listFailuresByMerchant(context.db, [merchant.id], {
        afterId: UUID_MIN,
        limit: 1,
      });
      const declinedMinor = failures?.amountMinor ?? 0n;
      const debtMinor = account.balanceMinor < 0n ? -account.balanceMinor : 0n;
      const lackedMinor =
        method !== null || free === null || free > declinedMinor ? 0n : declinedMinor - free;
      return {
        status: 200,
        body: {
          merchantId: toTypeId("mer", merchant.id),
          balance: money(account.balanceMinor),
          creditLimit: account.creditLimitMinor === null ? null : money(account.creditLimitMinor),
          available: free === null ? null : money(free),
          gateway: method === null ? "account" : "stripe",
          owed: money(debtMinor + declinedMinor),
          declined: {
            count: failures?.count ?? 0,
            amount: money(declinedMinor),
            toPay: money(lackedMinor),
          },
          bankDetails: bank === null ? null : toWireBank(bank),
          paymentReference: toTypeId("mer", merchant.id),
        },
      };
    },
  }),
  route({
    method: "GET",
    path: "/api/merchants/{id}/account/entries",
    operationId: "listAccountEntries",
    admits: merchantSide,
    tag: "Money",
    summary: "List the entries of a merchant's account",
    description:
      "Sorted by creation: a charge is listed at the time when it was created, not when it was paid. With `kind`, a page may be short and still have a `nextCursor`.",
    params: MerchantIdParams,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      kind: Type.Optional(describedAs(AccountEntryKindSchema, "Only entries of this kind.")),
      orderId: Type.Optional(Type.String({ description: "Only entries of this order." })),
    }),
    responses: {
      200: {
        description: "A page, newest first.",
        schema: pageOf(AccountEntrySchema, "AccountEntryPage"),
      },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const errors = idErrors("ord", "orderId", query);
      if (errors.length > 0) return validationFailed(errors);
      const position = pagePosition("account-entries", query, UUID_MAX);
      if (isProblem(position)) return position;
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      const { kind = null } = query;
      const orderId = idIn("ord", query.orderId);
      const toWire = toWireEntry(merchant.currency);
      if (orderId === null) {
        const { entries, readTo } = await listAccountEntries(context.db, merchant.id, kind, position);
        return { status: 200, body: toPage(entries, position, toWire, readTo) };
      }
      const entries = await listAccountEntriesOfOrder(context.db, merchant.id, orderId, kind, position);
      return { status: 200, body: toPage(entries, position, toWire) };
    },
  }),
  route({
    method: "POST",
    path: "/api/merchants/{id}/account/payments",
    operationId: "recordAccountPayment",
    needsRecentAuthentication: true,
    admits: operatorOnly,
    tag: "Money",
    summary: "Record a payment by a merchant",
    description:
      "Repeating a reference with the same amount returns 200 and records nothing. The worker then attempts declined charges again at once, those of the oldest orders first.",
    params: MerchantIdParams,
    body: PaymentRequestSchema,
    responses: {
      200: { description: "The payment was already recorded.", schema: AccountEntrySchema },
      201: { description: "The payment was recorded.", schema: AccountEntrySchema },
    },
    problems: ["not-found", "validation-failed"],
    bodyErrors: async ({ caller, params, body }, { context }) =>
      paymentErrors(body, await findMerchant(context, caller, params.id)),
    handle: async ({ caller, params, by, body: { amount, reference, note = null } }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      const fields = { amountMinor: minorOf(amount), reference, note };
      const recorded = await recordPayment(context, merchant, fields, by);
      if (recorded.outcome === "reference-taken") return REFERENCE_TAKEN;
      const status = recorded.replayed ? 200 : 201;
      return { status, body: toWireEntry(merchant.currency)(recorded.payment) };
    },
  }),
];

const CurrencyParams = Type.Object({
  currency: Type.String({ description: "ISO 4217 code, such as EUR." }),
});

/** Spaces in an IBAN are for people. Another number is kept as it is written. */
const unspaced = (number: string): string => {
  const joined = number.replace(/\s/g, "").toUpperCase();
  return looksLikeIban(joined) ? joined : number.trim();
};

export const bankRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/bank-details",
    operationId: "listBankDetails",
    admits: operatorOnly,
    tag: "Money",
    summary: "List the bank accounts that merchants pay to",
    description: "At most one for each currency, all on one page. A merchant sees its own with its account.",
    responses: {
      200: {
        description: "All of them, by currency.",
        schema: pageOf(BankDetailsSchema, "BankDetailsPage"),
      },
    },
    problems: [],
    handle: async (_request, { context }) => {
      const all = await listBankDetails(context.db);
      return { status: 200, body: { data: all.map(toWireBank), nextCursor: null } };
    },
  }),
  route({
    method: "PUT",
    path: "/api/bank-details/{currency}",
    operationId: "setBankDetails",
    needsRecentAuthentication: true,
    admits: operatorOnly,
    tag: "Money",
    summary: "Set the bank account that merchants of a currency pay to",
    description: "Merchants see it at once, with the sum that they owe. It is sent nowhere else.",
    params: CurrencyParams,
    body: BankDetailsRequestSchema,
    responses: { 200: { description: "The account.", schema: BankDetailsSchema } },
    problems: ["not-found", "validation-failed"],
    bodyErrors: async ({ body }) => {
      const number = valueAt(body, "/accountNumber");
      const iban = typeof number === "string" ? unspaced(number) : "";
      return looksLikeIban(iban) && !isIban(iban) ? [{ pointer: "/accountNumber", rule: "iban" }] : [];
    },
    handle: async ({ params: { currency }, by, body }, { context }) => {
      if (!isCurrency(currency)) return notFound("currency");
      const { accountHolder, accountNumber, bankCode = null, bankName = null, note = null } = body;
      const fields = { accountHolder, accountNumber: unspaced(accountNumber), bankCode, bankName, note };
      return { status: 200, body: toWireBank(await setBankDetails(context, { currency, ...fields }, by)) };
    },
  }),
  route({
    method: "DELETE",
    path: "/api/bank-details/{currency}",
    operationId: "deleteBankDetails",
    needsRecentAuthentication: true,
    admits: operatorOnly,
    tag: "Money",
    summary: "Remove the bank account of a currency",
    params: CurrencyParams,
    responses: { 204: { description: "Merchants of the currency see no account." } },
    problems: ["not-found"],
    handle: async ({ params: { currency }, by }, { context }) =>
      (await removeBankDetails(context, currency, by)) ? { status: 204 } : notFound("bank account"),
  }),
];

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
  rule: "stripe_key",
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
