import { createHash, createSecretKey, type KeyObject } from "node:crypto";
import { toTypeId } from "../../platform/ids.ts";
import { after, before, HOUR_MS, SECOND_MS } from "../../platform/time.ts";
import { described, enumeration } from "../../platform/wire/schemas.ts";
import { type SignedHeaders, signedHeaders } from "../delivery/exchange.ts";

/** What can go wrong with a delivery, as a partner can ask for it (docs/design/deliveries.md, "Rehearsed faults"). */
const DELIVERY_FAULTS = {
  "wrong-signature": "The first attempt is signed with a key that no endpoint has. The second one is right.",
  "previous-secret": "The first attempt is signed with the previous secret alone, as during a rotation.",
  "stale-timestamp": "The first attempt is rightly signed an hour ago. The second one is right.",
  "cut-body":
    "The connection of the first attempt is closed in the middle of the body. The second one is right.",
  "unknown-type":
    "The first attempt sends another event, of a type that does not exist. The second one sends the event.",
  "unknown-field": "The first attempt sends the event with fields that are not described.",
  "largest-body": "The first attempt sends the event in a body of 1 MiB. No body is larger.",
  duplicate: "The event is sent again as soon as it has been accepted.",
  "two-at-once": "The first attempt sends the event twice at the same time.",
  dropped: "The first `attempts` attempts are not sent.",
  delayed: "The event, and those that follow it, wait for `seconds`.",
  reordered:
    "The event waits until the next one of the order has been delivered, or for `seconds` if there is none.",
  outage: "The events of the order wait until `seconds` after the request, and are then sent in a burst.",
} as const;
export type FaultName = keyof typeof DELIVERY_FAULTS;

// All names, because the record has them as keys.
export const FAULT_NAMES = Object.keys(DELIVERY_FAULTS) as FaultName[];

export const DeliveryFaultNameSchema = enumeration(
  "DeliveryFaultName",
  FAULT_NAMES,
  `What a delivery rehearses. More values may be added. ${described(DELIVERY_FAULTS)}`,
);

/** The fault of a delivery, as it is stored. */
export type DeliveryFault = {
  readonly fault: FaultName;
  /** Of `dropped`. */
  readonly attempts?: number;
  /** Of those that hold deliveries back: nothing is sent before this time. */
  readonly until?: string;
};

/** A delivery whose next attempt is decided about. */
type Rehearsing = {
  readonly fault: DeliveryFault | null;
  /** Attempts of the schedule that have failed, or that have rehearsed a fault. */
  readonly attemptCount: number;
};

/** What the next attempt rehearses. The number of the attempt decides, so a worker that has ended leaves nothing behind. */
export function faultOfAttempt({ fault, attemptCount }: Rehearsing): FaultName | null {
  return fault !== null && attemptCount < rehearsedAttempts(fault) ? fault.fault : null;
}

function rehearsedAttempts({ fault, attempts = 1 }: DeliveryFault): number {
  return fault === "dropped" ? attempts : fault === "duplicate" ? 2 : 1;
}

/** Until when the delivery is held back. Null: it is not. */
export function heldUntil({ fault }: Rehearsing, now: Date): Date | null {
  const until = fault?.until === undefined ? null : new Date(fault.until);
  return until !== null && until > now ? until : null;
}

/** The wait after an attempt that a receiver should have rejected, or has not got. */
const NEXT_AFTER_MS = SECOND_MS;

/** When the attempt is followed by another one, whatever the usual rules say. Null: they decide. */
export function followedAt(
  fault: FaultName,
  { attemptCount }: Rehearsing,
  isAccepted: boolean,
  now: Date,
): Date | null {
  switch (fault) {
    // A receiver that accepts one of these must get the event all the same.
    case "wrong-signature":
    case "stale-timestamp":
    case "unknown-type":
    case "cut-body":
    case "dropped":
      return after(now, NEXT_AFTER_MS);
    case "duplicate":
      return isAccepted && attemptCount === 0 ? now : null;
    case "previous-secret":
    case "unknown-field":
    case "largest-body":
    case "two-at-once":
    case "delayed":
    case "reordered":
    case "outage":
      return null;
    default:
      return fault satisfies never;
  }
}

/** The request of an attempt, as it is signed and sent. */
export type AttemptRequest = { readonly headers: SignedHeaders; readonly body: string | Buffer };

type RequestParts = {
  /** The id of the attempt. */
  readonly attemptId: string;
  /** The id of the event, as receivers know it. */
  readonly id: string;
  readonly timestamp: Date;
  readonly body: string | Buffer;
  /** Newest first. */
  readonly keys: readonly KeyObject[];
};

/**
 * What an attempt sends. The same parts make the same request, so that the log can show it: what is made up for a fault follows
 * from the id of the attempt.
 */
export function attemptRequest(fault: FaultName | null, parts: RequestParts): AttemptRequest {
  const { attemptId, keys } = parts;
  switch (fault) {
    case "wrong-signature":
      return signed({ ...parts, keys: keys.map((_, index) => madeUpKey(attemptId, index)) });
    case "previous-secret":
      return signed({ ...parts, keys: keys.length < 2 ? keys : keys.slice(1, 2) });
    case "stale-timestamp":
      return signed({ ...parts, timestamp: before(parts.timestamp, HOUR_MS) });
    case "unknown-type": {
      const id = toTypeId("evt", attemptId);
      return signed({ ...parts, id, body: changed(parts.body, { id, type: UNKNOWN_TYPE }) });
    }
    case "unknown-field":
      return signed({ ...parts, body: changed(parts.body, { fieldOfTomorrow: [UNKNOWN_FIELD] }) });
    case "largest-body":
      return signed({ ...parts, body: padded(parts.body) });
    default:
      return signed(parts);
  }
}

const UNKNOWN_TYPE = "order.rehearsedUnknownType";
const UNKNOWN_FIELD = { text: "A field that was added later. Receivers ignore it." };

/** No event is larger: 200 lines in as many shipments, each with the longest address of its tracking, are half of it. */
export const BODY_MAX_BYTES = 1_048_576;

const signed = ({ id, timestamp, body, keys }: RequestParts): AttemptRequest => ({
  headers: signedHeaders({ id, timestamp, body, keys }),
  body,
});

const madeUpKey = (attemptId: string, index: number): KeyObject =>
  createSecretKey(createHash("sha256").update(`wrong-signature ${index} ${attemptId}`).digest());

/** The body of an event with other members, and with further ones at its end. */
const changed = (body: string | Buffer, members: object): string =>
  JSON.stringify({ ...JSON.parse(body.toString()), ...members });

function padded(body: string | Buffer): string {
  const bytes = Buffer.byteLength(changed(body, { padding: "" }));
  return changed(body, { padding: "x".repeat(Math.max(0, BODY_MAX_BYTES - bytes)) });
}

/** A fault that is armed for an order, or that an event of it has. */
export type ArmedFault = {
  readonly id: string;
  readonly fault: FaultName;
  /** Null: all test endpoints. */
  readonly endpointId: string | null;
  /** Null: events of any type. */
  readonly eventType: string | null;
  /** Of `dropped`, else null. */
  readonly attempts: number | null;
  /** Of those that hold deliveries back, else null. */
  readonly seconds: number | null;
  readonly createdAt: Date;
  /** The event that has it. Null while there is none. */
  readonly eventId: string | null;
};

/** Whether a new delivery gets a fault. An outage is for all events until it ends, any other fault for one. */
export function isFor(
  { fault, endpointId, eventType, seconds, createdAt, eventId }: ArmedFault,
  delivery: { readonly endpointId: string; readonly eventType: string },
  now: Date,
): boolean {
  if (endpointId !== null && endpointId !== delivery.endpointId) return false;
  if (eventType !== null && eventType !== delivery.eventType) return false;
  return fault === "outage" ? now < after(createdAt, (seconds ?? 0) * SECOND_MS) : eventId === null;
}

/** A fault as a delivery of an event that happens now has it. */
export function faultOfDelivery(
  { fault, attempts, seconds, createdAt }: ArmedFault,
  now: Date,
): DeliveryFault {
  const from = fault === "outage" ? createdAt : now;
  return {
    fault,
    ...(attempts !== null && { attempts }),
    ...(seconds !== null && { until: after(from, seconds * SECOND_MS).toISOString() }),
  };
}
