import { type Static, Type } from "typebox";

import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { fromTypeId } from "../../platform/ids.ts";
import { parseTime } from "../../platform/time.ts";
import { type Problem, type ValidationError, validationFailed } from "../../platform/wire/problems.ts";
import { dateTime, describedAs } from "../../platform/wire/schemas.ts";
import { SentTypeSchema } from "../endpoints/endpoint.ts";
import { sinceErrors } from "../endpoints/endpoint-request.ts";
import { readEndpoint } from "../endpoints/endpoints-sql.ts";
import { DeliveryStatusSchema } from "../log/delivery.ts";
import { RESEND_DELIVERIES_MAX, type ResendScope } from "./resend.ts";
import { listKnownDeliveries } from "./resend-batch-sql.ts";

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
    additionalProperties: false, // A filter with another name would send all of the period (decision 0190).
  },
);
type ResendRequest = Static<typeof ResendRequestSchema>;

/** The errors of a request that its schema cannot find. */
export function resendErrors(body: unknown, now: Date): ValidationError[] {
  const sent = (body ?? {}) as Readonly<Record<string, unknown>>; // The body may have any form; a missing member is undefined.
  if ((sent["deliveryIds"] === undefined) === (sent["since"] === undefined))
    return [{ pointer: "/deliveryIds", detail: "either this or since is required, not both" }];
  if (sent["deliveryIds"] !== undefined)
    return ["until", "endpointId", "eventType", "status"]
      .filter((name) => sent[name] !== undefined)
      .map((name) => ({ pointer: `/${name}`, detail: "must be absent with deliveryIds" }));
  const { since, until } = sent;
  const isEmpty =
    typeof since === "string" && typeof until === "string" && parseTime(until) <= parseTime(since);
  return [
    ...sinceErrors(body, now),
    ...(isEmpty ? [{ pointer: "/until", detail: "must be after since" }] : []),
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
    return validationFailed([
      { pointer: "/endpointId", detail: "is not a webhook endpoint of the connection" },
    ]);
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
      : [{ pointer: `/deliveryIds/${index}`, detail: "is not a delivery of the connection" }],
  );
  if (errors.length > 0) return validationFailed(errors);
  const deliveryIds = [...known].sort();
  return { deliveryIds, since: null, until: null, endpointId: null, eventType: null, status: null };
}
