import { Type } from "typebox";
import { keyOf } from "../merchants/connection.ts";
import { fromTypeId } from "../platform/ids.ts";
import { pagePosition, toPage, UUID_MAX } from "../platform/wire/cursor.ts";
import { isProblem, notFound } from "../platform/wire/problems.ts";
import { cursorField, limitField, pageOf } from "../platform/wire/schemas.ts";
import {
  cancelResend,
  createResend,
  ResendRequestSchema,
  resendErrors,
  scopeOf,
} from "../webhooks/resend/create-resend.ts";
import { ResendSchema, toWireResend } from "../webhooks/resend/resend.ts";
import { listResends, readResend } from "../webhooks/resend/resends-sql.ts";
import { andPartner, type BackOfficeRoute, merchantSide, route } from "./access.ts";
import { ConnectionIdParams, findConnection } from "./lookups.ts";

const tag = "Deliveries";
const admits = andPartner(merchantSide);
const ResendParams = Type.Object({
  ...ConnectionIdParams.properties,
  resendId: Type.String({ description: "Id of the resend." }),
});
const missing = notFound("resend");

/** Many deliveries are sent once more, with progress. See docs/design/deliveries.md, "Sending again". */
export const resendRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "POST",
    path: "/api/connections/{id}/resends",
    operationId: "createResend",
    admits,
    tag,
    summary: "Send many deliveries once more",
    description:
      "Chosen deliveries, or those of a period. Each is sent once more, in no certain order, and is not retried. The work continues after the response; the resend shows its progress. Every request creates a new resend; up to 10 of a connection may be unfinished.",
    params: ConnectionIdParams,
    body: ResendRequestSchema,
    responses: { 202: { description: "The resend.", schema: ResendSchema } },
    problems: ["not-found", "limit-reached", "validation-failed"],
    bodyErrors: async ({ body }, { context }) => resendErrors(body, context.clock.now()),
    handle: async ({ caller, params, body, by }, { context, bulk }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const key = keyOf(connection);
      return bulk.run("runningResends", caller, key.merchantId, async (context) => {
        const scope = await scopeOf(context.db, key, body, context.clock.now());
        if (isProblem(scope)) return scope;
        const resend = await createResend(context, key, scope, by);
        return isProblem(resend) ? resend : { status: 202, body: toWireResend(resend) };
      });
    },
  }),
  route({
    method: "GET",
    path: "/api/connections/{id}/resends",
    operationId: "listResends",
    admits,
    tag,
    summary: "List a connection's resends",
    description:
      "Newest first, with the recoveries and resumes of endpoints. They are kept for 90 days, of an endpoint the last recovery and the last resume.",
    params: ConnectionIdParams,
    query: Type.Object({ limit: limitField, cursor: cursorField }),
    responses: { 200: { description: "A page of resends.", schema: pageOf(ResendSchema, "ResendPage") } },
    problems: ["not-found", "validation-failed"],
    handle: async ({ caller, params, query }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const position = pagePosition("resends", query, UUID_MAX);
      if (isProblem(position)) return position;
      const resends = await listResends(context.db, keyOf(connection), position);
      return { status: 200, body: toPage(resends, position, toWireResend) };
    },
  }),
  route({
    method: "GET",
    path: "/api/connections/{id}/resends/{resendId}",
    operationId: "getResend",
    admits,
    tag,
    summary: "Get a resend",
    description: "How far it is, and what became of the deliveries.",
    params: ResendParams,
    responses: { 200: { description: "The resend.", schema: ResendSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const id = fromTypeId("rsd", params.resendId);
      const resend = id === null ? null : await readResend(context.db, keyOf(connection), id);
      return resend === null ? missing : { status: 200, body: toWireResend(resend) };
    },
  }),
  route({
    method: "POST",
    path: "/api/connections/{id}/resends/{resendId}/cancel",
    operationId: "cancelResend",
    admits,
    tag,
    summary: "Cancel a resend",
    description:
      "No further delivery is sent. Those that are due already are sent. A finished or canceled resend is returned unchanged, and so is one with `inOrder`.",
    params: ResendParams,
    responses: { 200: { description: "The resend.", schema: ResendSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params, by }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      if (connection === null) return notFound("connection");
      const id = fromTypeId("rsd", params.resendId);
      const resend = id === null ? null : await cancelResend(context, keyOf(connection), id, by);
      return resend === null ? missing : { status: 200, body: toWireResend(resend) };
    },
  }),
];
