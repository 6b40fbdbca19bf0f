import { type Static, Type } from "typebox";
import { keyOf } from "../../../merchants/connection.ts";
import type { Context } from "../../../platform/context.ts";
import { fromTypeId } from "../../../platform/ids.ts";
import { parseTime } from "../../../platform/time.ts";
import { pagePosition, toPage } from "../../../platform/wire/cursor.ts";
import { isProblem, notFound, type Problem, validationFailed } from "../../../platform/wire/problems.ts";
import { cursorField, describedAs, limitField, pageOf } from "../../../platform/wire/schemas.ts";
import { listAllEndpoints } from "../../../webhooks/endpoints/all-endpoints-sql.ts";
import { type Endpoint, type EndpointKey, EndpointModeSchema } from "../../../webhooks/endpoints/endpoint.ts";
import {
  PingSchema,
  RecoveryRequestSchema,
  sinceErrors,
} from "../../../webhooks/endpoints/endpoint-request.ts";
import { HEALTH_FILTERS } from "../../../webhooks/endpoints/endpoint-status.ts";
import { listEndpoints, readEndpoint } from "../../../webhooks/endpoints/endpoints-sql.ts";
import { pauseByRequest } from "../../../webhooks/health/pause-by-request.ts";
import { DeliverySchema } from "../../../webhooks/log/delivery.ts";
import { resumeEndpoint } from "../../../webhooks/recovery/resume-endpoint.ts";
import { idErrors, idIn } from "../../http/id-parameters.ts";
import type { RouteResponse } from "../../http/route.ts";
import {
  EndpointIdParams,
  missingEndpoint,
  pingResponse,
  RecoverySchema,
  recoveryResponse,
} from "../../webhook-endpoints.ts";
import {
  andMonitoring,
  type BackOfficeCaller,
  type BackOfficeRoute,
  merchantSide,
  route,
  shownMerchants,
} from "../access.ts";
import { ConnectionIdParams, findConnection } from "../lookups.ts";
import { BackOfficeEndpointSchema, showToBackOffice } from "./endpoint-wire.ts";

const tag = "Webhook endpoints";
const Params = Type.Object({ ...ConnectionIdParams.properties, ...EndpointIdParams.properties });
type Params = Static<typeof Params>;

const PageSchema = pageOf(BackOfficeEndpointSchema, "BackOfficeWebhookEndpointPage");

/** The webhook endpoints of partners, for those who support them. Decision 0099. */
export const endpointRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/webhook-endpoints",
    operationId: "listAllWebhookEndpoints",
    admits: andMonitoring(merchantSide),
    tag,
    summary: "List webhook endpoints of all connections",
    description:
      "Oldest first. If a filter matches nothing, the list is empty. A page may have fewer items than `limit`, or none, before the end of the list: continue until `nextCursor` is null.",
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
        merchantIds: shownMerchants(caller, idIn("mer", query.merchantId)),
        health: query.health ?? null,
        mode: query.mode ?? null,
      };
      const listed = await listAllEndpoints(context.db, filter, position, context.clock.now());
      const show = await showToBackOffice(context, listed.endpoints.slice(0, position.limit));
      return { status: 200, body: toPage(listed.endpoints, position, show, listed.readTo) };
    },
  }),
  route({
    method: "GET",
    path: "/api/connections/{id}/webhook-endpoints",
    operationId: "listWebhookEndpoints",
    admits: andMonitoring(merchantSide),
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
        body: toPage(endpoints, position, await showToBackOffice(context, endpoints)),
      };
    },
  }),
  route({
    method: "GET",
    path: "/api/connections/{id}/webhook-endpoints/{endpointId}",
    operationId: "getWebhookEndpoint",
    admits: andMonitoring(merchantSide),
    tag,
    summary: "Get a webhook endpoint",
    params: Params,
    responses: { 200: { description: "The endpoint.", schema: BackOfficeEndpointSchema } },
    problems: ["not-found"],
    handle: ({ caller, params }, { context }) =>
      onEndpoint(context, caller, params, async (key) =>
        shown(context, await readEndpoint(context.db, key, key.id)),
      ),
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/webhook-endpoints/{endpointId}/pause",
    operationId: "pauseWebhookEndpoint",
    admits: merchantSide,
    tag,
    summary: "Pause a webhook endpoint",
    description:
      "Nothing is sent until the endpoint is resumed, by the back office or by the partner. Its events stay in the log. Attempts in progress end. A paused endpoint is returned unchanged.",
    params: Params,
    responses: { 200: { description: "The paused endpoint.", schema: BackOfficeEndpointSchema } },
    problems: ["not-found"],
    handle: ({ caller, params, by }, { context }) =>
      onEndpoint(context, caller, params, async (key) =>
        shown(context, await pauseByRequest(context, key, by)),
      ),
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/webhook-endpoints/{endpointId}/resume",
    operationId: "resumeWebhookEndpoint",
    admits: merchantSide,
    tag,
    summary: "Resume a paused webhook endpoint",
    description:
      "Activates the endpoint and sends its pending deliveries. An active endpoint is returned unchanged.",
    params: Params,
    responses: { 200: { description: "The active endpoint.", schema: BackOfficeEndpointSchema } },
    problems: ["not-found"],
    handle: ({ caller, params, by }, { context }) =>
      onEndpoint(context, caller, params, async (key) =>
        shown(context, await resumeEndpoint(context, key, by)),
      ),
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/webhook-endpoints/{endpointId}/recover",
    operationId: "recoverDeliveries",
    admits: merchantSide,
    tag,
    summary: "Replay failed deliveries",
    description:
      "Sends every failed delivery of an event since then again, and resumes a paused endpoint. The work continues after the response.",
    params: Params,
    body: RecoveryRequestSchema,
    responses: { 202: { description: "The period that will be sent again.", schema: RecoverySchema } },
    problems: ["not-found", "validation-failed"],
    bodyErrors: async ({ body }, { context }) => sinceErrors(body, context.clock.now()),
    handle: ({ caller, params, body, by }, { context }) =>
      onEndpoint(context, caller, params, (key) => recoveryResponse(context, key, parseTime(body.since), by)),
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/webhook-endpoints/{endpointId}/ping",
    operationId: "pingWebhookEndpoint",
    admits: merchantSide,
    tag,
    summary: "Send a test event to a webhook endpoint",
    description:
      "Sends a signed event of type `webhook.ping` or, with a `type`, a sample of that event. The partner sees it in its delivery log.",
    params: Params,
    body: PingSchema,
    responses: { 202: { description: "The delivery to be sent.", schema: DeliverySchema } },
    problems: ["not-found", "endpoint-paused", "validation-failed"],
    handle: ({ caller, params, body, by }, { context }) =>
      onEndpoint(context, caller, params, (key) => pingResponse(context, key, body.type, by)),
  }),
];

/** Calls with the key of the endpoint that a request names, if the caller may see its connection. */
async function onEndpoint(
  context: Context,
  caller: BackOfficeCaller,
  params: Params,
  handle: (key: EndpointKey) => Promise<RouteResponse | Problem>,
): Promise<RouteResponse | Problem> {
  const connection = await findConnection(context, caller, params.id);
  if (connection === null) return notFound("connection");
  const id = fromTypeId("whe", params.endpointId);
  return id === null ? missingEndpoint : handle({ ...keyOf(connection), id });
}

async function shown(context: Context, endpoint: Endpoint | null): Promise<RouteResponse | Problem> {
  if (endpoint === null) return missingEndpoint;
  return { status: 200, body: (await showToBackOffice(context, [endpoint]))(endpoint) };
}
