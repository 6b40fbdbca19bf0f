import { type Static, Type } from "typebox";
import { connectionScope, scopeWithin } from "../audit/grant.ts";
import { asPartnersSee, idErrors, idIn, type RouteResponse } from "../http/route.ts";
import { keyOf } from "../merchants/connection.ts";
import { findOrderId, orderIdFilter } from "../orders/reading/list-conditions-sql.ts";
import { EventSchema } from "../partner-api/events.ts";
import {
  EndpointIdParams,
  missingEndpoint,
  pingResponse,
  RecoverySchema,
  recoveryResponse,
} from "../partner-api/webhook-endpoints.ts";
import type { Context } from "../platform/context.ts";
import { fromTypeId, toTypeId } from "../platform/ids.ts";
import { parseTime } from "../platform/time.ts";
import { pagePosition, toPage } from "../platform/wire/cursor.ts";
import { isProblem, notFound, type Problem, validationFailed } from "../platform/wire/problems.ts";
import {
  cursorField,
  describedAs,
  flagField,
  idField,
  limitField,
  pageOf,
} from "../platform/wire/schemas.ts";
import { changeEndpoint, createEndpoint, deleteEndpoint } from "../webhooks/endpoints/change-endpoints.ts";
import {
  type Endpoint,
  type EndpointKey,
  EndpointModeSchema,
  EndpointSchema,
  EventTypeSchema,
  HEALTH_FILTERS,
  HealthStatusSchema,
  healthStatusOf,
  ResumedEndpointSchema as PartnersResumedEndpointSchema,
  RotatedEndpointSchema as PartnersRotatedEndpointSchema,
  EndpointWithSecretSchema as PartnersWithSecretSchema,
  urlWithoutQuery,
} from "../webhooks/endpoints/endpoint.ts";
import {
  changedSettings,
  EndpointChangeSchema,
  EndpointRequestSchema,
  newSettings,
  PingSchema,
  RecoveryRequestSchema,
  RotationSchema,
  sinceErrors,
  urlErrors,
} from "../webhooks/endpoints/endpoint-request.ts";
import { listAllEndpoints, listEndpoints, readEndpoint } from "../webhooks/endpoints/endpoints-sql.ts";
import { pauseByRequest, showEndpoints } from "../webhooks/endpoints/pause.ts";
import { OVERLAP_HOURS_DEFAULT, rotateSecret } from "../webhooks/endpoints/secrets.ts";
import { readRecentEvents, recentPage } from "../webhooks/events/event-feed.ts";
import { DeliverySchema } from "../webhooks/log/delivery.ts";
import { resumeEndpoint } from "../webhooks/resend/recover.ts";
import {
  andMonitoring,
  andPartner,
  type BackOfficeCaller,
  type BackOfficeRoute,
  merchantSide,
  roleOf,
  route,
} from "./access.ts";
import { ConnectionIdParams, findConnection } from "./lookups.ts";
import { recordReads } from "./orders/export.ts";

const BackOfficeEndpointSchema = Type.Object(
  {
    ...EndpointSchema.properties,
    url: Type.String({
      description:
        "Address that events are sent to. Only a partner's developers see its query, because partners put secrets there: for others it is `?…`.",
    }),
    merchantId: idField("mer", "Id of the merchant."),
    connectionId: idField("con", "Id of the connection."),
    health: HealthStatusSchema,
  },
  {
    title: "BackOfficeWebhookEndpoint",
    description: "Where a connection's events are sent to, and how it is doing.",
  },
);

const ResumedEndpointSchema = Type.Object(
  {
    ...BackOfficeEndpointSchema.properties,
    deliveryCount: PartnersResumedEndpointSchema.properties.deliveryCount,
  },
  {
    title: "ResumedBackOfficeWebhookEndpoint",
    description: "An active endpoint, and how much the request makes due.",
  },
);

const withSecret = {
  ...BackOfficeEndpointSchema.properties,
  secret: PartnersWithSecretSchema.properties.secret,
};
const EndpointWithSecretSchema = Type.Object(withSecret, {
  title: "BackOfficeWebhookEndpointWithSecret",
  description: "An endpoint with its new signing secret.",
});
const RotatedEndpointSchema = Type.Object(
  {
    ...withSecret,
    previousSecretExpiresAt: PartnersRotatedEndpointSchema.properties.previousSecretExpiresAt,
  },
  {
    title: "RotatedBackOfficeWebhookEndpoint",
    description: "An endpoint with its new signing secret, and the end of the secret before it.",
  },
);

/** Reads the health of endpoints. Returns a function that shows them to the back office. */
async function showToBackOffice(
  context: Context,
  caller: BackOfficeCaller,
  endpoints: readonly Endpoint[],
): Promise<(endpoint: Endpoint) => Static<typeof BackOfficeEndpointSchema>> {
  const show = await showEndpoints(context, endpoints);
  const isPartner = roleOf(caller) === "partner"; // A caller with a stronger role sees endpoints of others as well.
  return (endpoint) => {
    const shown = show(endpoint);
    return {
      ...shown,
      url: isPartner ? endpoint.url : urlWithoutQuery(endpoint.url),
      merchantId: toTypeId("mer", endpoint.merchantId),
      connectionId: toTypeId("con", endpoint.connectionId),
      health: healthStatusOf(shown),
    };
  };
}

const EndpointParams = Type.Object({
  ...ConnectionIdParams.properties,
  ...EndpointIdParams.properties,
});

/** Calls with the key of the endpoint that a request names, if the caller may see its connection. */
async function onEndpoint(
  context: Context,
  caller: BackOfficeCaller,
  params: Static<typeof EndpointParams>,
  handle: (key: EndpointKey) => Promise<RouteResponse | Problem>,
): Promise<RouteResponse | Problem> {
  const connection = await findConnection(context, caller, params.id);
  if (connection === null) return notFound("connection");
  const id = fromTypeId("whe", params.endpointId);
  return id === null ? missingEndpoint : handle({ ...keyOf(connection), id });
}

/** An endpoint as the caller sees it, with further members of the response. */
async function shownEndpoint(
  context: Context,
  caller: BackOfficeCaller,
  endpoint: Endpoint | null,
  others: object = {},
): Promise<RouteResponse | Problem> {
  if (endpoint === null) return missingEndpoint;
  const show = await showToBackOffice(context, caller, [endpoint]);
  return { status: 200, body: { ...show(endpoint), ...others } };
}

const tag = "Webhook endpoints";
const ofPartners = andPartner(merchantSide);

const PageSchema = pageOf(BackOfficeEndpointSchema, "BackOfficeWebhookEndpointPage");

/** The webhook endpoints of partners, for those who support them. See docs/design/deliveries.md, "Endpoints". */
export const endpointRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/webhook-endpoints",
    operationId: "listAllWebhookEndpoints",
    admits: andMonitoring(ofPartners),
    tag,
    summary: "List webhook endpoints of all connections",
    description:
      "Of all connections that the caller sees, oldest first. If a filter matches nothing, the list is empty. A page may have fewer items than `limit`, or none, before the end of the list: continue until `nextCursor` is null.",
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      merchantId: Type.Optional(Type.String({ description: "Only endpoints of this merchant." })),
      health: Type.Optional(
        Type.Enum([...HEALTH_FILTERS], {
          description: "Only endpoints with this health. `unhealthy`: all but the healthy ones.",
        }),
      ),
      mode: Type.Optional(describedAs(EndpointModeSchema, "Only live, or only test endpoints.")),
    }),
    responses: { 200: { description: "A page of endpoints.", schema: PageSchema } },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const errors = idErrors("mer", "merchantId", query);
      if (errors.length > 0) return validationFailed(errors);
      const position = pagePosition("all-webhook-endpoints", query);
      if (isProblem(position)) return position;
      const filter = {
        scope: scopeWithin(connectionScope(caller.grants), idIn("mer", query.merchantId)),
        health: query.health ?? null,
        mode: query.mode ?? null,
      };
      const listed = await listAllEndpoints(context.db, filter, position, context.clock.now());
      const show = await showToBackOffice(context, caller, listed.endpoints.slice(0, position.limit));
      return { status: 200, body: toPage(listed.endpoints, position, show, listed.readTo) };
    },
  }),
  route({
    method: "GET",
    path: "/api/connections/{id}/webhook-endpoints",
    operationId: "listWebhookEndpoints",
    admits: andMonitoring(ofPartners),
    tag,
    summary: "List a connection's webhook endpoints",
    description: "Oldest first, without deleted ones.",
    params: ConnectionIdParams,
    query: Type.Object({ limit: limitField, cursor: cursorField }),
    responses: { 200: { description: "A page of endpoints.", schema: PageSchema } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const position = pagePosition("webhook-endpoints", query);
      if (isProblem(position)) return position;
      const endpoints = await listEndpoints(context.db, keyOf(connection), position);
      return {
        status: 200,
        body: toPage(endpoints, position, await showToBackOffice(context, caller, endpoints)),
      };
    },
  }),
  route({
    method: "GET",
    path: "/api/connections/{id}/webhook-endpoints/{endpointId}",
    operationId: "getWebhookEndpoint",
    admits: andMonitoring(ofPartners),
    tag,
    summary: "Get a webhook endpoint",
    params: EndpointParams,
    responses: { 200: { description: "The endpoint.", schema: BackOfficeEndpointSchema } },
    problems: ["not-found"],
    handle: ({ caller, params }, { context }) =>
      onEndpoint(context, caller, params, async (key) =>
        shownEndpoint(context, caller, await readEndpoint(context.db, key, key.id)),
      ),
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/webhook-endpoints/{endpointId}/pause",
    operationId: "pauseWebhookEndpoint",
    scope: "deliveries:write",
    admits: ofPartners,
    tag,
    summary: "Pause a webhook endpoint",
    description:
      "Nothing is sent until the endpoint is resumed, by the back office or by the partner. Its events stay in the log. Attempts in progress end. A paused endpoint is returned unchanged.",
    params: EndpointParams,
    responses: { 200: { description: "The paused endpoint.", schema: BackOfficeEndpointSchema } },
    problems: ["not-found"],
    handle: ({ caller, params, by }, { context }) =>
      onEndpoint(context, caller, params, async (key) =>
        shownEndpoint(context, caller, await pauseByRequest(context, key, by)),
      ),
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/webhook-endpoints/{endpointId}/resume",
    operationId: "resumeWebhookEndpoint",
    scope: "deliveries:write",
    admits: ofPartners,
    tag,
    summary: "Send what is pending now",
    description:
      "Activates a paused endpoint and sends its pending deliveries. Of an active endpoint, the backoff ends, and deliveries that wait for a retry are sent now. The work continues after the response.",
    params: EndpointParams,
    responses: { 200: { description: "The active endpoint.", schema: ResumedEndpointSchema } },
    problems: ["not-found"],
    handle: ({ caller, params, by }, { context }) =>
      onEndpoint(context, caller, params, async (key) => {
        const resumed = await resumeEndpoint(context, key, by);
        if (resumed === null) return missingEndpoint;
        return shownEndpoint(context, caller, resumed.endpoint, { deliveryCount: resumed.deliveryCount });
      }),
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/webhook-endpoints/{endpointId}/recover",
    operationId: "recoverDeliveries",
    scope: "deliveries:write",
    admits: ofPartners,
    tag,
    summary: "Send everything after an outage",
    description:
      "Does what a resume does, and also sends every failed delivery of an event since then again. Each order's events are sent in their order. The work continues after the response; the list of resends shows its progress.",
    params: EndpointParams,
    body: RecoveryRequestSchema,
    responses: { 202: { description: "What will be sent again.", schema: RecoverySchema } },
    problems: ["not-found", "validation-failed"],
    bodyErrors: async ({ body }, { context }) => sinceErrors(body, context.clock.now()),
    handle: ({ caller, params, body, by }, { context }) =>
      onEndpoint(context, caller, params, (key) => recoveryResponse(context, key, parseTime(body.since), by)),
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/webhook-endpoints/{endpointId}/ping",
    operationId: "pingWebhookEndpoint",
    scope: "deliveries:write",
    admits: ofPartners,
    tag,
    summary: "Send a test event to a webhook endpoint",
    description:
      "Sends a signed event of type `webhook.ping` or, with a `type`, a sample of that event. The partner sees it in its delivery log.",
    params: EndpointParams,
    body: PingSchema,
    responses: { 202: { description: "The delivery to be sent.", schema: DeliverySchema } },
    problems: ["not-found", "endpoint-paused", "validation-failed"],
    handle: ({ caller, params, body, by }, { context }) =>
      onEndpoint(context, caller, params, (key) => pingResponse(context, key, body.type, by)),
  }),
];

const admits = andPartner(merchantSide);

/** The partner's own operations on endpoints, for people. See docs/design/people.md, "Partners' developers". */
export const endpointChangeRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/connections/{id}/webhook-endpoints",
    operationId: "createWebhookEndpoint",
    admits,
    tag,
    summary: "Create a webhook endpoint",
    description:
      "As `POST /v1/webhook-endpoints` does, with the same limits. The endpoint receives events that happen from now on. Every request creates a new one.",
    params: ConnectionIdParams,
    body: EndpointRequestSchema,
    responses: {
      201: {
        description: "The endpoint with its signing secret, which is returned only here.",
        schema: EndpointWithSecretSchema,
      },
    },
    problems: ["recent-authentication-required", "not-found", "limit-reached", "validation-failed"],
    bodyErrors: async ({ body }, { context }) => urlErrors(body, context.config.webhookAllowPrivateNetworks),
    handle: async ({ caller, params, body, by }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const created = await createEndpoint(context, keyOf(connection), newSettings(body), by);
      if (isProblem(created)) return created;
      const { endpoint, secret } = created;
      const shown = await shownEndpoint(context, caller, endpoint, { secret });
      return isProblem(shown) ? shown : { ...shown, status: 201 };
    },
  }),
  route({
    method: "PATCH",
    path: "/api/connections/{id}/webhook-endpoints/{endpointId}",
    operationId: "updateWebhookEndpoint",
    admits,
    tag,
    summary: "Update a webhook endpoint",
    description:
      "Omitted fields do not change: leave out `url` to keep the query of the address, which is not shown. A new address also applies to pending deliveries, and a person needs recent authentication for it. New event types apply to events from now on.",
    params: EndpointParams,
    body: EndpointChangeSchema,
    responses: { 200: { description: "The endpoint after the change.", schema: BackOfficeEndpointSchema } },
    problems: ["recent-authentication-required", "not-found", "validation-failed"],
    bodyErrors: async ({ body }, { context }) => urlErrors(body, context.config.webhookAllowPrivateNetworks),
    handle: ({ caller, params, body, by }, { context }) =>
      onEndpoint(context, caller, params, async (key) =>
        shownEndpoint(context, caller, await changeEndpoint(context, key, changedSettings(body), by)),
      ),
  }),
  route({
    method: "DELETE",
    path: "/api/connections/{id}/webhook-endpoints/{endpointId}",
    operationId: "deleteWebhookEndpoint",
    admits,
    tag,
    summary: "Delete a webhook endpoint",
    description:
      "Nothing more is sent to the endpoint. In the background its pending deliveries become `failed`. Its deliveries stay in the log.",
    params: EndpointParams,
    responses: { 204: { description: "The endpoint is deleted." } },
    problems: ["not-found"],
    handle: ({ caller, params, by }, { context }) =>
      onEndpoint(context, caller, params, async (key) =>
        (await deleteEndpoint(context, key, by)) ? { status: 204 } : missingEndpoint,
      ),
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/webhook-endpoints/{endpointId}/rotate-secret",
    operationId: "rotateWebhookSecret",
    needsRecentAuthentication: true,
    admits,
    tag,
    summary: "Rotate the signing secret of a webhook endpoint",
    description:
      "During the overlap, every request is signed with the new secret and with the older ones, of which two are kept. A rotation never extends the time of an older secret. The body may be omitted.",
    params: EndpointParams,
    body: RotationSchema,
    responses: {
      200: {
        description: "The endpoint with its new secret, which is returned only here.",
        schema: RotatedEndpointSchema,
      },
    },
    problems: ["not-found", "validation-failed"],
    handle: ({ caller, params, by, body: { overlapHours = OVERLAP_HOURS_DEFAULT } }, { context }) =>
      onEndpoint(context, caller, params, async (key) => {
        const rotated = await rotateSecret(context, key, overlapHours, by);
        if (rotated === null) return missingEndpoint;
        const { endpoint, secret, previousExpiresAt } = rotated;
        const previousSecretExpiresAt = previousExpiresAt?.toISOString() ?? null;
        return shownEndpoint(context, caller, endpoint, { secret, previousSecretExpiresAt });
      }),
  }),
];

/** The events of a connection, for people who look at what happens. See docs/design/people.md, "Partners' developers". */
export const eventRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/connections/{id}/events",
    operationId: "listEvents",
    admits: andPartner(merchantSide),
    tag: "Events",
    summary: "List a connection's events",
    description:
      "Newest first, those of the last 30 days, exactly as they are delivered. An event contains the order with its address, so the audit log records who reads it. A page may have fewer items than `limit`, or none, before the end of the list: continue until `nextCursor` is null. A program that must miss no event follows `GET /v1/events` instead.",
    params: ConnectionIdParams,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      orderId: orderIdFilter,
      type: Type.Optional(describedAs(EventTypeSchema, "Only events of this type.")),
      testMode: flagField("True: only events of test orders. False: only others."),
    }),
    responses: {
      200: {
        description: "A page of events.",
        schema: pageOf(asPartnersSee(EventSchema), "EventPage"),
      },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query, by }, { context, readOrder }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const page = recentPage(query);
      if (isProblem(page)) return page;
      const key = keyOf(connection);
      const orderId = await findOrderId(readOrder, key, query.orderId);
      if (orderId === undefined) return { status: 200, json: '{"data":[],"nextCursor":null}' };
      const filter = { orderId, type: query.type ?? null, testMode: query.testMode ?? null };
      const { json, orders } = await readRecentEvents(context, key, filter, page);
      for (const testMode of [true, false])
        await recordReads(context, by, {
          orders: orders.filter((order) => order.testMode === testMode),
          testMode,
        });
      return { status: 200, json };
    },
  }),
];
