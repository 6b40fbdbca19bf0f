import { type Static, Type } from "typebox";
import type { Initiator } from "../audit/initiator.ts";
import type { EventType } from "../events/event-types.ts";
import { fullAccess, type KeyAccess } from "../merchants/key-mode.ts";
import { sampleEvent } from "../orders/sample-event.ts";
import type { Context } from "../platform/context.ts";
import { isProblem, notFound, type Problem } from "../platform/wire/problems.ts";
import { dateTime, nullable } from "../platform/wire/schemas.ts";
import { type EndpointKey, wireEndpointId } from "../webhooks/endpoints/endpoint.ts";
import { countFailed } from "../webhooks/health/show-endpoint.ts";
import { readWireDelivery } from "../webhooks/log/delivery-log.ts";
import { pingEndpoint } from "../webhooks/manual/ping-endpoint.ts";
import { recoverEndpoint } from "../webhooks/resend/recover.ts";
import type { RouteResponse } from "./http/route.ts";

// Partners and the back office operate the same endpoints. Only the way to find one differs.

export const EndpointIdParams = Type.Object({
  endpointId: Type.String({ description: "Id of the endpoint." }),
});

export const RecoverySchema = Type.Object(
  {
    endpointId: Type.String({ description: "Id of the endpoint." }),
    since: dateTime("Failed deliveries of events from this time on are sent again."),
    until: dateTime(
      "Only deliveries of events from before this time are sent again: a minute after the request, for events that were being stored.",
    ),
    deliveryCount: nullable(
      Type.Integer({ minimum: 0 }),
      "Failed deliveries in this period, which will be sent again. Null if the endpoint has more than 5,000 deliveries in this period.",
    ),
  },
  { title: "Recovery", description: "Which failed deliveries the service sends again." },
);

export const missingEndpoint = notFound("webhook endpoint");

/** Returns 202 and the period of which failed deliveries will be sent again. */
export async function recoveryResponse(
  context: Context,
  key: EndpointKey,
  since: Date,
  by: Initiator,
): Promise<RouteResponse | Problem> {
  const recovery = await recoverEndpoint(context, key, since, by);
  if (recovery === null) return missingEndpoint;
  const body: Static<typeof RecoverySchema> = {
    endpointId: wireEndpointId(key.id),
    since: recovery.since.toISOString(),
    until: recovery.until.toISOString(),
    deliveryCount: await countFailed(context, key, recovery.since),
  };
  return { status: 202, body };
}

/**
 * Returns 202 and the delivery of a ping, or of a sample of a type.
 * @param by who requests it, if the audit log should say so
 */
export async function pingResponse(
  context: Context,
  key: EndpointKey,
  type: EventType | undefined,
  by: Initiator | null = null,
): Promise<RouteResponse | Problem> {
  const { clock, config, newId } = context;
  const now = clock.now();
  const lifetimeMs = config.testOrderLifetimeMs;
  const sample = type === undefined ? null : sampleEvent(type, { connection: key, newId, now, lifetimeMs });
  const sent = await pingEndpoint(context, key, sample, by);
  if (isProblem(sent)) return sent;
  const access: KeyAccess = fullAccess(key);
  const delivery = await readWireDelivery(context.db, access, sent.deliveryId, clock.now());
  return delivery === null ? missingEndpoint : { status: 202, body: delivery };
}
