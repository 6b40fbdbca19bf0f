import { Type } from "typebox";
import type { Merchant } from "../../../merchants/merchants-sql.ts";
import {
  listAccountEntries,
  listAccountEntriesOfOrder,
} from "../../../payments/account/account-entries-sql.ts";
import { readAccount } from "../../../payments/account/account-sql.ts";
import { availableCredit } from "../../../payments/account/bookings.ts";
import { recordPayment } from "../../../payments/account/record-payment.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { formatMoney } from "../../../platform/money.ts";
import { pagePosition, toPage, UUID_MAX } from "../../../platform/wire/cursor.ts";
import { MoneyRequestSchema, MoneySchema } from "../../../platform/wire/money-schema.ts";
import {
  isProblem,
  notFound,
  type ValidationError,
  validationFailed,
} from "../../../platform/wire/problems.ts";
import {
  cursorField,
  describedAs,
  idField,
  limitField,
  nullable,
  pageOf,
  shortText,
} from "../../../platform/wire/schemas.ts";
import { idErrors, idIn } from "../../http/id-parameters.ts";
import { andMonitoring, type BackOfficeRoute, merchantSide, operatorOnly, route } from "../access.ts";
import { findMerchant, MerchantIdParams } from "../lookups.ts";
import { AccountEntryKindSchema, AccountEntrySchema, toWireEntry } from "./account-entry-wire.ts";
import { minorOf, positiveAmountErrors } from "./amounts.ts";

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
  { pointer: "/reference", detail: "was already used for a payment of a different amount" },
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
      return {
        status: 200,
        body: {
          merchantId: toTypeId("mer", merchant.id),
          balance: money(account.balanceMinor),
          creditLimit: account.creditLimitMinor === null ? null : money(account.creditLimitMinor),
          available: free === null ? null : money(free),
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
