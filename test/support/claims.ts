import type { ConnectionKey } from "../../src/platform/connection-key.ts";
import type { ClaimedDelivery, LeasedEndpoint } from "../../src/webhooks/delivery/claimed-delivery.ts";

/** A connection of the tests, by its id. */
export const aConnection = (connectionId = "connection"): ConnectionKey => ({
  merchantId: "merchant",
  connectionId,
});

export const NOW = new Date("2026-03-02T09:00:00Z");

/** A claim of an order's first event, due by the schedule. */
export const aClaim = (fields: Partial<ClaimedDelivery> = {}): ClaimedDelivery => ({
  ...aConnection(),
  endpointId: "endpoint",
  streamId: "order",
  ownStreamId: "order",
  deliveryId: "delivery",
  eventId: "event",
  claimId: "claim",
  trigger: "schedule",
  attemptCount: 0,
  notAfter: null,
  leasedUntil: new Date(NOW.getTime() + 60_000),
  fault: null,
  event: { wireId: "evt_1", happenedAt: new Date(NOW.getTime() - 25), body: Buffer.from("{}") },
  ...fields,
});

export const claims = (count: number): ClaimedDelivery[] =>
  Array.from({ length: count }, (_, index) => aClaim({ deliveryId: `delivery ${index}` }));

/** An endpoint that has never failed. */
export const anEndpoint = (fields: Partial<LeasedEndpoint> = {}): LeasedEndpoint => ({
  ...aConnection(),
  id: "endpoint",
  leasedAt: NOW,
  leasedUntil: new Date(NOW.getTime() + 15_000),
  url: "https://partner.example/hooks",
  inFlightMax: 8,
  sealedHeaders: null,
  sealedSecrets: ["sealed"],
  provenHost: null,
  health: {
    consecutiveFailures: 0,
    failingSince: null,
    lastFailureAt: null,
    lastError: null,
    lastSuccessAt: NOW,
    succeededAt: NOW,
    backoffUntil: null,
    warningsSent: 0,
  },
  ...fields,
});
