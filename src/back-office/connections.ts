import { type Static, Type } from "typebox";
import { connectionScope } from "../audit/grant.ts";
import { idErrors, idIn } from "../http/route.ts";
import { type Connection, keyOf, policyVersion, type ReviewPolicy } from "../merchants/connection.ts";
import { changeConnection, createConnection, endConnection } from "../merchants/connections.ts";
import { listAllConnections, listConnections } from "../merchants/connections-sql.ts";
import { countKeys } from "../merchants/keys-sql.ts";
import { CONNECTION_LIMITS } from "../merchants/limits.ts";
import { countTestOrders } from "../orders/reading/test-orders.ts";
import type { Context } from "../platform/context.ts";
import { toTypeId } from "../platform/ids.ts";
import { formatMoney } from "../platform/money.ts";
import { before, HOUR_MS } from "../platform/time.ts";
import { expectedVersionField, versionField } from "../platform/wire/content-version.ts";
import { pagePosition, toPage } from "../platform/wire/cursor.ts";
import {
  forbidden,
  isProblem,
  notFound,
  type ValidationError,
  validationFailed,
} from "../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  idField,
  limitField,
  MoneyRequestSchema,
  MoneySchema,
  nullable,
  nullableTime,
  pageOf,
  searchField,
  shortText,
  toSearched,
} from "../platform/wire/schemas.ts";
import { countEndpoints, countEndpointsSince } from "../webhooks/endpoints/endpoints-sql.ts";
import {
  andMonitoring,
  andPartner,
  type BackOfficeCaller,
  type BackOfficeRoute,
  everyone,
  hasRole,
  merchantSide,
  route,
  seesAsPartner,
} from "./access.ts";
import { limitSchemas, readUsageOf, toWireLimits } from "./limits.ts";
import { ConnectionIdParams, findConnection, findMerchant, MerchantIdParams } from "./lookups.ts";
import { amountErrors, minorOf } from "./money/amounts.ts";

const { LimitsSchema, LimitsRequestSchema, UsageSchema } = limitSchemas(CONNECTION_LIMITS, "Connection");

const POLICY_TEXT =
  "Which orders need no review. An order that exceeds a limit starts in PROCESSING. A quantity or value that is null is limited by REVIEW_ORDER_QUANTITY and REVIEW_ORDER_VALUES only.";

/** The descriptions of fields that a policy and its request share. */
const LIMIT_TEXTS = {
  maxQuantity: "Maximum number of units in the whole order. Null: no limit of its own.",
  maxOrderValue: "Maximum value of the goods, in the merchant's currency. Null: no limit of its own.",
  countries: "Country codes that orders may be shipped to, of two letters. Null: all countries.",
} as const;

const ReviewPolicySchema = Type.Object(
  {
    maxQuantity: nullable(Type.Integer(), LIMIT_TEXTS.maxQuantity),
    maxOrderValue: nullable(MoneySchema, LIMIT_TEXTS.maxOrderValue),
    countries: nullable(Type.Array(Type.String()), LIMIT_TEXTS.countries),
    version: versionField("this policy"),
  },
  { title: "ReviewPolicy", description: POLICY_TEXT },
);

const policyFields = {
  maxQuantity: Type.Optional(
    nullable(Type.Integer({ minimum: 1, maximum: 2_000_000_000 }), LIMIT_TEXTS.maxQuantity),
  ),
  maxOrderValue: Type.Optional(nullable(MoneyRequestSchema, LIMIT_TEXTS.maxOrderValue)),
  countries: Type.Optional(
    nullable(Type.Array(Type.String({ format: "country-code" }), { maxItems: 300 }), LIMIT_TEXTS.countries),
  ),
};

const ReviewPolicyRequestSchema = Type.Object(policyFields, {
  title: "ReviewPolicyRequest",
  description: POLICY_TEXT,
});

const ReviewPolicyUpdateSchema = Type.Object(
  { ...policyFields, expectedVersion: expectedVersionField("version") },
  { title: "ReviewPolicyUpdate", description: POLICY_TEXT },
);

type ReviewPolicyRequest = Static<typeof ReviewPolicyRequestSchema>;

function toWirePolicy({ currency, reviewPolicy }: Connection): Static<typeof ReviewPolicySchema> {
  const { maxQuantity, maxOrderValueMinor, countries } = reviewPolicy;
  return {
    maxQuantity,
    maxOrderValue: maxOrderValueMinor === null ? null : formatMoney({ minor: maxOrderValueMinor, currency }),
    countries: countries === null ? null : [...countries],
    version: policyVersion(reviewPolicy),
  };
}

/** The whole policy: an absent field has no limit. */
function toPolicy({
  maxQuantity = null,
  maxOrderValue = null,
  countries = null,
}: ReviewPolicyRequest = {}): ReviewPolicy {
  return {
    maxQuantity,
    maxOrderValueMinor: maxOrderValue === null ? null : minorOf(maxOrderValue),
    countries: countries?.map((country) => country.toUpperCase()) ?? null,
  };
}

/** The policy's amount is in the merchant's currency. */
const policyErrors = (body: unknown, owner: { readonly currency: string } | null): ValidationError[] =>
  owner === null ? [] : amountErrors(body, "/reviewPolicy/maxOrderValue", owner.currency);

const NAME_TEXT = "Name of the connection, such as the partner's name.";
const nameField = shortText(NAME_TEXT);
const LIVE_AGENTS_TEXT =
  "Whether agents may use live keys over `POST /v1/mcp`, and so place and cancel real orders. Otherwise they may use test keys alone.";

const MAX_AGE_TEXT =
  "A live key is issued only if the partner has passed a certification within so many days. Null: none is needed.";
const maxAgeField = nullable(Type.Integer({ minimum: 1, maximum: 3_650 }), MAX_AGE_TEXT);

const ConnectionSchema = Type.Object(
  {
    id: idField("con", "Id of the connection, set by the service."),
    merchantId: idField("mer", "Id of the merchant."),
    merchantName: Type.String({ description: "Name of the merchant." }),
    name: Type.String({ description: NAME_TEXT }),
    reviewPolicy: nullable(
      ReviewPolicySchema,
      "Which orders need no review. Null for the role `partner`: it is the merchant's business.",
    ),
    limits: LimitsSchema,
    apiUrl: Type.String({
      description:
        "Address of the partner API, where the connection's keys are used. The operator configures it.",
      examples: ["https://orders.example"],
    }),
    liveAgents: Type.Boolean({ description: LIVE_AGENTS_TEXT }),
    certificationMaxAgeDays: maxAgeField,
    certifiedAt: nullableTime(
      "When the partner last passed a certification. Null if it never did. The service sets it.",
    ),
    createdAt: dateTime("When the connection was created."),
    endsAt: nullableTime(
      "When the connection ends, and is removed with all it has: a stranger has made it for a test key without a person. Null for all others.",
    ),
  },
  {
    title: "Connection",
    description: "The access of a partner to products of a merchant. The merchant changes it.",
  },
);

function toWireConnection(
  { config }: Context,
  caller: BackOfficeCaller,
  connection: Connection,
): Static<typeof ConnectionSchema> {
  return {
    id: toTypeId("con", connection.id),
    merchantId: toTypeId("mer", connection.merchantId),
    merchantName: connection.merchantName,
    name: connection.name,
    reviewPolicy: seesAsPartner(caller, keyOf(connection)) ? null : toWirePolicy(connection),
    limits: toWireLimits(CONNECTION_LIMITS, connection.limits),
    apiUrl: config.baseUrl,
    liveAgents: connection.liveAgents,
    certificationMaxAgeDays: connection.certificationMaxAgeDays,
    certifiedAt: connection.certifiedAt?.toISOString() ?? null,
    createdAt: connection.createdAt.toISOString(),
    endsAt: connection.endsAt?.toISOString() ?? null,
  };
}

const ConnectionChangeSchema = Type.Object(
  {
    name: Type.Optional(nameField),
    reviewPolicy: Type.Optional(ReviewPolicyUpdateSchema),
    limits: Type.Optional(LimitsRequestSchema),
    liveAgents: Type.Optional(Type.Boolean({ description: LIVE_AGENTS_TEXT })),
    certificationMaxAgeDays: Type.Optional(maxAgeField),
  },
  { title: "ConnectionUpdate", description: "Changes of a connection. Absent fields keep their values." },
);

export const connectionRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/merchants/{id}/connections",
    operationId: "createConnection",
    admits: merchantSide,
    tag: "Connections",
    summary: "Create a connection",
    params: MerchantIdParams,
    body: Type.Object(
      { name: nameField, reviewPolicy: Type.Optional(ReviewPolicyRequestSchema) },
      { title: "ConnectionRequest", description: "A new connection." },
    ),
    responses: { 201: { description: "The connection was created.", schema: ConnectionSchema } },
    problems: ["not-found", "limit-reached", "validation-failed"],
    bodyErrors: async ({ caller, params, body }, { context }) =>
      policyErrors(body, await findMerchant(context, caller, params.id)),
    handle: async ({ caller, params, body, by }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      const fields = { name: body.name, reviewPolicy: toPolicy(body.reviewPolicy) };
      const connection = await createConnection(context, merchant, fields, by);
      return isProblem(connection)
        ? connection
        : { status: 201, body: toWireConnection(context, caller, connection) };
    },
  }),
  route({
    method: "GET",
    path: "/api/merchants/{id}/connections",
    operationId: "listConnections",
    admits: andMonitoring(everyone),
    tag: "Connections",
    summary: "List a merchant's connections",
    params: MerchantIdParams,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      q: searchField("A part of the name. Case, accents and apostrophes are ignored."),
    }),
    responses: {
      200: { description: "A page, oldest first.", schema: pageOf(ConnectionSchema, "ConnectionPage") },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const position = pagePosition("connections", query);
      if (isProblem(position)) return position;
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      const connections = await listConnections(context.db, merchant.id, toSearched(query.q), position);
      return {
        status: 200,
        body: toPage(connections, position, (one) => toWireConnection(context, caller, one)),
      };
    },
  }),
  route({
    method: "GET",
    path: "/api/connections",
    operationId: "listAllConnections",
    admits: andMonitoring(andPartner(everyone)),
    tag: "Connections",
    summary: "List the connections of all merchants",
    description: "All that the caller may see. If a filter matches nothing, the list is empty.",
    isList: true,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      merchantId: Type.Optional(Type.String({ description: "Only connections of this merchant." })),
      q: searchField("A part of the name. Case, accents and apostrophes are ignored."),
    }),
    responses: {
      200: { description: "A page, oldest first.", schema: pageOf(ConnectionSchema, "ConnectionPage") },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const position = pagePosition("all-connections", query);
      if (isProblem(position)) return position;
      const errors = idErrors("mer", "merchantId", query);
      if (errors.length > 0) return validationFailed(errors);
      const filter = {
        scope: connectionScope(caller.grants),
        merchantId: idIn("mer", query.merchantId),
        name: toSearched(query.q),
      };
      const connections = await listAllConnections(context.db, filter, position);
      return {
        status: 200,
        body: toPage(connections, position, (one) => toWireConnection(context, caller, one)),
      };
    },
  }),
  route({
    method: "GET",
    path: "/api/connections/{id}",
    operationId: "getConnection",
    admits: andMonitoring(andPartner(everyone)),
    tag: "Connections",
    summary: "Get a connection",
    params: ConnectionIdParams,
    responses: { 200: { description: "The connection.", schema: ConnectionSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      return connection === null
        ? notFound("connection")
        : { status: 200, body: toWireConnection(context, caller, connection) };
    },
  }),
  route({
    method: "PATCH",
    path: "/api/connections/{id}",
    operationId: "updateConnection",
    admits: merchantSide,
    tag: "Connections",
    summary: "Update a connection",
    description:
      "A new review policy replaces the old one entirely. Existing orders keep their status. Only the operator changes limits.",
    params: ConnectionIdParams,
    body: ConnectionChangeSchema,
    responses: { 200: { description: "The changed connection.", schema: ConnectionSchema } },
    problems: ["forbidden", "not-found", "version-changed", "validation-failed"],
    bodyErrors: async ({ caller, params, body }, { context }) =>
      policyErrors(body, await findConnection(context, caller, params.id)),
    handle: async ({ caller, params, by, body: { reviewPolicy, ...fields } }, { context }) => {
      if (fields.limits !== undefined && !hasRole(caller, "operator")) return forbidden;
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const { expectedVersion } = reviewPolicy ?? {};
      const policy = reviewPolicy && { reviewPolicy: toPolicy(reviewPolicy), expectedVersion };
      const changed = await changeConnection(context, keyOf(connection), { ...fields, ...policy }, by);
      if (changed === null) return notFound("connection");
      return isProblem(changed) ? changed : { status: 200, body: toWireConnection(context, caller, changed) };
    },
  }),
];

export const endRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/connections/{id}/end",
    operationId: "endConnection",
    admits: merchantSide,
    tag: "Connections",
    summary: "End a connection of a stranger",
    description:
      "Of a connection that was made for a test key without a person: ends it before its time. Its key is rejected at once, and its test orders and its endpoint are erased within seconds. The connection itself is removed when its day is over. Repeating the request has no further effect.",
    params: ConnectionIdParams,
    responses: { 200: { description: "The connection, which has ended.", schema: ConnectionSchema } },
    problems: ["forbidden", "not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const ended = await endConnection(context, keyOf(connection), by);
      if (ended === null) return notFound("connection");
      return isProblem(ended) ? ended : { status: 200, body: toWireConnection(context, caller, ended) };
    },
  }),
];

export const usageRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/connections/{id}/usage",
    operationId: "getConnectionUsage",
    admits: andMonitoring(andPartner(everyone)),
    tag: "Connections",
    summary: "Get a connection's usage",
    description: "What the connection has stored of everything that has a limit, and the limits.",
    params: ConnectionIdParams,
    responses: { 200: { description: "The usage.", schema: UsageSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      return connection === null
        ? notFound("connection")
        : { status: 200, body: await readUsage(context, connection) };
    },
  }),
];

function readUsage({ db, clock }: Context, connection: Connection): Promise<Static<typeof UsageSchema>> {
  const key = keyOf(connection);
  const now = clock.now();
  const hourAgo = before(now, HOUR_MS);
  return readUsageOf(CONNECTION_LIMITS, connection.limits, {
    endpoints: (max) => countEndpoints(db, key, "live", max),
    testEndpoints: (max) => countEndpoints(db, key, "test", max),
    endpointCreationsPerHour: async (max) =>
      Math.max(
        await countEndpointsSince(db, key, { mode: "live", since: hourAgo }, max),
        await countEndpointsSince(db, key, { mode: "test", since: hourAgo }, max),
      ),
    testOrders: async (max) => (await countTestOrders(db, [key], max))(key),
    testOrderTransitions: null,
    redeliveriesPerDay: null,
    deliveryAttempts: null,
    apiKeys: (max) => countKeys(db, key, now, max),
  });
}
