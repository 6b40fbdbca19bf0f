import { type Static, Type } from "typebox";
import { type Initiator, recordAudit } from "../../audit/record-audit.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { fromTypeId, uuidAt } from "../../platform/ids.ts";
import { parseTime } from "../../platform/time.ts";
import { ROWS_READ_MAX, UUID_MIN } from "../../platform/wire/cursor.ts";
import { type Problem, type ValidationError, validationFailed } from "../../platform/wire/problems.ts";
import { dateTime, describedAs } from "../../platform/wire/schemas.ts";
import { SentTypeSchema, wireEndpointId } from "../endpoints/endpoint.ts";
import { sinceErrors } from "../endpoints/endpoint-request.ts";
import { readEndpoint } from "../endpoints/endpoints-sql.ts";
import { lockOwner } from "../endpoints/owners-sql.ts";
import { DeliveryStatusSchema } from "../log/delivery.ts";
import { factOfOwner } from "../owner.ts";
import { OPEN_RESENDS_MAX, RESEND_DELIVERIES_MAX, type Resend, type ResendScope } from "./resend.ts";
import {
  countOpenResends,
  insertResend,
  listKnownDeliveries,
  markResendCanceled,
  readPeriod,
  readResend,
} from "./resends-sql.ts";

/**
 * Requests that deliveries are sent once more. A worker does it. The owner is locked, so that concurrent requests cannot
 * exceed the limit of open resends.
 */
export async function createResend(
  context: Context,
  { merchantId, connectionId }: ConnectionKey,
  scope: ResendScope,
  by: Initiator,
): Promise<Resend | Problem> {
  const key = { merchantId, connectionId };
  return inTransaction(context, async (tx) => {
    await lockOwner(tx, key);
    if ((await countOpenResends(tx, key, OPEN_RESENDS_MAX)) >= OPEN_RESENDS_MAX) return TOO_MANY;
    const resend: Resend = {
      ...key,
      ...scope,
      id: context.newId(),
      isInOrder: false,
      total: scope.deliveryIds?.length ?? (await countFitting(tx, { ...key, ...scope })),
      position: startOf(scope),
      sending: [],
      isRead: false,
      succeededCount: 0,
      failedCount: 0,
      returnedCount: 0,
      skipped: {},
      createdAt: context.clock.now(),
      canceledAt: null,
      finishedAt: null,
    };
    await insertResend(tx, resend);
    await recordAudit(tx, context, by, factOf(resend));
    return resend;
  });
}

/** Cancels a resend. Nothing further is made due. A finished or canceled one, and one in order, is returned unchanged. */
export async function cancelResend(
  context: Context,
  connection: ConnectionKey,
  id: string,
  by: Initiator,
): Promise<Resend | null> {
  return inTransaction(context, async (tx) => {
    const canceled = await markResendCanceled(tx, connection, id, context.clock.now());
    if (canceled === null) return readResend(tx, connection, id);
    await recordAudit(tx, context, by, factOf(canceled));
    return canceled;
  });
}

const TOO_MANY: Problem = {
  code: "limit-reached",
  detail: `The maximum of ${OPEN_RESENDS_MAX} resends at a time is reached. Wait until one of them is finished, or cancel one.`,
  members: { limit: "openResends", maximum: OPEN_RESENDS_MAX },
};

const startOf = ({ since }: Pick<ResendScope, "since">): string =>
  since === null ? UUID_MIN : uuidAt(since);

/** Reads a limited part of the log. Null if the period has more. */
async function countFitting(tx: Queryable, scope: ConnectionKey & ResendScope): Promise<number | null> {
  const { until } = scope;
  if (until === null) return null;
  const from = { ...scope, position: startOf(scope) };
  const read = await readPeriod(tx, from, uuidAt(until), ROWS_READ_MAX + 1);
  return read.length > ROWS_READ_MAX ? null : read.filter(({ fits }) => fits).length;
}

function factOf(resend: Resend) {
  const { id, deliveryIds, since, until, endpointId, eventType, status } = resend;
  const details = {
    ...(deliveryIds !== null && { deliveries: deliveryIds.length }),
    ...(since !== null && { since, until }),
    ...(endpointId !== null && { endpointId: wireEndpointId(endpointId) }),
    ...(eventType !== null && { eventType }),
    ...(status !== null && { deliveryStatus: status }),
  };
  return factOfOwner(resend, { subject: "rsd", ids: [id], details });
}

export const ResendRequestSchema = Type.Object(
  {
    deliveryIds: Type.Optional(
      Type.Array(Type.String({ maxLength: 255, format: "text", description: "Id of a delivery." }), {
        minItems: 1,
        maxItems: RESEND_DELIVERIES_MAX,
        description: "The deliveries, whatever their status. Either this or `since` is required.",
      }),
    ),
    since: Type.Optional(
      dateTime("Deliveries of events from this time on, at most 30 days ago. Either this or `deliveryIds`."),
    ),
    until: Type.Optional(
      dateTime("With `since`: deliveries of events before this time. Default: the time of the request."),
    ),
    endpointId: Type.Optional(
      Type.String({
        maxLength: 255,
        format: "text",
        description: "With `since`: only deliveries to this endpoint. Default: to all.",
      }),
    ),
    eventType: Type.Optional(
      describedAs(SentTypeSchema, "With `since`: only deliveries of events of this type. Default: of all."),
    ),
    status: Type.Optional(
      describedAs(
        DeliveryStatusSchema,
        "With `since`: only deliveries that have this status when the service reads them. Default: `failed`.",
      ),
    ),
  },
  {
    title: "ResendRequest",
    description:
      "Which deliveries to send once more: chosen ones, or those of a period. Unknown fields are rejected.",
    // A filter with another name would send all of the period (docs/design/api-conventions.md, "Unknown fields").
    additionalProperties: false,
  },
);
type ResendRequest = Static<typeof ResendRequestSchema>;

/** The errors of a request that its schema cannot find. */
export function resendErrors(body: unknown, now: Date): ValidationError[] {
  const sent = (body ?? {}) as Readonly<Record<string, unknown>>; // The body may have any form; a missing member is undefined.
  if ((sent["deliveryIds"] === undefined) === (sent["since"] === undefined))
    return [{ pointer: "/deliveryIds", rule: "either", field: "since" }];
  if (sent["deliveryIds"] !== undefined)
    return ["until", "endpointId", "eventType", "status"]
      .filter((name) => sent[name] !== undefined)
      .map((name) => ({ pointer: `/${name}`, rule: "not_combinable" as const, field: "deliveryIds" }));
  const { since, until } = sent;
  const isEmpty =
    typeof since === "string" && typeof until === "string" && parseTime(until) <= parseTime(since);
  return [
    ...sinceErrors(body, now),
    ...(isEmpty ? [{ pointer: "/until", rule: "after" as const, field: "since" }] : []),
  ];
}

/** What a valid request is about. A delivery or endpoint of another connection is reported as a missing one. */
export async function scopeOf(
  db: Queryable,
  connection: ConnectionKey,
  { deliveryIds, since, until, endpointId, eventType, status }: ResendRequest,
  now: Date,
): Promise<ResendScope | Problem> {
  if (deliveryIds !== undefined) return selectionOf(db, connection, deliveryIds);
  const endpoint = endpointId === undefined ? null : fromTypeId("whe", endpointId);
  const isKnown = endpoint !== null && (await readEndpoint(db, connection, endpoint)) !== null;
  if (endpointId !== undefined && !isKnown)
    return validationFailed([{ pointer: "/endpointId", rule: "not_found", kind: "webhook_endpoint" }]);
  const end = until === undefined ? now : parseTime(until);
  return {
    deliveryIds: null,
    since: since === undefined ? now : parseTime(since),
    until: end < now ? end : now,
    endpointId: endpoint,
    eventType: eventType ?? null,
    status: status ?? "failed",
  };
}

async function selectionOf(
  db: Queryable,
  connection: ConnectionKey,
  texts: readonly string[],
): Promise<ResendScope | Problem> {
  const ids = texts.map((text) => fromTypeId("dlv", text));
  const known = new Set(
    await listKnownDeliveries(
      db,
      connection,
      ids.flatMap((id) => id ?? []),
    ),
  );
  const errors = ids.flatMap((id, index) =>
    id !== null && known.has(id)
      ? []
      : [{ pointer: `/deliveryIds/${index}`, rule: "not_found" as const, kind: "delivery" as const }],
  );
  if (errors.length > 0) return validationFailed(errors);
  const deliveryIds = [...known].sort();
  return { deliveryIds, since: null, until: null, endpointId: null, eventType: null, status: null };
}
