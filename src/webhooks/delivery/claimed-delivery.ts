import type { EndpointHealth } from "../endpoints/health.ts";
import type { DeliveryFault, FaultName } from "../faults/delivery-fault.ts";
import type { AttemptTrigger } from "../log/delivery.ts";

/** A delivery that this worker has claimed. No other worker sends it before the lease expires. */
export type ClaimedDelivery = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly endpointId: string;
  /** The stream in which it is due: for a manual redelivery, the delivery itself. */
  readonly streamId: string;
  /** The stream it belongs to: its order, or its event if that is not about an order. */
  readonly ownStreamId: string;
  readonly deliveryId: string;
  readonly eventId: string;
  /** Also the id of the attempt. */
  readonly claimId: string;
  readonly trigger: AttemptTrigger;
  /** Failed attempts of the schedule so far. */
  readonly attemptCount: number;
  /** From this time on nothing is sent: the erasure of a test order. */
  readonly notAfter: Date | null;
  readonly leasedUntil: Date;
  /** Null for nearly all, and outside of the schedule. */
  readonly fault: DeliveryFault | null;
  /** Null when the event is older than the retention time. */
  readonly event: SendableEvent | null;
};

/** The parts of an event that are sent, prepared once for any number of endpoints. */
export type SendableEvent = {
  /** The id that receivers know it by. */
  readonly wireId: string;
  readonly happenedAt: Date;
  /** The exact bytes to send. */
  readonly body: Buffer;
};

/** An endpoint to which only this worker sends until the lease expires, which the worker renews. */
export type LeasedEndpoint = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly id: string;
  readonly leasedAt: Date;
  readonly leasedUntil: Date;
  readonly url: string;
  readonly inFlightMax: number;
  /** Encrypted. Null if there are none. */
  readonly sealedHeaders: string | null;
  /** Encrypted, newest first. */
  readonly sealedSecrets: readonly string[];
  readonly health: EndpointHealth;
  /** The host that has returned 2xx to it, if any. See endpoint-host.ts. */
  readonly provenHost: string | null;
};

/** One request to an endpoint and how it ended. */
export type DeliveryAttempt = {
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  /** Null if it succeeded. */
  readonly error: string | null;
  /** What it has rehearsed. Then it is no evidence about the endpoint. */
  readonly fault: FaultName | null;
};

/** How a claim ended. */
export type Completion = {
  readonly delivery: ClaimedDelivery;
  /** Null when nothing was sent. */
  readonly attempt: DeliveryAttempt | null;
  readonly outcome: DeliveryOutcome;
};

export type DeliveryOutcome =
  | { readonly is: "succeeded" }
  /** No further attempt is planned. */
  | { readonly is: "failed" }
  /** The attempt failed, or has rehearsed a fault; the next one is due at `at`. */
  | { readonly is: "retry"; readonly at: Date }
  /** Nothing was sent, because a rehearsed fault holds the delivery back until `at`. */
  | { readonly is: "held"; readonly at: Date }
  /** The claim was released: the delivery is due again, and no attempt of the schedule is used up. */
  | { readonly is: "released" };

/** The outcome of a claim for which nothing was sent. */
export const releasedClaim = (delivery: ClaimedDelivery): Completion => ({
  delivery,
  attempt: null,
  outcome: { is: "released" },
});
