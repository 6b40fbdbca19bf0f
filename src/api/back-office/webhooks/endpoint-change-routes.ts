import { keyOf } from "../../../merchants/connection.ts";
import { isProblem, notFound } from "../../../platform/wire/problems.ts";
import { changeEndpoint } from "../../../webhooks/endpoints/change-endpoint.ts";
import { createEndpoint } from "../../../webhooks/endpoints/create-endpoint.ts";
import { deleteEndpoint } from "../../../webhooks/endpoints/delete-endpoint.ts";
import {
  changedSettings,
  EndpointChangeSchema,
  EndpointRequestSchema,
  newSettings,
  RotationSchema,
  urlErrors,
} from "../../../webhooks/endpoints/endpoint-request.ts";
import { OVERLAP_HOURS_DEFAULT, rotateSecret } from "../../../webhooks/secrets/rotate-secret.ts";
import { missingEndpoint } from "../../webhook-endpoints.ts";
import { andPartner, type BackOfficeRoute, merchantSide, route } from "../access.ts";
import { ConnectionIdParams, findConnection } from "../lookups.ts";
import {
  BackOfficeEndpointSchema,
  EndpointWithSecretSchema,
  RotatedEndpointSchema,
} from "./endpoint-wire.ts";
import { EndpointParams, onEndpoint, shownEndpoint } from "./on-endpoint.ts";

const tag = "Webhook endpoints";
const admits = andPartner(merchantSide);

/** What partners do with their endpoints by their key, for people. Decision 0141. */
export const endpointChangeRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/connections/{id}/webhook-endpoints",
    operationId: "createWebhookEndpoint",
    needsRecentAuthentication: true,
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
    problems: ["not-found", "limit-reached", "validation-failed"],
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
      "Omitted fields do not change: leave out `url` to keep the query of the address, which is not shown. A new address also applies to pending deliveries. New event types apply to events from now on.",
    params: EndpointParams,
    body: EndpointChangeSchema,
    responses: { 200: { description: "The endpoint after the change.", schema: BackOfficeEndpointSchema } },
    problems: ["not-found", "validation-failed"],
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
