import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { eventRow } from "../../events/event.ts";
import { PING } from "../../events/event-types.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { isProblem, notFound, type Problem } from "../../platform/wire/problems.ts";
import { type EndpointKey, wireEndpointId } from "../endpoints/endpoint.ts";
import { endpointFact } from "../endpoints/endpoint-fact.ts";
import { shareEndpoint } from "../endpoints/endpoints-sql.ts";
import { insertEvents } from "../publishing/events-sql.ts";
import { endBackoff, insertPingDelivery } from "./manual-sql.ts";

export const ENDPOINT_PAUSED: Problem = {
  code: "endpoint-paused",
  detail: "The webhook endpoint is paused. Resume it first.",
};

/** An event that shows the form of its type. */
type Sample = {
  readonly type: string;
  readonly sequence: number | null;
  readonly data: Readonly<Record<string, unknown>>;
};

/**
 * Sends a test event to one endpoint, regardless of its event types. Returns the id of the delivery. With a sample, the
 * event has its content; it is stored as a ping, so the feed does not show it (decision 0097).
 * @param by who requests it, for the audit log. Null for a partner, whose pings leave no entry (decision 0070)
 */
export async function pingEndpoint(
  context: Context,
  { merchantId, connectionId, id }: EndpointKey,
  sample: Sample | null = null,
  by: Initiator | null = null,
): Promise<{ deliveryId: string } | Problem> {
  const { clock, newId } = context;
  const key = { merchantId, connectionId };
  const sent = await inTransaction(context, async (tx) => {
    const endpoint = await shareEndpoint(tx, key, id);
    if (endpoint === null) return notFound("webhook endpoint");
    if (endpoint.status === "paused") return ENDPOINT_PAUSED;
    const now = clock.now();
    const { type, sequence, data } = sample ?? {
      type: PING,
      sequence: null,
      data: { endpoint: { id: wireEndpointId(id), url: endpoint.url } },
    };
    const event = eventRow({
      ...key,
      id: newId(),
      type,
      occurredAt: now,
      testMode: sample !== null,
      orderId: null,
      sequence,
      notAfter: null,
      data,
    });
    await insertEvents(tx, [{ ...event, type: PING, sequence: null }], now);
    await endBackoff(tx, key, id);
    if (by !== null) await recordAudit(tx, context, by, endpointFact(endpoint, { type }));
    return { deliveryId: await insertPingDelivery(tx, endpoint, event, now) };
  });
  if (!isProblem(sent)) context.signals.send("deliveries_due", [key]);
  return sent;
}
