import { toTypeId } from "../../../platform/ids.ts";
import { failSpan, isTracing, traced } from "../../../platform/telemetry/tracing.ts";
import { attemptErrorCode } from "../../log/attempt-error.ts";
import type { ClaimedDelivery, Completion } from "../claimed-delivery.ts";
import type { UrlParts } from "./send-delivery.ts";

/**
 * A client span for an attempt, if traces are exported. It has the host of the endpoint, but no path: partners put secrets
 * into it. The request carries no trace context: it is of no use to a partner (decision 0106).
 */
export function tracedAttempt(
  delivery: ClaimedDelivery,
  { hostname, port, protocol }: UrlParts,
  send: () => Promise<Completion>,
): Promise<Completion> {
  if (!isTracing()) return send();
  const attributes = {
    "http.request.method": "POST",
    "server.address": hostname,
    "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
    "http.request.resend_count": delivery.attemptCount,
    "partner_orders.connection.id": toTypeId("con", delivery.connectionId),
    "partner_orders.endpoint.id": toTypeId("whe", delivery.endpointId),
    "partner_orders.event.id": toTypeId("evt", delivery.eventId),
    "partner_orders.delivery.id": toTypeId("dlv", delivery.deliveryId),
    "partner_orders.delivery.trigger": delivery.trigger,
  };
  return traced({ name: "POST webhook", kind: "client", attributes, parent: null }, async (span) => {
    const completion = await send();
    const { attempt, outcome } = completion;
    span?.setAttribute("partner_orders.delivery.outcome", outcome.is);
    if (attempt?.responseStatus) span?.setAttribute("http.response.status_code", attempt.responseStatus);
    if (span !== null && attempt !== null && attempt.error !== null)
      failSpan(span, attemptErrorCode(attempt.error));
    return completion;
  });
}
