import type { EndpointHealth } from "../health/endpoint-health.ts";

/** Why a delivery is sent: by the schedule, because a partner asked for this one, or for all that failed. */
export type Cause = "schedule" | "manual" | "recovery";

/** A delivery that this worker has claimed. Nobody else sends it before the lease runs out. */
export type ClaimedDelivery = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly endpointId: string;
  readonly streamId: string;
  /** The stream that the delivery belongs to: another one when it is sent by hand. */
  readonly ownStreamId: string;
  readonly deliveryId: string;
  readonly claimId: string;
  readonly trigger: Cause;
  /** Tries of the schedule that have failed so far. */
  readonly attemptCount: number;
  /** Nothing is sent from this moment on: the erasure of a test order. */
  readonly notAfter: Date | null;
  readonly leasedUntil: Date;
  /** Null when it is older than the retention time. */
  readonly event: SendableEvent | null;
};

/** What is sent of an event, made ready once for however many endpoints. */
export type SendableEvent = {
  /** The id that receivers know it by. */
  readonly wireId: string;
  readonly happenedAt: Date;
  /** The exact bytes to send. */
  readonly body: Buffer;
};

/** An endpoint that this worker has to itself until the lease runs out. */
export type LeasedEndpoint = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly id: string;
  readonly url: string;
  readonly inFlightMax: number;
  /** Encrypted, newest first. */
  readonly sealedSecrets: readonly string[];
  readonly health: EndpointHealth;
};

/** What came of a claim. */
export type Completion = {
  readonly delivery: ClaimedDelivery;
  /** Null when nothing was sent. */
  readonly attempt: {
    readonly startedAt: Date;
    readonly durationMs: number;
    readonly responseStatus: number | null;
    readonly responseBody: string | null;
    readonly error: string | null;
  } | null;
  readonly verdict: Verdict;
};

export type Verdict =
  | { readonly is: "succeeded" }
  /** Given up. */
  | { readonly is: "failed" }
  /** Tried in vain; again at `at`. */
  | { readonly is: "retry"; readonly at: Date }
  /** Not tried at all: back into its stream as it was. */
  | { readonly is: "returned" };
