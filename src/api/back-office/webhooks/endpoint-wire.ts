import { type Static, Type } from "typebox";
import type { Context } from "../../../platform/context.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { idField } from "../../../platform/wire/schemas.ts";
import {
  type Endpoint,
  EndpointSchema,
  RotatedEndpointSchema as PartnersRotatedEndpointSchema,
  EndpointWithSecretSchema as PartnersWithSecretSchema,
} from "../../../webhooks/endpoints/endpoint.ts";
import { HealthStatusSchema, healthStatusOf } from "../../../webhooks/endpoints/endpoint-status.ts";
import { urlWithoutQuery } from "../../../webhooks/endpoints/url-without-query.ts";
import { showEndpoints } from "../../../webhooks/health/show-endpoint.ts";
import { type BackOfficeCaller, roleOf } from "../access.ts";

export const BackOfficeEndpointSchema = Type.Object(
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

const withSecret = {
  ...BackOfficeEndpointSchema.properties,
  secret: PartnersWithSecretSchema.properties.secret,
};
export const EndpointWithSecretSchema = Type.Object(withSecret, {
  title: "BackOfficeWebhookEndpointWithSecret",
  description: "An endpoint with its new signing secret.",
});
export const RotatedEndpointSchema = Type.Object(
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
export async function showToBackOffice(
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
