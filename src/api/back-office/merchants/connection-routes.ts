import { type Static, Type } from "typebox";
import { connectionScope } from "../../../access/scope.ts";
import { changeConnection } from "../../../merchants/change-connection.ts";
import { type Connection, keyOf } from "../../../merchants/connection.ts";
import { listAllConnections, listConnections } from "../../../merchants/connections-sql.ts";
import { createConnection } from "../../../merchants/create-connection.ts";
import type { Context } from "../../../platform/context.ts";
import { toTypeId } from "../../../platform/ids.ts";
import { pagePosition, toPage } from "../../../platform/wire/cursor.ts";
import { forbidden, isProblem, notFound, validationFailed } from "../../../platform/wire/problems.ts";
import {
  cursorField,
  dateTime,
  idField,
  limitField,
  nullable,
  pageOf,
  searchField,
  shortText,
  toSearched,
} from "../../../platform/wire/schemas.ts";
import { idErrors, idIn } from "../../http/id-parameters.ts";
import {
  andMonitoring,
  andPartner,
  type BackOfficeCaller,
  type BackOfficeRoute,
  everyone,
  hasRole,
  merchantSide,
  route,
  seesAsPartner,
} from "../access.ts";
import { ConnectionIdParams, findConnection, findMerchant, MerchantIdParams } from "../lookups.ts";
import { LimitsRequestSchema, LimitsSchema, toWireLimits } from "./limit-schemas.ts";
import {
  policyErrors,
  ReviewPolicyRequestSchema,
  ReviewPolicySchema,
  ReviewPolicyUpdateSchema,
  toPolicy,
  toWirePolicy,
} from "./review-policy-wire.ts";

const NAME_TEXT = "Name of the connection, such as the partner's name.";
const nameField = shortText(NAME_TEXT);

const ConnectionSchema = Type.Object(
  {
    id: idField("con", "Id of the connection, set by the service."),
    merchantId: idField("mer", "Id of the merchant."),
    merchantName: Type.String({ description: "Name of the merchant." }),
    name: Type.String({ description: NAME_TEXT }),
    reviewPolicy: nullable(
      ReviewPolicySchema,
      "Which orders need no review. Null for the role `partner`: it is the merchant's business.",
    ),
    limits: LimitsSchema,
    apiUrl: Type.String({
      description:
        "Address of the partner API, where the connection's keys are used. The operator configures it.",
      examples: ["https://orders.example"],
    }),
    createdAt: dateTime("When the connection was created."),
  },
  {
    title: "Connection",
    description: "The access of a partner to products of a merchant. The merchant changes it.",
  },
);

function toWireConnection(
  { config }: Context,
  caller: BackOfficeCaller,
  connection: Connection,
): Static<typeof ConnectionSchema> {
  return {
    id: toTypeId("con", connection.id),
    merchantId: toTypeId("mer", connection.merchantId),
    merchantName: connection.merchantName,
    name: connection.name,
    reviewPolicy: seesAsPartner(caller, keyOf(connection)) ? null : toWirePolicy(connection),
    limits: toWireLimits(connection.limits),
    apiUrl: config.baseUrl,
    createdAt: connection.createdAt.toISOString(),
  };
}

const ConnectionChangeSchema = Type.Object(
  {
    name: Type.Optional(nameField),
    reviewPolicy: Type.Optional(ReviewPolicyUpdateSchema),
    limits: Type.Optional(LimitsRequestSchema),
  },
  { title: "ConnectionUpdate", description: "Changes of a connection. Absent fields keep their values." },
);

export const connectionRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/merchants/{id}/connections",
    operationId: "createConnection",
    admits: merchantSide,
    tag: "Connections",
    summary: "Create a connection",
    params: MerchantIdParams,
    body: Type.Object(
      { name: nameField, reviewPolicy: Type.Optional(ReviewPolicyRequestSchema) },
      { title: "ConnectionRequest", description: "A new connection." },
    ),
    responses: { 201: { description: "The connection was created.", schema: ConnectionSchema } },
    problems: ["not-found", "validation-failed"],
    bodyErrors: async ({ caller, params, body }, { context }) =>
      policyErrors(body, await findMerchant(context, caller, params.id)),
    handle: async ({ caller, params, body, by }, { context }) => {
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      const fields = { name: body.name, reviewPolicy: toPolicy(body.reviewPolicy) };
      const connection = await createConnection(context, merchant, fields, by);
      return { status: 201, body: toWireConnection(context, caller, connection) };
    },
  }),
  route({
    method: "GET",
    path: "/api/merchants/{id}/connections",
    operationId: "listConnections",
    admits: andMonitoring(everyone),
    tag: "Connections",
    summary: "List a merchant's connections",
    params: MerchantIdParams,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      q: searchField("A part of the name. Case is ignored."),
    }),
    responses: {
      200: { description: "A page, oldest first.", schema: pageOf(ConnectionSchema, "ConnectionPage") },
    },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const position = pagePosition("connections", query);
      if (isProblem(position)) return position;
      const merchant = await findMerchant(context, caller, params.id);
      if (merchant === null) return notFound("merchant");
      const connections = await listConnections(context.db, merchant.id, toSearched(query.q), position);
      return {
        status: 200,
        body: toPage(connections, position, (one) => toWireConnection(context, caller, one)),
      };
    },
  }),
  route({
    method: "GET",
    path: "/api/connections",
    operationId: "listAllConnections",
    admits: andMonitoring(andPartner(everyone)),
    tag: "Connections",
    summary: "List the connections of all merchants",
    description: "All that the caller may see. If a filter matches nothing, the list is empty.",
    isList: true,
    query: Type.Object({
      limit: limitField,
      cursor: cursorField,
      merchantId: Type.Optional(Type.String({ description: "Only connections of this merchant." })),
      q: searchField("A part of the name. Case is ignored."),
    }),
    responses: {
      200: { description: "A page, oldest first.", schema: pageOf(ConnectionSchema, "ConnectionPage") },
    },
    problems: ["validation-failed"],
    handle: async ({ caller, query }, { context }) => {
      const position = pagePosition("all-connections", query);
      if (isProblem(position)) return position;
      const errors = idErrors("mer", "merchantId", query);
      if (errors.length > 0) return validationFailed(errors);
      const filter = {
        scope: connectionScope(caller.grants),
        merchantId: idIn("mer", query.merchantId),
        name: toSearched(query.q),
      };
      const connections = await listAllConnections(context.db, filter, position);
      return {
        status: 200,
        body: toPage(connections, position, (one) => toWireConnection(context, caller, one)),
      };
    },
  }),
  route({
    method: "GET",
    path: "/api/connections/{id}",
    operationId: "getConnection",
    admits: andMonitoring(andPartner(everyone)),
    tag: "Connections",
    summary: "Get a connection",
    params: ConnectionIdParams,
    responses: { 200: { description: "The connection.", schema: ConnectionSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      return connection === null
        ? notFound("connection")
        : { status: 200, body: toWireConnection(context, caller, connection) };
    },
  }),
  route({
    method: "PATCH",
    path: "/api/connections/{id}",
    operationId: "updateConnection",
    admits: merchantSide,
    tag: "Connections",
    summary: "Update a connection",
    description:
      "A new review policy replaces the old one entirely. Existing orders keep their status. Only the operator changes limits.",
    params: ConnectionIdParams,
    body: ConnectionChangeSchema,
    responses: { 200: { description: "The changed connection.", schema: ConnectionSchema } },
    problems: ["forbidden", "not-found", "version-changed", "validation-failed"],
    bodyErrors: async ({ caller, params, body }, { context }) =>
      policyErrors(body, await findConnection(context, caller, params.id)),
    handle: async ({ caller, params, by, body: { reviewPolicy, ...fields } }, { context }) => {
      if (fields.limits !== undefined && !hasRole(caller, "operator")) return forbidden;
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const { expectedVersion } = reviewPolicy ?? {};
      const policy = reviewPolicy && { reviewPolicy: toPolicy(reviewPolicy), expectedVersion };
      const changed = await changeConnection(context, keyOf(connection), { ...fields, ...policy }, by);
      if (changed === null) return notFound("connection");
      return isProblem(changed) ? changed : { status: 200, body: toWireConnection(context, caller, changed) };
    },
  }),
];
