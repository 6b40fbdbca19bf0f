import { type Static, Type } from "typebox";
import { countKeysOfMerchant } from "../merchants/keys-sql.ts";
import { MERCHANT_LIMITS } from "../merchants/limits.ts";
import { createMerchant } from "../merchants/merchants.ts";
import { countConnections, countProducts, listMerchants, type Merchant } from "../merchants/merchants-sql.ts";
import { changeMerchant } from "../payments/account/account.ts";
import { countInvitations } from "../people/invitation-limits.ts";
import { countPeopleOfMerchants } from "../people/people-sql.ts";
import { countTokensOfMerchants } from "../people/tokens-sql.ts";
import type { Context } from "../platform/context.ts";
import { toTypeId } from "../platform/ids.ts";
import { normalMailAddress } from "../platform/mail-address.ts";
import { formatMoney, isCurrency } from "../platform/money.ts";
import { pagePosition, toPage } from "../platform/wire/cursor.ts";
import { isProblem, notFound, requireRecentAuthentication } from "../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  idField,
  limitField,
  MoneyRequestSchema,
  MoneySchema,
  nullable,
  pageOf,
  searchField,
  shortText,
  toSearchedMail,
} from "../platform/wire/schemas.ts";
import { countEndpointsOfMerchant } from "../webhooks/endpoints/endpoints-sql.ts";
import { andMonitoring, type BackOfficeRoute, confinedTo, everyone, operatorOnly, route } from "./access.ts";
import { limitSchemas, readUsageOf, toWireLimits } from "./limits.ts";
import { findMerchant, MerchantIdParams } from "./lookups.ts";
import { amountErrors, minorOf, valueAt } from "./money/amounts.ts";

const CURRENCY_DEFAULT = "EUR";

/** The descriptions of fields that a merchant and its requests share. */
const TEXTS = {
  name: "Name of the company.",
  accountEmail: "Email address that carrier tracking mail is sent to.",
  currency: "ISO 4217 code. All prices and charges of the merchant are in this currency. It never changes.",
  creditLimit: "How much the merchant may owe, in its currency. Null: unlimited.",
  completeWhenShipped:
    "Whether the service completes orders when everything is shipped and paid. Otherwise the warehouse completes them.",
} as const;

const { LimitsSchema, LimitsRequestSchema, UsageSchema } = limitSchemas(MERCHANT_LIMITS, "Merchant");

const MerchantSchema = Type.Object(
  {
    id: idField("mer", "Id of the merchant, set by the service."),
    name: Type.String({ description: TEXTS.name }),
    accountEmail: Type.String({ description: TEXTS.accountEmail }),
    currency: Type.String({ description: TEXTS.currency, examples: [CURRENCY_DEFAULT] }),
    creditLimit: nullable(MoneySchema, TEXTS.creditLimit),
    completeWhenShipped: Type.Boolean({ description: TEXTS.completeWhenShipped }),
    limits: LimitsSchema,
    createdAt: dateTime("When the merchant was created."),
  },
  {
    title: "Merchant",
    description: "A company whose products partners order. The operator creates and changes it.",
  },
);

const nameField = shortText(TEXTS.name);
const accountEmailField = Type.String({
  format: "email",
  maxLength: 254,
  description: TEXTS.accountEmail,
});

const MerchantRequestSchema = Type.Object(
  {
    name: nameField,
    accountEmail: accountEmailField,
    currency: Type.Optional(
      Type.String({ format: "currency", default: CURRENCY_DEFAULT, description: TEXTS.currency }),
    ),
    creditLimit: Type.Optional(
      nullable(
        MoneyRequestSchema,
        `${TEXTS.creditLimit} Default: the operator's \`CREDIT_LIMITS\`, or null.`,
      ),
    ),
    completeWhenShipped: Type.Optional(
      Type.Boolean({ description: `${TEXTS.completeWhenShipped} Default: false.` }),
    ),
  },
  { title: "MerchantRequest", description: "A new merchant." },
);

const MerchantChangeSchema = Type.Object(
  {
    name: Type.Optional(nameField),
    accountEmail: Type.Optional(accountEmailField),
    creditLimit: Type.Optional(nullable(MoneyRequestSchema, TEXTS.creditLimit)),
    completeWhenShipped: Type.Optional(Type.Boolean({ description: TEXTS.completeWhenShipped })),
    limits: Type.Optional(LimitsRequestSchema),
  },
  { title: "MerchantUpdate", description: "Changes of a merchant. Absent fields keep their values." },
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
  limits: toWireLimits(MERCHANT_LIMITS, merchant.limits),
  createdAt: merchant.createdAt.toISOString(),
});

const toCreditLimit = (sent: { amount: string; currency: string } | null | undefined): bigint | null =>
  sent === null || sent === undefined ? null : minorOf(sent);

export const merchantRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/merchants",
    operationId: "createMerchant",
    admits: operatorOnly,
    tag: "Merchants",
    summary: "Create a merchant",
    description: "With a credit limit, a person needs recent authentication.",
    body: MerchantRequestSchema,
    responses: { 201: { description: "The merchant was created.", schema: MerchantSchema } },
    problems: ["validation-failed", "recent-authentication-required"],
    bodyErrors: async ({ body }) => {
      const currency = valueAt(body, "/currency") ?? CURRENCY_DEFAULT;
      return isCurrency(currency) ? amountErrors(body, "/creditLimit", currency) : [];
    },
    handle: async ({ body, by }, { context }) => {
      if (body.creditLimit !== undefined) requireRecentAuthentication(by);
      const { name, accountEmail, currency = CURRENCY_DEFAULT, completeWhenShipped = false } = body;
      // A null that was sent is a decision; a field that was not sent is none.
      const standard = context.config.creditLimitsMinor.get(currency) ?? null;
      const creditLimitMinor = body.creditLimit === undefined ? standard : toCreditLimit(body.creditLimit);
      const email = normalMailAddress(accountEmail);
      const fields = { name, accountEmail: email, currency, creditLimitMinor, completeWhenShipped };
      const merchant = await createMerchant(context, fields, by);
      return { status: 201, body: toWireMerchant(merchant) };
    },
  }),
  route({
    method: "GET",
    path: "/api/merchants",
    operationId: "listMerchants",
    admits: andMonitoring(everyone),
    tag: "Merchants",
    summary: "List merchants",
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      q: searchField(
        "A part of the name or of the email address. Case, accents and apostrophes are ignored.",
      ),
    }),
    responses: {
      200: {
        description: "A page of merchants, oldest first.",
        schema: pageOf(MerchantSchema, "MerchantPage"),
      },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const position = pagePosition("merchants", query);
      if (isProblem(position)) return position;
      const filter = { ids: confinedTo(caller), text: toSearchedMail(query.q) };
      const merchants = await listMerchants(context.db, filter, position);
      return { status: 200, body: toPage(merchants, position, toWireMerchant) };
    },
  }),
  route({
    method: "PATCH",
    path: "/api/merchants/{id}",
    operationId: "updateMerchant",
    needsRecentAuthentication: true,
    admits: operatorOnly,
    tag: "Merchants",
    summary: "Update a merchant",
    description:
      "If the request has a credit limit that is not lower than before, the worker then attempts declined charges again at once, those of the oldest orders first.",
    params: MerchantIdParams,
    body: MerchantChangeSchema,
    responses: { 200: { description: "The changed merchant.", schema: MerchantSchema } },
    problems: ["not-found", "validation-failed"],
    bodyErrors: async ({ caller, params, body }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      return merchant === null ? [] : amountErrors(body, "/creditLimit", merchant.currency);
    },
    handle: async ({ caller, params, by, body: { creditLimit, accountEmail, ...fields } }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      const change = {
        ...fields,
        ...(accountEmail !== undefined && { accountEmail: normalMailAddress(accountEmail) }),
        ...(creditLimit !== undefined && { creditLimitMinor: toCreditLimit(creditLimit) }),
      };
      const changed = await changeMerchant(context, merchant.id, change, by);
      return changed === null ? notFound("merchant") : { status: 200, body: toWireMerchant(changed) };
    },
  }),
  route({
    method: "GET",
    path: "/api/merchants/{id}",
    operationId: "getMerchant",
    admits: andMonitoring(everyone),
    tag: "Merchants",
    summary: "Get a merchant",
    params: MerchantIdParams,
    responses: { 200: { description: "The merchant.", schema: MerchantSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      return merchant === null ? notFound("merchant") : { status: 200, body: toWireMerchant(merchant) };
    },
  }),
  route({
    method: "GET",
    path: "/api/merchants/{id}/usage",
    operationId: "getMerchantUsage",
    admits: andMonitoring(everyone),
    tag: "Merchants",
    summary: "Get a merchant's usage",
    description:
      "What the merchant has, over all its connections, of everything that has a limit, and the limits.",
    params: MerchantIdParams,
    responses: { 200: { description: "The usage.", schema: UsageSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      return merchant === null
        ? notFound("merchant")
        : { status: 200, body: await readUsage(context, merchant) };
    },
  }),
];

function readUsage({ db, clock }: Context, { id, limits }: Merchant): Promise<Static<typeof UsageSchema>> {
  const now = clock.now();
  return readUsageOf(MERCHANT_LIMITS, limits, {
    connections: (max) => countConnections(db, id, now, max),
    products: () => countProducts(db, id),
    merchantApiKeys: (max) => countKeysOfMerchant(db, id, now, max),
    merchantEndpoints: (max) => countEndpointsOfMerchant(db, id, "live", max),
    merchantTestEndpoints: (max) => countEndpointsOfMerchant(db, id, "test", max),
    merchantTokens: async (max) => (await countTokensOfMerchants(db, [id], now, max))(id),
    merchantPeople: async (max) => (await countPeopleOfMerchants(db, [id], max))(id),
    invitationsPerDay: () => countInvitations(db, id, now),
    merchantStreams: null,
  });
}
