import { type Static, Type } from "typebox";
import { createMerchant } from "../../../merchants/create-merchant.ts";
import { listMerchants, type Merchant } from "../../../merchants/merchants-sql.ts";
import { changeMerchant } from "../../../payments/account/change-merchant.ts";
import { retryDeclinedCharges } from "../../../payments/retry/retry-declined-charges.ts";
import { isCurrency } from "../../../platform/currencies.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { formatMoney } from "../../../platform/money.ts";
import { pagePosition, toPage } from "../../../platform/wire/cursor.ts";
import { MoneyRequestSchema, MoneySchema } from "../../../platform/wire/money-schema.ts";
import { isProblem, notFound } from "../../../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  limitField,
  nullable,
  pageOf,
  searchField,
  shortText,
  toSearched,
} from "../../../platform/wire/schemas.ts";
import { type BackOfficeRoute, confinedTo, everyone, operatorOnly, route } from "../access.ts";
import { findMerchant, MerchantIdParams } from "../lookups.ts";
import { amountFaults, minorOf, valueAt } from "../money/amounts.ts";

const MerchantSchema = Type.Object(
  {
    id: Type.String({ examples: ["mer_01m7y7np16fe68bxp4h91tdmdn"] }),
    name: Type.String(),
    accountEmail: Type.String({ description: "Address for carrier tracking mail." }),
    currency: Type.String({ description: "The currency of every price and charge of the merchant." }),
    creditLimit: nullable(MoneySchema, "Maximum amount that the merchant may owe; null means unlimited."),
    completeWhenShipped: Type.Boolean({
      description:
        "Whether orders are completed automatically once everything has been shipped and paid for.",
    }),
    createdAt: dateTime(),
  },
  { title: "Merchant" },
);

const CURRENCY_DEFAULT = "EUR";

const MerchantRequestSchema = Type.Object(
  {
    name: shortText(),
    accountEmail: Type.String({ format: "email", maxLength: 254 }),
    currency: Type.Optional(
      Type.String({ format: "currency", default: CURRENCY_DEFAULT, description: "ISO 4217 code." }),
    ),
    creditLimit: Type.Optional(nullable(MoneyRequestSchema, "Null or absent: unlimited.")),
    completeWhenShipped: Type.Optional(Type.Boolean()),
  },
  { title: "MerchantRequest" },
);

const MerchantChangeSchema = Type.Object(
  {
    name: Type.Optional(shortText()),
    accountEmail: Type.Optional(MerchantRequestSchema.properties.accountEmail),
    creditLimit: Type.Optional(nullable(MoneyRequestSchema, "Null: unlimited.")),
    completeWhenShipped: Type.Optional(Type.Boolean()),
  },
  { title: "MerchantUpdate" },
);

const toWireMerchant = (merchant: Merchant): Static<typeof MerchantSchema> => ({
  id: toTypeId("mer", merchant.id),
  name: merchant.name,
  accountEmail: merchant.accountEmail,
  currency: merchant.currency,
  creditLimit:
    merchant.creditLimitMinor === null
      ? null
      : formatMoney({ minor: merchant.creditLimitMinor, currency: merchant.currency }),
  completeWhenShipped: merchant.completeWhenShipped,
  createdAt: merchant.createdAt.toISOString(),
});

const toCreditLimit = (sent: { amount: string; currency: string } | null | undefined): bigint | null =>
  sent === null || sent === undefined ? null : minorOf(sent);

/** A limit that is set to what it is counts as raised: the request may be one that a crash has cut short. */
const isLowered = ({ creditLimitMinor: before }: Merchant, { creditLimitMinor: after }: Merchant): boolean =>
  after !== null && (before === null || after < before);

export const merchantRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/merchants",
    operationId: "createMerchant",
    admits: operatorOnly,
    tag: "Merchants",
    summary: "Create a merchant",
    body: MerchantRequestSchema,
    answers: { 201: { description: "The merchant was created.", schema: MerchantSchema } },
    problems: ["validation-failed"],
    bodyFaults: async ({ body }) => {
      const currency = valueAt(body, "/currency") ?? CURRENCY_DEFAULT;
      return isCurrency(currency) ? amountFaults(body, "/creditLimit", currency) : [];
    },
    handle: async ({ body }, { context }) => {
      const { name, accountEmail, currency = CURRENCY_DEFAULT, completeWhenShipped = false } = body;
      const creditLimitMinor = toCreditLimit(body.creditLimit);
      const fields = { name, accountEmail, currency, creditLimitMinor, completeWhenShipped };
      const merchant = await createMerchant(context, fields);
      return { status: 201, body: toWireMerchant(merchant) };
    },
  }),
  route({
    method: "GET",
    path: "/api/merchants",
    operationId: "listMerchants",
    admits: everyone,
    tag: "Merchants",
    summary: "List merchants",
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      q: searchField("A part of the name or of the account's email address. Case does not matter."),
    }),
    answers: {
      200: {
        description: "A page of merchants, oldest first.",
        schema: pageOf(MerchantSchema, "MerchantPage"),
      },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const position = pagePosition("merchants", query);
      if (isProblem(position)) return position;
      const filter = { id: confinedTo(caller), text: toSearched(query.q) };
      const merchants = await listMerchants(context.db, filter, position);
      return { status: 200, body: toPage(merchants, position, toWireMerchant) };
    },
  }),
  route({
    method: "PATCH",
    path: "/api/merchants/{id}",
    operationId: "updateMerchant",
    admits: operatorOnly,
    tag: "Merchants",
    summary: "Update a merchant",
    description:
      "If the request has a credit limit that is not lower than before, declined charges are attempted again at once.",
    params: MerchantIdParams,
    body: MerchantChangeSchema,
    answers: { 200: { description: "The changed merchant.", schema: MerchantSchema } },
    problems: ["not-found", "validation-failed"],
    bodyFaults: async ({ caller, params, body }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      return merchant === null ? [] : amountFaults(body, "/creditLimit", merchant.currency);
    },
    handle: async ({ caller, params, body: { creditLimit, ...fields } }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      const change = {
        ...fields,
        ...(creditLimit !== undefined && { creditLimitMinor: toCreditLimit(creditLimit) }),
      };
      const changed = await changeMerchant(context, merchant.id, change);
      if (changed === null) return notFound("merchant");
      if (creditLimit !== undefined && !isLowered(merchant, changed))
        await retryDeclinedCharges(context, merchant.id);
      return { status: 200, body: toWireMerchant(changed) };
    },
  }),
  route({
    method: "GET",
    path: "/api/merchants/{id}",
    operationId: "getMerchant",
    admits: everyone,
    tag: "Merchants",
    summary: "Get a merchant",
    params: MerchantIdParams,
    answers: { 200: { description: "The merchant.", schema: MerchantSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      return merchant === null ? notFound("merchant") : { status: 200, body: toWireMerchant(merchant) };
    },
  }),
];
