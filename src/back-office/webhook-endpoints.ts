import { type Static, type TObject, type TProperties, type TSchema, Type } from "typebox";
import { type Role, scopeWithin } from "../audit/grant.ts";
import { MADE_PARTS, readMadeParts } from "../audit/made-parts-sql.ts";
import { hasScope, scopeRequired } from "../audit/scope.ts";
import { asPartnersSee, idErrors, idIn, type RouteResponse } from "../http/route.ts";
import { orderIdFilter } from "../orders/reading/list-conditions-sql.ts";
import { orderFinder } from "../partner-api/deliveries.ts";
import { EventSchema } from "../partner-api/events.ts";
import {
  EndpointIdParams,
  missingEndpoint,
  pingResponse,
  RecoverySchema,
  recoveryResponse,
  sampleOf,
} from "../partner-api/webhook-endpoints.ts";
import { makerOf } from "../people/tokens.ts";
import type { Context } from "../platform/context.ts";
import { searchPatterns } from "../platform/fold-text.ts";
import { fromTypeId, toTypeId } from "../platform/ids.ts";
import { parseTime } from "../platform/time.ts";
import { pagePosition, toPage } from "../platform/wire/cursor.ts";
import { isProblem, type Problem, validationFailed } from "../platform/wire/problems.ts";
import {
  cursorField,
  describedAs,
  enumeration,
  flagField,
  idField,
  limitField,
  nullable,
  nullableTime,
  pageOf,
  searchField,
} from "../platform/wire/schemas.ts";
import { changeEndpoint, createEndpoint, deleteEndpoint } from "../webhooks/endpoints/change-endpoints.ts";
import type { Taker } from "../webhooks/endpoints/ended-access.ts";
import {
  ENDPOINT_TEXTS,
  type Endpoint,
  type EndpointEventType,
  EndpointEventTypeSchema,
  type EndpointKey,
  EndpointModeSchema,
  EndpointSchema,
  EVENT_TYPE_SCHEMAS,
  EventTypeSchema,
  endpointHealthFields,
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
  changeErrors,
  ENDPOINT_REQUESTS,
  endpointErrors,
  kindErrors,
  newSettings,
  RecoveryRequestSchema,
  RotationSchema,
  sinceErrors,
} from "../webhooks/endpoints/endpoint-request.ts";
import {
  type ListedEndpoint,
  listAllEndpoints,
  listEndpoints,
  readEndpoint,
} from "../webhooks/endpoints/endpoints-sql.ts";
import { pauseByRequest, showEndpoints } from "../webhooks/endpoints/pause.ts";
import { OVERLAP_HOURS_DEFAULT, rotateSecret } from "../webhooks/endpoints/secrets.ts";
import type { BackOfficeEventType } from "../webhooks/events/back-office-event.ts";
import type { EventType } from "../webhooks/events/event.ts";
import { readRecentEvents, recentPage } from "../webhooks/events/event-feed.ts";
import { DeliverySchema } from "../webhooks/log/delivery.ts";
import {
  type OwnerKind,
  type OwnerNames,
  ownerField,
  ownerKind,
  ownerNameFields,
  toWireOwner,
} from "../webhooks/owner.ts";
import { resumeEndpoint } from "../webhooks/resend/recover.ts";
import {
  andMonitoring,
  andPartner,
  type BackOfficeCaller,
  type BackOfficeRoute,
  everyone,
  roleOf,
  route,
} from "./access.ts";
import { ENDPOINT_OWNERS, type EndpointOwner, onOwner, ownerScope } from "./endpoint-owners.ts";
import { BackOfficeEventSchema } from "./event-schemas.ts";
import { ConnectionIdParams } from "./lookups.ts";
import { recordReads } from "./orders/export.ts";
import { sampleBackOfficeEvent } from "./sample-events.ts";

const urlShown = nullable(
  Type.String(),
  "Address that events are sent to. Only those see its query whose endpoint it is, a partner's developers, the merchant or the warehouse, because there are secrets in it: for others it is `?…`. Null of a pull endpoint.",
);
const merchantId = idField("mer", "Id of the merchant.");
const connectionId = idField("con", "Id of the connection.");
const facilityId = idField("fac", "Id of the facility.");

const madeByTokens = Type.Array(
  Type.Object(
    {
      part: enumeration(
        "WebhookEndpointPart",
        MADE_PARTS,
        "`address`: the URL. `secret`: the newest signing secret.",
      ),
      tokenId: Type.String({ description: "Id of the token." }),
      tokenName: nullable(
        Type.String(),
        "Name of the token. Null if the role `partner` alone shows the endpoint.",
      ),
      endsAt: nullableTime("When the token ends, or has ended. Null: when it is revoked."),
    },
    { title: "WebhookEndpointMaker", description: "A part of an endpoint that a token has set." },
  ),
  {
    description:
      "What of the endpoint was set with a token, or with a key that a token has issued. When one of these tokens ends, the endpoint is paused with the reason `access-ended`. To keep it, set `url` and rotate the secret without a token, or resume the endpoint after the pause. Rotating the token keeps it too.",
  },
);

const healthFields = { health: HealthStatusSchema, ...endpointHealthFields };

const PartnersEndpointSchema = Type.Object(
  {
    ...EndpointSchema.properties,
    url: urlShown,
    merchantId,
    connectionId,
    ...healthFields,
    madeByTokens,
  },
  {
    title: "BackOfficeWebhookEndpoint",
    description: "Where a connection's events are sent to, and how it is doing.",
  },
);

const { mode: _, ...ownFields } = EndpointSchema.properties;
const OwnEndpointSchema = Type.Object(
  {
    ...ownFields,
    url: urlShown,
    eventTypes: Type.Array(EndpointEventTypeSchema, { description: ENDPOINT_TEXTS.eventTypes }),
    merchantId: nullable(merchantId, "Id of the merchant. Null for an endpoint of a facility."),
    facilityId: nullable(facilityId, "Id of the facility. Null for an endpoint of a merchant."),
    ...healthFields,
    madeByTokens,
  },
  {
    title: "OwnWebhookEndpoint",
    description: "Where the events of a merchant or a facility are sent to, and how it is doing.",
  },
);

/** In a list of all owners. */
const ListedEndpointSchema = Type.Object(
  {
    ...OwnEndpointSchema.properties,
    mode: EndpointSchema.properties.mode,
    connectionId: nullable(
      connectionId,
      "Id of the connection. Null for an endpoint of a merchant or a facility.",
    ),
    facilityId: nullable(facilityId, "Id of the facility. Null for all other endpoints."),
    ...ownerNameFields,
  },
  {
    title: "ListedWebhookEndpoint",
    description: "An endpoint of a connection, a merchant or a facility, and how it is doing.",
  },
);

/** An endpoint in the responses of the routes of an owner. */
const schemasOf = <Members extends TProperties>(title: string, endpoint: TObject<Members>) => {
  const withSecret = {
    ...endpoint.properties,
    secret: PartnersWithSecretSchema.properties.secret,
  };
  return {
    endpoint,
    page: pageOf(endpoint, `${title}Page`),
    resumed: Type.Object(
      {
        ...endpoint.properties,
        requestedAt: PartnersResumedEndpointSchema.properties.requestedAt,
        deliveryCount: PartnersResumedEndpointSchema.properties.deliveryCount,
      },
      { title: `Resumed${title}`, description: "An active endpoint, and how much the request makes due." },
    ),
    withSecret: Type.Object(withSecret, {
      title: `${title}WithSecret`,
      description: "An endpoint with its new signing secret.",
    }),
    rotated: Type.Object(
      {
        ...withSecret,
        previousSecretExpiresAt: PartnersRotatedEndpointSchema.properties.previousSecretExpiresAt,
      },
      {
        title: `Rotated${title}`,
        description: "An endpoint with its new signing secret, and the end of the secret before it.",
      },
    ),
  };
};

const own = schemasOf("OwnWebhookEndpoint", OwnEndpointSchema);
const SCHEMAS: Readonly<Record<OwnerKind, Readonly<Record<keyof typeof own, TSchema>>>> = {
  connection: schemasOf("BackOfficeWebhookEndpoint", PartnersEndpointSchema),
  merchant: own,
  facility: own,
};

/** Who sees the query of an address: those who have chosen it. */
const OWN_ROLE: Readonly<Record<OwnerKind, Role>> = {
  connection: "partner",
  merchant: "merchant",
  facility: "warehouse",
};

/** Reads the health of endpoints. Returns a function that shows them to the back office. */
async function showToBackOffice(
  context: Context,
  caller: BackOfficeCaller,
  endpoints: readonly Endpoint[],
): Promise<(endpoint: Endpoint) => Omit<Static<typeof ListedEndpointSchema>, keyof OwnerNames>> {
  const show = await showEndpoints(context, endpoints);
  const parts = await readMadeParts(
    context.db,
    endpoints.map(({ id }) => id),
  );
  const role = roleOf(caller); // A caller with a stronger role sees endpoints of others as well.
  return (endpoint) => {
    const shown = show(endpoint);
    return {
      ...shown,
      url: OWN_ROLE[ownerKind(endpoint)] === role ? endpoint.url : urlWithoutQuery(endpoint.url),
      ...toWireOwner(endpoint),
      health: healthStatusOf(shown),
      madeByTokens: parts
        .filter(({ endpointId }) => endpointId === endpoint.id)
        .map(({ part, tokenId, tokenName, endsAt }) => ({
          part,
          tokenId: toTypeId("tok", tokenId),
          tokenName: role === "partner" ? null : tokenName,
          endsAt: endsAt?.toISOString() ?? null,
        })),
    };
  };
}

const EndpointParams = Type.Object({
  ...ConnectionIdParams.properties,
  ...EndpointIdParams.properties,
});

/** Calls with the key of the endpoint that a request names, if the caller may see its owner. */
const onEndpoint = (
  context: Context,
  caller: BackOfficeCaller,
  owner: EndpointOwner,
  params: Static<typeof EndpointParams>,
  handle: (key: EndpointKey) => Promise<RouteResponse | Problem>,
): Promise<RouteResponse | Problem> =>
  onOwner(context, caller, owner, params.id, async (key) => {
    const id = fromTypeId("whe", params.endpointId);
    return id === null ? missingEndpoint : handle({ ...key, id });
  });

/** A resume needs less than making an endpoint, unless it takes one over. */
const takerOf = (context: Context, caller: BackOfficeCaller): Taker => ({
  lockMaker: makerOf(context, caller),
  mayNotMake: hasScope(caller.scopes, "endpoints:write")
    ? null
    : scopeRequired(
        "endpoints:write",
        "A token that has ended had set up this endpoint: a resume takes the endpoint over, and your token lacks the scope endpoints:write.",
      ),
});

/** Null: a ping. */
function sampleFor(context: Context, key: EndpointKey, type: EndpointEventType | undefined) {
  const kind = ownerKind(key);
  if (type === undefined) return null;
  // The schema of the request has the types of the owner alone.
  return kind === "connection"
    ? sampleOf(context, key, type as EventType)
    : sampleBackOfficeEvent(context, key, type as BackOfficeEventType);
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

const searchedIn = (q: string | undefined) => {
  const text = q?.trim();
  return text === undefined
    ? null
    : { text: searchPatterns(text), id: fromTypeId("whe", text.toLowerCase()) };
};

const ListedPageSchema = pageOf(ListedEndpointSchema, "ListedWebhookEndpointPage");

/** The webhook endpoints of all owners, for those who support them. See docs/design/deliveries.md, "Endpoints". */
export const allEndpointRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/webhook-endpoints",
    operationId: "listAllWebhookEndpoints",
    admits: andMonitoring(andPartner(everyone)),
    tag,
    summary: "List all webhook endpoints",
    description:
      "Of all connections, merchants and facilities that the caller sees, oldest first. If a filter matches nothing, the list is empty. A page may have fewer items than `limit`, or none, before the end of the list: continue until `nextCursor` is null.",
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
      owner: ownerField,
      q: searchField(
        "A part of the address without its query, of the note, or of the name of connection, merchant or facility, or the id of the endpoint. Case, accents and apostrophes are ignored.",
      ),
    }),
    responses: { 200: { description: "A page of endpoints.", schema: ListedPageSchema } },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const errors = idErrors("mer", "merchantId", query);
      if (errors.length > 0) return validationFailed(errors);
      const position = pagePosition("all-webhook-endpoints", query);
      if (isProblem(position)) return position;
      const filter = {
        scope: scopeWithin(ownerScope(caller.grants), idIn("mer", query.merchantId)),
        health: query.health ?? null,
        mode: query.mode ?? null,
        owner: query.owner ?? null,
        searched: searchedIn(query.q),
      };
      const listed = await listAllEndpoints(context.db, filter, position, context.clock.now());
      const show = await showToBackOffice(context, caller, listed.endpoints.slice(0, position.limit));
      const toWire = (endpoint: ListedEndpoint) => ({
        ...show(endpoint),
        connectionName: endpoint.connectionName,
        merchantName: endpoint.merchantName,
        facilityName: endpoint.facilityName,
      });
      return { status: 200, body: toPage(listed.endpoints, position, toWire, listed.readTo) };
    },
  }),
];

/** The webhook endpoints of each kind of owner. */
export const endpointRoutes: readonly BackOfficeRoute[] = ENDPOINT_OWNERS.flatMap((owner) => [
  route({
    method: "GET",
    path: `${owner.path}/webhook-endpoints`,
    operationId: owner.operation("listWebhookEndpoints"),
    admits: andMonitoring(owner.admits),
    tag,
    summary: `List the webhook endpoints of a ${owner.kind}`,
    description: "Oldest first, without deleted ones.",
    params: owner.params,
    query: Type.Object({ limit: limitField, cursor: cursorField }),
    responses: { 200: { description: "A page of endpoints.", schema: SCHEMAS[owner.kind].page } },
    problems: ["not-found", "validation-failed"],
    handle: ({ caller, params, query }, { context }) =>
      onOwner(context, caller, owner, params.id, async (key) => {
        const position = pagePosition("webhook-endpoints", query);
        if (isProblem(position)) return position;
        const endpoints = await listEndpoints(context.db, key, position);
        const show = await showToBackOffice(context, caller, endpoints);
        return { status: 200, body: toPage(endpoints, position, show) };
      }),
  }),
  route({
    method: "GET",
    path: `${owner.path}/webhook-endpoints/{endpointId}`,
    operationId: owner.operation("getWebhookEndpoint"),
    admits: andMonitoring(owner.admits),
    tag,
    summary: "Get a webhook endpoint",
    params: EndpointParams,
    responses: { 200: { description: "The endpoint.", schema: SCHEMAS[owner.kind].endpoint } },
    problems: ["not-found"],
    handle: ({ caller, params }, { context }) =>
      onEndpoint(context, caller, owner, params, async (key) =>
        shownEndpoint(context, caller, await readEndpoint(context.db, key, key.id)),
      ),
  }),
  route({
    method: "POST",
    path: `${owner.path}/webhook-endpoints/{endpointId}/pause`,
    operationId: owner.operation("pauseWebhookEndpoint"),
    scope: "deliveries:write",
    admits: owner.admits,
    tag,
    summary: "Pause a webhook endpoint",
    description:
      "Nothing is sent until the endpoint is resumed, by the back office or, if it is a partner's, by the partner. Its events stay in the log. Attempts in progress end. A paused endpoint is returned unchanged.",
    params: EndpointParams,
    responses: { 200: { description: "The paused endpoint.", schema: SCHEMAS[owner.kind].endpoint } },
    problems: ["not-found"],
    handle: ({ caller, params, by }, { context }) =>
      onEndpoint(context, caller, owner, params, async (key) =>
        shownEndpoint(context, caller, await pauseByRequest(context, key, by)),
      ),
  }),
  route({
    method: "POST",
    path: `${owner.path}/webhook-endpoints/{endpointId}/resume`,
    operationId: owner.operation("resumeWebhookEndpoint"),
    scope: "deliveries:write",
    admits: owner.admits,
    tag,
    summary: "Send what is pending now",
    description:
      "Activates a paused endpoint and sends its pending deliveries. Of an active endpoint, the backoff ends, and deliveries that wait for a retry are sent now. The work continues after the response. An endpoint that was paused because a token has ended is taken over: a token needs `endpoints:write` for it, and a person recent authentication.",
    params: EndpointParams,
    responses: { 200: { description: "The active endpoint.", schema: SCHEMAS[owner.kind].resumed } },
    problems: ["recent-authentication-required", "not-found"],
    handle: ({ caller, params, by }, { context }) =>
      onEndpoint(context, caller, owner, params, async (key) => {
        const resumed = await resumeEndpoint(context, key, takerOf(context, caller), by);
        if (resumed === null) return missingEndpoint;
        if (isProblem(resumed)) return resumed;
        return shownEndpoint(context, caller, resumed.endpoint, {
          requestedAt: resumed.requestedAt.toISOString(),
          deliveryCount: resumed.deliveryCount,
        });
      }),
  }),
  route({
    method: "POST",
    path: `${owner.path}/webhook-endpoints/{endpointId}/recover`,
    operationId: owner.operation("recoverDeliveries"),
    scope: "deliveries:write",
    admits: owner.admits,
    tag,
    summary: "Send everything after an outage",
    description:
      "Does what a resume does, and also sends every failed delivery of an event since then again. Each order's events are sent in their order. The work continues after the response; the list of resends shows its progress.",
    params: EndpointParams,
    body: RecoveryRequestSchema,
    responses: { 202: { description: "What will be sent again.", schema: RecoverySchema } },
    problems: ["recent-authentication-required", "not-found", "validation-failed"],
    bodyErrors: async ({ body }, { context }) => sinceErrors(body, context.clock.now()),
    handle: ({ caller, params, body, by }, { context }) =>
      onEndpoint(context, caller, owner, params, (key) =>
        recoveryResponse(context, key, parseTime(body.since), takerOf(context, caller), by),
      ),
  }),
  route({
    method: "POST",
    path: `${owner.path}/webhook-endpoints/{endpointId}/ping`,
    operationId: owner.operation("pingWebhookEndpoint"),
    scope: "deliveries:write",
    admits: owner.admits,
    tag,
    summary: "Send a test event to a webhook endpoint",
    description:
      "Sends a signed event of type `webhook.ping` or, with a `type`, a sample of that event. The delivery log shows it.",
    params: EndpointParams,
    body: ENDPOINT_REQUESTS[owner.kind].ping,
    responses: { 202: { description: "The delivery to be sent.", schema: DeliverySchema } },
    problems: ["not-found", "endpoint-paused", "validation-failed"],
    handle: ({ caller, params, body, by }, { context }) =>
      onEndpoint(context, caller, owner, params, (key) =>
        pingResponse(context, key, sampleFor(context, key, body.type), by),
      ),
  }),
  route({
    method: "POST",
    path: `${owner.path}/webhook-endpoints`,
    operationId: owner.operation("createWebhookEndpoint"),
    admits: owner.admits,
    tag,
    summary: "Create a webhook endpoint",
    description:
      "As `POST /v1/webhook-endpoints` does for a partner, with the same limits. The endpoint receives events that happen from now on. Every request creates a new one.",
    params: owner.params,
    body: ENDPOINT_REQUESTS[owner.kind].request,
    responses: {
      201: {
        description: "The endpoint with its signing secret, which is returned only here.",
        schema: SCHEMAS[owner.kind].withSecret,
      },
    },
    problems: ["recent-authentication-required", "not-found", "limit-reached", "validation-failed"],
    bodyErrors: async ({ body }, { context }) => [
      ...kindErrors(body),
      ...endpointErrors(body, context.config.webhookAllowPrivateNetworks),
    ],
    handle: ({ caller, params, body, by }, { context }) =>
      onOwner(context, caller, owner, params.id, async (key) => {
        const { defaultTypes } = ENDPOINT_REQUESTS[owner.kind];
        const settings = newSettings(body, defaultTypes);
        const created = await createEndpoint(context, key, settings, makerOf(context, caller), by);
        if (isProblem(created)) return created;
        const { endpoint, secret } = created;
        const shown = await shownEndpoint(context, caller, endpoint, { secret });
        return isProblem(shown) ? shown : { ...shown, status: 201 };
      }),
  }),
  route({
    method: "PATCH",
    path: `${owner.path}/webhook-endpoints/{endpointId}`,
    operationId: owner.operation("updateWebhookEndpoint"),
    admits: owner.admits,
    tag,
    summary: "Update a webhook endpoint",
    description:
      "Omitted fields do not change: leave out `url` to keep the query of the address, which is not shown. A new address also applies to pending deliveries, and a person needs recent authentication for it. New event types apply to events from now on.",
    params: EndpointParams,
    body: ENDPOINT_REQUESTS[owner.kind].change,
    responses: {
      200: { description: "The endpoint after the change.", schema: SCHEMAS[owner.kind].endpoint },
    },
    problems: ["recent-authentication-required", "not-found", "validation-failed"],
    bodyErrors: async ({ body }, { context }) =>
      changeErrors(body, context.config.webhookAllowPrivateNetworks),
    handle: ({ caller, params, body, by }, { context }) =>
      onEndpoint(context, caller, owner, params, async (key) => {
        const settings = changedSettings(body);
        const changed = await changeEndpoint(context, key, settings, makerOf(context, caller), by);
        return changed !== null && isProblem(changed) ? changed : shownEndpoint(context, caller, changed);
      }),
  }),
  route({
    method: "DELETE",
    path: `${owner.path}/webhook-endpoints/{endpointId}`,
    operationId: owner.operation("deleteWebhookEndpoint"),
    admits: owner.admits,
    tag,
    summary: "Delete a webhook endpoint",
    description:
      "Nothing more is sent to the endpoint. In the background its pending deliveries become `failed`. Its deliveries stay in the log.",
    params: EndpointParams,
    responses: { 204: { description: "The endpoint is deleted." } },
    problems: ["not-found"],
    handle: ({ caller, params, by }, { context }) =>
      onEndpoint(context, caller, owner, params, async (key) =>
        (await deleteEndpoint(context, key, by)) ? { status: 204 } : missingEndpoint,
      ),
  }),
  route({
    method: "POST",
    path: `${owner.path}/webhook-endpoints/{endpointId}/rotate-secret`,
    operationId: owner.operation("rotateWebhookSecret"),
    needsRecentAuthentication: true,
    admits: owner.admits,
    tag,
    summary: "Rotate the signing secret of a webhook endpoint",
    description:
      "During the overlap, every request is signed with the new secret and with the older ones, of which two are kept. A rotation never extends the time of an older secret. The body may be omitted.",
    params: EndpointParams,
    body: RotationSchema,
    responses: {
      200: {
        description: "The endpoint with its new secret, which is returned only here.",
        schema: SCHEMAS[owner.kind].rotated,
      },
    },
    problems: ["not-found", "validation-failed"],
    handle: ({ caller, params, by, body: { overlapHours = OVERLAP_HOURS_DEFAULT } }, { context }) =>
      onEndpoint(context, caller, owner, params, async (key) => {
        const rotated = await rotateSecret(context, key, overlapHours, makerOf(context, caller), by);
        if (rotated === null) return missingEndpoint;
        if (isProblem(rotated)) return rotated;
        const { endpoint, secret, previousExpiresAt } = rotated;
        const previousSecretExpiresAt = previousExpiresAt?.toISOString() ?? null;
        return shownEndpoint(context, caller, endpoint, { secret, previousSecretExpiresAt });
      }),
  }),
]);

const eventPages = {
  connection: pageOf(asPartnersSee(EventSchema), "EventPage"),
  merchant: pageOf(BackOfficeEventSchema, "BackOfficeEventPage"),
  facility: pageOf(BackOfficeEventSchema, "BackOfficeEventPage"),
};

const recentQuery = {
  limit: limitField,
  cursor: cursorField,
  orderId: orderIdFilter,
};
type RecentQuery = {
  limit?: number;
  cursor?: string;
  orderId?: string;
  type?: EndpointEventType;
  testMode?: boolean;
};
const eventQueries = {
  connection: Type.Object({
    ...recentQuery,
    type: Type.Optional(describedAs(EventTypeSchema, "Only events of this type.")),
    testMode: flagField("True: only events of test orders. False: only others."),
  }),
  merchant: Type.Object({
    ...recentQuery,
    type: Type.Optional(describedAs(EVENT_TYPE_SCHEMAS.merchant, "Only events of this type.")),
  }),
  facility: Type.Object({
    ...recentQuery,
    type: Type.Optional(describedAs(EVENT_TYPE_SCHEMAS.facility, "Only events of this type.")),
  }),
};

/** The events of each owner, for people who look at what happens. See docs/design/people.md, "Partners' developers". */
export const eventRoutes: readonly BackOfficeRoute[] = ENDPOINT_OWNERS.map((owner) =>
  route({
    method: "GET",
    path: `${owner.path}/events`,
    operationId: owner.operation("listEvents"),
    admits: owner.admits,
    tag: "Events",
    summary: `List the events of a ${owner.kind}`,
    description: `Newest first, those of the last 30 days, exactly as they are delivered. An event contains the order with its address, so the audit log records who reads it. A page may have fewer items than \`limit\`, or none, before the end of the list: continue until \`nextCursor\` is null. ${
      owner.kind === "connection"
        ? "A program that must miss no event follows `GET /v1/events` instead."
        : "Events are published while there is an endpoint."
    }`,
    params: owner.params,
    query: Type.Unsafe<RecentQuery>(eventQueries[owner.kind]),
    responses: { 200: { description: "A page of events.", schema: eventPages[owner.kind] } },
    problems: ["not-found", "validation-failed"],
    handle: ({ caller, params, query, by }, { context, readOrder }) =>
      onOwner(context, caller, owner, params.id, async (key): Promise<RouteResponse | Problem> => {
        const page = recentPage(query);
        if (isProblem(page)) return page;
        const orderId = await orderFinder(readOrder, key)(query.orderId);
        if (orderId === undefined) return { status: 200, json: '{"data":[],"nextCursor":null}' };
        const filter = { orderId, type: query.type ?? null, testMode: query.testMode ?? null };
        const { json, orders } = await readRecentEvents(context, key, filter, page);
        for (const testMode of [true, false])
          await recordReads(context, by, {
            orders: orders.filter((order) => order.testMode === testMode),
            testMode,
          });
        return { status: 200, json };
      }),
  }),
);
