import { eventRow } from "../../events/event.ts";
import { PING } from "../../events/event-types.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { isProblem, notFound, type Problem } from "../../platform/wire/problems.ts";
import { type EndpointKey, wireEndpointId } from "../endpoints/endpoint.ts";
import { shareEndpoint } from "../endpoints/endpoints-sql.ts";
import { insertEvents } from "../publishing/events-sql.ts";
import { endBackoff, insertPingDelivery } from "./manual-sql.ts";

export const ENDPOINT_PAUSED: Problem = {
  code: "endpoint-paused",
  detail: "The webhook endpoint is paused. Resume it first.",
};

/** Sends a test event to one endpoint, regardless of its event types. Returns the id of the delivery. */
export async function pingEndpoint(
  context: Context,
  { merchantId, connectionId, id }: EndpointKey,
): Promise<{ deliveryId: string } | Problem> {
  const { clock, newId } = context;
  const key = { merchantId, connectionId };
  const sent = await inTransaction(context, async (tx) => {
    const endpoint = await shareEndpoint(tx, key, id);
    if (endpoint === null) return notFound("webhook endpoint");
    if (endpoint.status === "paused") return ENDPOINT_PAUSED;
    const now = clock.now();
    const event = eventRow({
      ...key,
      id: newId(),
      type: PING,
      occurredAt: now,
      testMode: false,
      orderId: null,
      sequence: null,
      notAfter: null,
      data: { endpoint: { id: wireEndpointId(id), url: endpoint.url } },
    });
    await insertEvents(tx, [event], now);
    await endBackoff(tx, key, id);
    return { deliveryId: await insertPingDelivery(tx, endpoint, event, now) };
  });
  if (!isProblem(sent)) context.signals.send("deliveries_due", [key]);
  return sent;
}
