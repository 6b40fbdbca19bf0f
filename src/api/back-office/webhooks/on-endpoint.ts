import { type Static, Type } from "typebox";
import { keyOf } from "../../../merchants/connection.ts";
import type { Context } from "../../../platform/context.ts";
import { fromTypeId } from "../../../platform/ids.ts";
import { notFound, type Problem } from "../../../platform/wire/problems.ts";
import type { Endpoint, EndpointKey } from "../../../webhooks/endpoints/endpoint.ts";
import type { RouteResponse } from "../../http/route.ts";
import { EndpointIdParams, missingEndpoint } from "../../webhook-endpoints.ts";
import type { BackOfficeCaller } from "../access.ts";
import { ConnectionIdParams, findConnection } from "../lookups.ts";
import { showToBackOffice } from "./endpoint-wire.ts";

export const EndpointParams = Type.Object({
  ...ConnectionIdParams.properties,
  ...EndpointIdParams.properties,
});

/** Calls with the key of the endpoint that a request names, if the caller may see its connection. */
export async function onEndpoint(
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
export async function shownEndpoint(
  context: Context,
  caller: BackOfficeCaller,
  endpoint: Endpoint | null,
  others: object = {},
): Promise<RouteResponse | Problem> {
  if (endpoint === null) return missingEndpoint;
  const show = await showToBackOffice(context, caller, [endpoint]);
  return { status: 200, body: { ...show(endpoint), ...others } };
}
