import { type Static, Type } from "typebox";
import type { Context } from "../../../platform/context.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { idField } from "../../../platform/wire/schemas.ts";
import { type Endpoint, EndpointSchema } from "../../../webhooks/endpoints/endpoint.ts";
import { HealthStatusSchema, healthStatusOf } from "../../../webhooks/endpoints/endpoint-status.ts";
import { urlWithoutQuery } from "../../../webhooks/endpoints/url-without-query.ts";
import { showEndpoints } from "../../../webhooks/health/show-endpoint.ts";

export const BackOfficeEndpointSchema = Type.Object(
  {
    ...EndpointSchema.properties,
    url: Type.String({
      description: "Address that events are sent to, without its query, where partners put secrets.",
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

/** Reads the health of endpoints. Returns a function that shows them to the back office. */
export async function showToBackOffice(
  context: Context,
  endpoints: readonly Endpoint[],
): Promise<(endpoint: Endpoint) => Static<typeof BackOfficeEndpointSchema>> {
  const show = await showEndpoints(context, endpoints);
  return (endpoint) => {
    const shown = show(endpoint);
    return {
      ...shown,
      url: urlWithoutQuery(endpoint.url),
      merchantId: toTypeId("mer", endpoint.merchantId),
      connectionId: toTypeId("con", endpoint.connectionId),
      health: healthStatusOf(shown),
    };
  };
}
