import { Type } from "typebox";
import type { RouteResponse } from "../http/route.ts";
import { fromTypeId } from "../platform/ids.ts";
import { pagePosition, toPage, UUID_MAX } from "../platform/wire/cursor.ts";
import { isProblem, notFound, type Problem } from "../platform/wire/problems.ts";
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
import { type BackOfficeRoute, route } from "./access.ts";
import { ENDPOINT_OWNERS, onOwner } from "./endpoint-owners.ts";
import { ConnectionIdParams } from "./lookups.ts";

const tag = "Deliveries";
const ResendParams = Type.Object({
  ...ConnectionIdParams.properties,
  resendId: Type.String({ description: "Id of the resend." }),
});
const missing = notFound("resend");

/** Many deliveries are sent once more, with progress. See docs/design/deliveries.md, "Sending again". */
export const resendRoutes: readonly BackOfficeRoute[] = ENDPOINT_OWNERS.flatMap((owner) => [
  route({
    method: "POST",
    path: `${owner.path}/resends`,
    operationId: owner.operation("createResend"),
    admits: owner.admits,
    tag,
    summary: "Send many deliveries once more",
    description:
      "Chosen deliveries, or those of a period. Each is sent once more, in no certain order, and is not retried. The work continues after the response; the resend shows its progress. Every request creates a new resend; up to 10 may be unfinished.",
    params: owner.params,
    body: ResendRequestSchema,
    responses: { 202: { description: "The resend.", schema: ResendSchema } },
    problems: ["not-found", "limit-reached", "validation-failed"],
    bodyErrors: async ({ body }, { context }) => resendErrors(body, context.clock.now()),
    handle: ({ caller, params, body, by }, { context, bulk }) =>
      onOwner(context, caller, owner, params.id, async (key): Promise<RouteResponse | Problem> => {
        return bulk.run("runningResends", caller, key.merchantId, async (context) => {
          const scope = await scopeOf(context.db, key, body, context.clock.now());
          if (isProblem(scope)) return scope;
          const resend = await createResend(context, key, scope, by);
          return isProblem(resend) ? resend : { status: 202, body: toWireResend(resend) };
        });
      }),
  }),
  route({
    method: "GET",
    path: `${owner.path}/resends`,
    operationId: owner.operation("listResends"),
    admits: owner.admits,
    tag,
    summary: `List the resends of a ${owner.kind}`,
    description:
      "Newest first, with the recoveries and resumes of endpoints. They are kept for 90 days, of an endpoint the last recovery and the last resume.",
    params: owner.params,
    query: Type.Object({ limit: limitField, cursor: cursorField }),
    responses: { 200: { description: "A page of resends.", schema: pageOf(ResendSchema, "ResendPage") } },
    problems: ["not-found", "validation-failed"],
    handle: ({ caller, params, query }, { context }) =>
      onOwner(context, caller, owner, params.id, async (key): Promise<RouteResponse | Problem> => {
        const position = pagePosition("resends", query, UUID_MAX);
        if (isProblem(position)) return position;
        const resends = await listResends(context.db, key, position);
        return { status: 200, body: toPage(resends, position, toWireResend) };
      }),
  }),
  route({
    method: "GET",
    path: `${owner.path}/resends/{resendId}`,
    operationId: owner.operation("getResend"),
    admits: owner.admits,
    tag,
    summary: "Get a resend",
    description: "How far it is, and what became of the deliveries.",
    params: ResendParams,
    responses: { 200: { description: "The resend.", schema: ResendSchema } },
    problems: ["not-found"],
    handle: ({ caller, params }, { context }) =>
      onOwner(context, caller, owner, params.id, async (key): Promise<RouteResponse | Problem> => {
        const id = fromTypeId("rsd", params.resendId);
        const resend = id === null ? null : await readResend(context.db, key, id);
        return resend === null ? missing : { status: 200, body: toWireResend(resend) };
      }),
  }),
  route({
    method: "POST",
    path: `${owner.path}/resends/{resendId}/cancel`,
    operationId: owner.operation("cancelResend"),
    admits: owner.admits,
    tag,
    summary: "Cancel a resend",
    description:
      "No further delivery is sent. Those that are due already are sent. A finished or canceled resend is returned unchanged, and so is one with `inOrder`.",
    params: ResendParams,
    responses: { 200: { description: "The resend.", schema: ResendSchema } },
    problems: ["not-found"],
    handle: ({ caller, params, by }, { context }) =>
      onOwner(context, caller, owner, params.id, async (key): Promise<RouteResponse | Problem> => {
        const id = fromTypeId("rsd", params.resendId);
        const resend = id === null ? null : await cancelResend(context, key, id, by);
        return resend === null ? missing : { status: 200, body: toWireResend(resend) };
      }),
  }),
]);
