import { Type } from "typebox";
import type { RouteResponse } from "../http/route.ts";
import { KeyModeSchema } from "../merchants/api-key.ts";
import { readConnection } from "../merchants/connections-sql.ts";
import type { Config } from "../platform/config.ts";
import type { Queryable } from "../platform/database/database.ts";
import { toTypeId } from "../platform/ids.ts";
import { dateTime, idField, nullable, nullableTime } from "../platform/wire/schemas.ts";
import type { PartnerCaller } from "./authentication.ts";
import { type PartnerRoute, route } from "./partner-route.ts";

/** See docs/design/api-conventions.md, "The connection's own page". */
const MeSchema = Type.Object(
  {
    id: idField("con", "Id of the connection."),
    name: Type.String({ description: "Name of the connection, given by the merchant." }),
    merchant: Type.Object(
      {
        id: idField("mer", "Id of the merchant."),
        name: Type.String({ description: "Name of the merchant." }),
      },
      { description: "The merchant that the connection belongs to." },
    ),
    key: Type.Object(
      {
        id: idField("key", "Id of the key."),
        mode: KeyModeSchema,
        prefix: Type.String({ description: "First characters of the key. They show its mode." }),
        createdAt: dateTime("When the key was issued."),
        expiresAt: nullableTime("When the key expires. Null if it does not expire."),
      },
      { description: "The key that the request was sent with." },
    ),
    liveAgents: Type.Boolean({
      description:
        "Whether agents may use live keys of the connection over `POST /v1/mcp`. The merchant decides; otherwise they may use test keys alone.",
    }),
    createdAt: dateTime("When the connection was created."),
  },
  { title: "Me", description: "The connection that a key belongs to." },
);

/** GET /v1/me. Specification, part 4. */
async function readMe(db: Queryable, caller: PartnerCaller): Promise<RouteResponse> {
  const connection = await readConnection(db, caller);
  const { key } = caller;
  if (connection === null) throw new Error("A key's connection is missing.");
  return {
    status: 200,
    body: {
      id: toTypeId("con", connection.id),
      name: connection.name,
      merchant: { id: toTypeId("mer", connection.merchantId), name: connection.merchantName },
      key: {
        id: toTypeId("key", key.id),
        mode: key.mode,
        prefix: key.prefix,
        createdAt: key.createdAt.toISOString(),
        expiresAt: key.expiresAt?.toISOString() ?? null,
      },
      liveAgents: connection.liveAgents,
      createdAt: connection.createdAt.toISOString(),
    },
  };
}

const networksField = (description: string) =>
  nullable(Type.Array(Type.String({ examples: ["203.0.113.0/24"] })), description);

const WebhookSourcesSchema = Type.Object(
  {
    addresses: networksField(
      "Networks that webhooks come from, IPv4 and IPv6, each with its number of bits. Null if the operator has not named any: then verify signatures alone.",
    ),
    nextChangeAt: nullableTime("When they change. Null if no change is planned."),
    nextAddresses: networksField("The networks from then on. Null if no change is planned."),
  },
  { title: "WebhookSources", description: "Where webhooks come from." },
);

/** From the time of the change on, the next addresses are the present ones. */
function webhookSources({ webhookSources, webhookSourcesNext: next }: Config, now: Date) {
  const isChanged = next !== null && next.at <= now;
  const planned = isChanged ? null : next;
  return {
    addresses: isChanged ? next.addresses : webhookSources,
    nextChangeAt: planned?.at.toISOString() ?? null,
    nextAddresses: planned?.addresses ?? null,
  };
}

export const meRoutes: readonly PartnerRoute[] = [
  route({
    method: "GET",
    path: "/v1/me",
    operationId: "getMe",
    tag: "Connection",
    summary: "Get the connection of the key",
    responses: { 200: { description: "The connection.", schema: MeSchema } },
    problems: [],
    handle: ({ caller }, { context }) => readMe(context.db, caller),
  }),
  route({
    method: "GET",
    path: "/v1/webhook-sources",
    operationId: "getWebhookSources",
    tag: "Webhook endpoints",
    summary: "Get the addresses that webhooks come from",
    description:
      "For a firewall in front of a receiver. Read it daily, and allow the next addresses from the day on which they are announced. An address proves nothing: verify the signature.",
    responses: { 200: { description: "The addresses.", schema: WebhookSourcesSchema } },
    problems: [],
    handle: async (_input, { context: { config, clock } }) => ({
      status: 200,
      body: webhookSources(config, clock.now()),
    }),
  }),
];

const OpenApiSchema = Type.Object(
  {
    openapi: Type.String({ description: "Version of the OpenAPI specification.", examples: ["3.1.0"] }),
    info: Type.Object(
      {
        title: Type.String({ description: "Name of the API.", examples: ["Partner Orders"] }),
        version: Type.String({ description: "Version of the service.", examples: ["0.1.0"] }),
      },
      { title: "OpenApiInfo", description: "Name and version. It has further members." },
    ),
  },
  { title: "OpenApiDocument", description: "An OpenAPI document. It has further members." },
);

/** See docs/design/signing.md, "Public addresses only". */
export const referenceRoutes: readonly PartnerRoute[] = [
  route({
    method: "GET",
    path: "/v1/openapi.json",
    operationId: "getOpenApi",
    tag: "Reference",
    summary: "Get this document",
    description:
      "Every route of the partner API, every event, and their fields, as an OpenAPI 3.1 document with the address of this deployment.",
    responses: { 200: { description: "The document.", schema: OpenApiSchema } },
    problems: [],
    handle: async (_input, { description }) => ({ status: 200, json: description() }),
  }),
];
