import { Type } from "typebox";
import { connectionScope, scopeWithin } from "../../../access/scope.ts";
import { keyOf } from "../../../merchants/connection.ts";
import { parseTime } from "../../../platform/time.ts";
import { pagePosition, toPage } from "../../../platform/wire/cursor.ts";
import { isProblem, notFound, validationFailed } from "../../../platform/wire/problems.ts";
import { cursorField, describedAs, limitField, pageOf } from "../../../platform/wire/schemas.ts";
import { listAllEndpoints } from "../../../webhooks/endpoints/all-endpoints-sql.ts";
import { EndpointModeSchema } from "../../../webhooks/endpoints/endpoint.ts";
import {
  PingSchema,
  RecoveryRequestSchema,
  sinceErrors,
} from "../../../webhooks/endpoints/endpoint-request.ts";
import { HEALTH_FILTERS } from "../../../webhooks/endpoints/endpoint-status.ts";
import { listEndpoints, readEndpoint } from "../../../webhooks/endpoints/endpoints-sql.ts";
import { pauseByRequest } from "../../../webhooks/health/pause-by-request.ts";
import { DeliverySchema } from "../../../webhooks/log/delivery.ts";
import { resumeEndpoint } from "../../../webhooks/resend/recover.ts";
import { idErrors, idIn } from "../../http/id-parameters.ts";
import { pingResponse, RecoverySchema, recoveryResponse } from "../../webhook-endpoints.ts";
import { andMonitoring, andPartner, type BackOfficeRoute, merchantSide, route } from "../access.ts";
import { ConnectionIdParams, findConnection } from "../lookups.ts";
import { BackOfficeEndpointSchema, showToBackOffice } from "./endpoint-wire.ts";
import { EndpointParams, onEndpoint, shownEndpoint } from "./on-endpoint.ts";

const tag = "Webhook endpoints";
const ofPartners = andPartner(merchantSide);

const PageSchema = pageOf(BackOfficeEndpointSchema, "BackOfficeWebhookEndpointPage");

/** The webhook endpoints of partners, for those who support them. Decision 0099. */
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
    admits: ofPartners,
    tag,
    summary: "Resume a paused webhook endpoint",
    description:
      "Activates the endpoint and sends its pending deliveries. An active endpoint is returned unchanged.",
    params: EndpointParams,
    responses: { 200: { description: "The active endpoint.", schema: BackOfficeEndpointSchema } },
    problems: ["not-found"],
    handle: ({ caller, params, by }, { context }) =>
      onEndpoint(context, caller, params, async (key) =>
        shownEndpoint(context, caller, await resumeEndpoint(context, key, by)),
      ),
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/webhook-endpoints/{endpointId}/recover",
    operationId: "recoverDeliveries",
    admits: ofPartners,
    tag,
    summary: "Replay failed deliveries",
    description:
      "Sends every failed delivery of an event since then again, and resumes a paused endpoint. The work continues after the response.",
    params: EndpointParams,
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
