import { type Static, Type } from "typebox";
import type { LockMaker } from "../audit/maker.ts";
import type { Initiator } from "../audit/record-audit.ts";
import type { RouteResponse } from "../http/route.ts";
import { fullAccess, type KeyAccess } from "../merchants/api-key.ts";
import { type SampleEvent, sampleEvent } from "../orders/sample-event.ts";
import { makerOfKey } from "../people/tokens.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Context } from "../platform/context.ts";
import { fromTypeId } from "../platform/ids.ts";
import { parseTime } from "../platform/time.ts";
import { pagePosition, toPage } from "../platform/wire/cursor.ts";
import { isProblem, notFound, type Problem } from "../platform/wire/problems.ts";
import { cursorField, dateTime, limitField, nullable, pageOf } from "../platform/wire/schemas.ts";
import { changeEndpoint, createEndpoint, deleteEndpoint } from "../webhooks/endpoints/change-endpoints.ts";
import type { Taker } from "../webhooks/endpoints/ended-access.ts";
import {
  type EndpointKey,
  EndpointSchema,
  EndpointWithSecretSchema,
  ResumedEndpointSchema,
  RotatedEndpointSchema,
  wireEndpointId,
} from "../webhooks/endpoints/endpoint.ts";
import {
  changedSettings,
  changeErrors,
  EndpointChangeSchema,
  EndpointRequestSchema,
  endpointErrors,
  kindErrors,
  modeErrors,
  newSettings,
  PingSchema,
  RecoveryRequestSchema,
  RotationSchema,
  sinceErrors,
} from "../webhooks/endpoints/endpoint-request.ts";
import { listEndpoints, readEndpoint } from "../webhooks/endpoints/endpoints-sql.ts";
import { showEndpoint, showEndpoints } from "../webhooks/endpoints/pause.ts";
import { OVERLAP_HOURS_DEFAULT, rotateSecret } from "../webhooks/endpoints/secrets.ts";
import type { EventType } from "../webhooks/events/event.ts";
import { DeliverySchema } from "../webhooks/log/delivery.ts";
import { readWireDelivery } from "../webhooks/log/delivery-log.ts";
import { pingEndpoint, type Sample } from "../webhooks/resend/manual.ts";
import { recoverEndpoint, resumeEndpoint } from "../webhooks/resend/recover.ts";
import type { PartnerCaller } from "./authentication.ts";
import { FOR_LIVE_KEYS, type PartnerRoute, route } from "./partner-route.ts";

// Partners and the back office operate the same endpoints. Only the way to find one differs.

export const EndpointIdParams = Type.Object({
  endpointId: Type.String({ description: "Id of the endpoint." }),
});

export const RecoverySchema = Type.Object(
  {
    endpointId: Type.String({ description: "Id of the endpoint." }),
    since: dateTime(
      "Failed deliveries of events from this time on are sent again: the time of the request or, if an earlier recovery is not finished, the earlier of both.",
    ),
    until: dateTime("The time of the request."),
    deliveryCount: nullable(
      Type.Integer({ minimum: 0 }),
      "How many deliveries the request makes due: those that failed in this period, and those that waited for a retry; of a paused endpoint, all that are pending. What an earlier request has counted is not counted again, so 0 means that nothing is left to request. Null if there are more than 5,000 deliveries to count.",
    ),
  },
  { title: "Recovery", description: "Which deliveries the service sends again." },
);

export const missingEndpoint = notFound("webhook endpoint");

/** Returns 202 and what will be sent again. */
export async function recoveryResponse(
  context: Context,
  key: EndpointKey,
  since: Date,
  taker: Taker,
  by: Initiator,
): Promise<RouteResponse | Problem> {
  const recovery = await recoverEndpoint(context, key, since, taker, by);
  if (recovery === null) return missingEndpoint;
  if (isProblem(recovery)) return recovery;
  const body: Static<typeof RecoverySchema> = {
    endpointId: wireEndpointId(key.id),
    since: recovery.since.toISOString(),
    until: recovery.until.toISOString(),
    deliveryCount: recovery.deliveryCount,
  };
  return { status: 202, body };
}

/** What an endpoint of a partner receives as a sample of a type. Null: a ping. */
export function sampleOf(
  { clock, config, newId }: Context,
  connection: ConnectionKey,
  type: EventType | undefined,
): SampleEvent | null {
  const lifetimeMs = config.testOrderLifetimeMs;
  return type === undefined ? null : sampleEvent(type, { connection, newId, now: clock.now(), lifetimeMs });
}

/**
 * Returns 202 and the delivery of a ping, or of a sample.
 * @param by who requests it, if the audit log should say so
 */
export async function pingResponse(
  context: Context,
  key: EndpointKey,
  sample: Sample | null,
  by: Initiator | null = null,
): Promise<RouteResponse | Problem> {
  const sent = await pingEndpoint(context, key, sample, by);
  if (isProblem(sent)) return sent;
  const access: KeyAccess = fullAccess(key);
  const delivery = await readWireDelivery(context.db, access, sent.deliveryId, context.clock.now());
  return delivery === null ? missingEndpoint : { status: 202, body: delivery };
}

const tag = "Webhook endpoints";

/** The key of the endpoint that a request names. Null if the text is not the id of an endpoint. */
function endpointKey({ merchantId, connectionId }: PartnerCaller, { endpointId }: { endpointId: string }) {
  const id = fromTypeId("whe", endpointId);
  return id === null ? null : { merchantId, connectionId, id };
}

/**
 * The key of the endpoint that a request changes. A test key changes test endpoints only
 * (docs/design/isolation-and-limits.md, "Live and test keys"). The mode of an endpoint never changes, so nothing is locked.
 */
export async function changeableKey(
  { db }: Context,
  caller: PartnerCaller,
  params: { endpointId: string },
): Promise<EndpointKey | Problem> {
  const key = endpointKey(caller, params);
  if (key === null) return missingEndpoint;
  if (!caller.testOnly) return key;
  const endpoint = await readEndpoint(db, key, key.id);
  if (endpoint === null) return missingEndpoint;
  return endpoint.mode === "test" ? key : FOR_LIVE_KEYS;
}

/** What a key makes belongs to the token that has issued it. */
const makerOf = (context: Context, { key }: PartnerCaller): LockMaker => makerOfKey(context, key.id);

/** A key that may change an endpoint may make one. */
const takerOf = (context: Context, caller: PartnerCaller): Taker => ({
  lockMaker: makerOf(context, caller),
  mayNotMake: null,
});

/** A partner's webhook endpoints. See docs/design/deliveries.md, "Endpoints". */
export const webhookRoutes: readonly PartnerRoute[] = [
  route({
    method: "POST",
    path: "/v1/webhook-endpoints",
    operationId: "createWebhookEndpoint",
    tag,
    summary: "Create a webhook endpoint",
    description:
      "The endpoint receives events that happen from now on, signed as in Standard Webhooks. A connection has up to 200 live endpoints and 20 test endpoints. Every request creates a new one. A test key creates test endpoints only, which receive the events of test orders.",
    body: EndpointRequestSchema,
    responses: {
      201: {
        description: "The endpoint with its signing secret, which is returned only here.",
        schema: EndpointWithSecretSchema,
        headers: { Location: "Path of the new endpoint." },
      },
    },
    problems: ["forbidden", "limit-reached", "validation-failed"],
    bodyErrors: async ({ caller, body }, { context }) => [
      ...kindErrors(body),
      ...endpointErrors(body, context.config.webhookAllowPrivateNetworks),
      ...modeErrors(body, caller),
    ],
    handle: async ({ caller, body, by }, { context }) => {
      const created = await createEndpoint(context, caller, newSettings(body), makerOf(context, caller), by);
      if (isProblem(created)) return created;
      const shown = await showEndpoint(context, created.endpoint);
      return {
        status: 201,
        headers: { location: `/v1/webhook-endpoints/${shown.id}` },
        body: { ...shown, secret: created.secret },
      };
    },
  }),
  route({
    method: "GET",
    path: "/v1/webhook-endpoints",
    operationId: "listWebhookEndpoints",
    isList: true,
    tag,
    summary: "List webhook endpoints",
    query: Type.Object({ limit: limitField, cursor: cursorField }),
    responses: {
      200: { description: "A page, oldest first.", schema: pageOf(EndpointSchema, "WebhookEndpointPage") },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const position = pagePosition("webhook-endpoints", query);
      if (isProblem(position)) return position;
      const endpoints = await listEndpoints(context.db, caller, position);
      return {
        status: 200,
        body: toPage(endpoints, position, await showEndpoints(context, endpoints)),
      };
    },
  }),
  route({
    method: "GET",
    path: "/v1/webhook-endpoints/{endpointId}",
    operationId: "getWebhookEndpoint",
    tag,
    summary: "Get a webhook endpoint",
    params: EndpointIdParams,
    responses: { 200: { description: "The endpoint, without its secret.", schema: EndpointSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const key = endpointKey(caller, params);
      const endpoint = key === null ? null : await readEndpoint(context.db, key, key.id);
      return endpoint === null
        ? missingEndpoint
        : { status: 200, body: await showEndpoint(context, endpoint) };
    },
  }),
  route({
    method: "PATCH",
    path: "/v1/webhook-endpoints/{endpointId}",
    operationId: "updateWebhookEndpoint",
    retry: "repeat",
    tag,
    summary: "Update a webhook endpoint",
    description:
      "Omitted fields do not change. A new address also applies to pending deliveries. New event types apply to events from now on.",
    params: EndpointIdParams,
    body: EndpointChangeSchema,
    responses: { 200: { description: "The endpoint after the change.", schema: EndpointSchema } },
    problems: ["forbidden", "not-found", "validation-failed"],
    bodyErrors: async ({ body }, { context }) =>
      changeErrors(body, context.config.webhookAllowPrivateNetworks),
    handle: async ({ caller, params, body, by }, { context }) => {
      const key = await changeableKey(context, caller, params);
      if (isProblem(key)) return key;
      const endpoint = await changeEndpoint(
        context,
        key,
        changedSettings(body),
        makerOf(context, caller),
        by,
      );
      if (endpoint === null) return missingEndpoint;
      return isProblem(endpoint) ? endpoint : { status: 200, body: await showEndpoint(context, endpoint) };
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/webhook-endpoints/{endpointId}",
    operationId: "deleteWebhookEndpoint",
    retry: "until-gone",
    tag,
    summary: "Delete a webhook endpoint",
    description:
      "Nothing more is sent to the endpoint. In the background its pending deliveries become `failed`. Its deliveries stay in the log.",
    params: EndpointIdParams,
    responses: { 204: { description: "The endpoint is deleted." } },
    problems: ["forbidden", "not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const key = await changeableKey(context, caller, params);
      if (isProblem(key)) return key;
      return (await deleteEndpoint(context, key, by)) ? { status: 204 } : missingEndpoint;
    },
  }),
  route({
    method: "POST",
    path: "/v1/webhook-endpoints/{endpointId}/rotate-secret",
    operationId: "rotateWebhookSecret",
    tag,
    summary: "Rotate the signing secret of a webhook endpoint",
    description:
      "During the overlap, every request is signed with the new secret and with the older ones, of which two are kept. A rotation never extends the time of an older secret.",
    params: EndpointIdParams,
    body: RotationSchema,
    responses: {
      200: {
        description: "The endpoint with its new secret, which is returned only here.",
        schema: RotatedEndpointSchema,
      },
    },
    problems: ["forbidden", "not-found", "validation-failed"],
    handle: async ({ caller, params, by, body: { overlapHours = OVERLAP_HOURS_DEFAULT } }, { context }) => {
      const key = await changeableKey(context, caller, params);
      if (isProblem(key)) return key;
      const rotated = await rotateSecret(context, key, overlapHours, makerOf(context, caller), by);
      if (rotated === null) return missingEndpoint;
      if (isProblem(rotated)) return rotated;
      const { endpoint, secret, previousExpiresAt } = rotated;
      const previousSecretExpiresAt = previousExpiresAt?.toISOString() ?? null;
      return {
        status: 200,
        body: { ...(await showEndpoint(context, endpoint)), secret, previousSecretExpiresAt },
      };
    },
  }),
  route({
    method: "POST",
    path: "/v1/webhook-endpoints/{endpointId}/ping",
    operationId: "pingWebhookEndpoint",
    tag,
    summary: "Send a test event to a webhook endpoint",
    description:
      "Sends a signed event of type `webhook.ping`, whatever types the endpoint receives. With a `type`, it sends a sample of that event: `testMode` is true, and its ids are the ids of nothing. The body may be omitted. The delivery log shows the event, the feed does not.",
    params: EndpointIdParams,
    body: PingSchema,
    responses: { 202: { description: "The delivery to be sent.", schema: DeliverySchema } },
    problems: ["not-found", "endpoint-paused", "validation-failed"],
    handle: async ({ caller, params, body: { type } }, { context }) => {
      const key = endpointKey(caller, params);
      return key === null ? missingEndpoint : pingResponse(context, key, sampleOf(context, key, type));
    },
  }),
  route({
    method: "POST",
    path: "/v1/webhook-endpoints/{endpointId}/resume",
    operationId: "resumeWebhookEndpoint",
    retry: "repeat",
    tag,
    summary: "Send what is pending now",
    description:
      "Activates a paused endpoint and sends its pending deliveries. Of an active endpoint, the backoff ends, and deliveries that wait for a retry are sent now. The work continues after the response. A body is ignored.",
    params: EndpointIdParams,
    responses: { 200: { description: "The active endpoint.", schema: ResumedEndpointSchema } },
    problems: ["forbidden", "not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const key = await changeableKey(context, caller, params);
      if (isProblem(key)) return key;
      const resumed = await resumeEndpoint(context, key, takerOf(context, caller), by);
      if (resumed === null) return missingEndpoint;
      if (isProblem(resumed)) return resumed;
      const { endpoint, deliveryCount, requestedAt } = resumed;
      const counted = { requestedAt: requestedAt.toISOString(), deliveryCount };
      return { status: 200, body: { ...(await showEndpoint(context, endpoint)), ...counted } };
    },
  }),
  route({
    method: "POST",
    path: "/v1/webhook-endpoints/{endpointId}/recover",
    operationId: "recoverDeliveries",
    retry: "repeat",
    tag,
    summary: "Send everything after an outage",
    description:
      "Does what `resume` does, and also sends every failed delivery of an event since then again. Each order's events are sent in their order. The work continues after the response.",
    params: EndpointIdParams,
    body: RecoveryRequestSchema,
    responses: { 202: { description: "What will be sent again.", schema: RecoverySchema } },
    problems: ["forbidden", "not-found", "validation-failed"],
    bodyErrors: async ({ body }, { context }) => sinceErrors(body, context.clock.now()),
    handle: async ({ caller, params, body, by }, { context }) => {
      const key = await changeableKey(context, caller, params);
      if (isProblem(key)) return key;
      return recoveryResponse(context, key, parseTime(body.since), takerOf(context, caller), by);
    },
  }),
];
