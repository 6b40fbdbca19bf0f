import { eventRow } from "../../events/event.ts";
import { PING } from "../../events/event-types.ts";
import { insertEvents } from "../../events/events-sql.ts";
import { isProblem, notFound, type Problem } from "../../http/problems.ts";
import { inOneStep, type Service } from "../../service.ts";
import { endHold, insertPingDelivery } from "../log/send-by-hand-sql.ts";
import { type Endpoint, wireEndpointId } from "./endpoint.ts";
import { holdEndpoint } from "./endpoints-sql.ts";

export const ENDPOINT_PAUSED: Problem = {
  problem: "endpoint-paused",
  detail: "The webhook endpoint is paused; resume it first.",
};

/** Sends a test event to one endpoint, whatever types it names; answers the id of the delivery. */
export async function pingEndpoint(
  service: Service,
  { connectionId, id }: Pick<Endpoint, "connectionId" | "id">,
): Promise<{ deliveryId: string } | Problem> {
  const { clock, newId } = service;
  const sent = await inOneStep(service, async (tx) => {
    const endpoint = await holdEndpoint(tx, connectionId, id);
    if (endpoint === null) return notFound("webhook endpoint");
    if (endpoint.status === "paused") return ENDPOINT_PAUSED;
    const now = clock.now();
    const event = eventRow({
      connectionId,
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
    await endHold(tx, connectionId, id);
    return { deliveryId: await insertPingDelivery(tx, endpoint, event, now) };
  });
  if (!isProblem(sent)) service.wakeDispatchers([connectionId]);
  return sent;
}
