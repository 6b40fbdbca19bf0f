import { type Static, Type } from "typebox";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { momentOf, toTypeId } from "../../platform/ids.ts";
import { MINUTE_MS } from "../../platform/time.ts";
import {
  dateTime,
  describedAs,
  enumeration,
  idField,
  nullable,
  nullableTime,
} from "../../platform/wire/schemas.ts";
import { wireEndpointId } from "../endpoints/endpoint.ts";
import { type DeliveryStatus, DeliveryStatusSchema } from "../log/delivery.ts";
import { toWireOwner } from "../owner.ts";

export const RESEND_DELIVERIES_MAX = 100;
/** Resends of a connection that are not finished. */
export const OPEN_RESENDS_MAX = 10;

const SKIP_REASONS = [
  "delivery_erased",
  "endpoint_deleted",
  "endpoint_paused",
  "event_expired",
  "limit_reached",
  "not_sent",
] as const;
/** Why a delivery was not sent once more. */
export type SkipReason = (typeof SKIP_REASONS)[number];
export type Skipped = Readonly<Partial<Record<SkipReason, number>>>;

/** Which deliveries are sent once more: chosen ones, or those of a period that fit. */
export type ResendScope = {
  readonly deliveryIds: readonly string[] | null;
  readonly since: Date | null;
  readonly until: Date | null;
  readonly endpointId: string | null;
  readonly eventType: string | null;
  readonly status: DeliveryStatus | null;
};

/** A request to send deliveries again, and how far it is (docs/design/deliveries.md, "Sending again"). */
export type Resend = ConnectionKey &
  ResendScope & {
    readonly id: string;
    /**
     * Whether the deliveries go back to their streams, where they keep their order and are retried: after an outage or a pause
     * of an endpoint. Otherwise each is sent once, and waits for no other.
     */
    readonly isInOrder: boolean;
    /** Deliveries that fitted at the request. Null: too many to count. */
    readonly total: number | null;
    /** The delivery up to which the log has been read. */
    readonly position: string;
    /** Deliveries that were made due, and whose outcome is not counted yet. Empty for a resend that keeps the order. */
    readonly sending: readonly string[];
    /** True if the log has been read, of a resume for the first time. */
    readonly isRead: boolean;
    readonly succeededCount: number;
    readonly failedCount: number;
    /** Deliveries that were returned to their streams. 0 for a resend that keeps no order. */
    readonly returnedCount: number;
    readonly skipped: Skipped;
    readonly createdAt: Date;
    readonly canceledAt: Date | null;
    readonly finishedAt: Date | null;
  };

/** A recovery of what failed at an endpoint, or of what is pending since before a pause. A check of the table holds it. */
export type OrderedResend = Resend & {
  readonly isInOrder: true;
  readonly endpointId: string;
  readonly since: Date;
  readonly until: Date;
  readonly status: "failed" | "pending";
};

export const keepsOrder = (resend: Resend): resend is OrderedResend => resend.isInOrder;

/**
 * The period of a resend that keeps the order ends this long after the request, because clocks differ, and for deliveries of
 * transactions that have not committed yet.
 */
export const COMMIT_ALLOWANCE_MS = MINUTE_MS;

export const skippedCount = (skipped: Skipped): number =>
  Object.values(skipped).reduce((sum, number) => sum + number, 0);

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const ResendSchema = Type.Object(
  {
    id: idField("rsd", "Id of the resend, set by the service."),
    merchantId: nullable(Type.String(), "Id of the merchant. Null for a facility."),
    connectionId: nullable(Type.String(), "Id of the connection. Null for a merchant and a facility."),
    facilityId: nullable(Type.String(), "Id of the facility. Null for all others."),
    status: enumeration(
      "ResendStatus",
      ["running", "finished", "canceled"],
      "`running`: deliveries are read, or outcomes are missing. `finished`: every outcome is counted. `canceled`: no further delivery is sent; those that were due already are still counted.",
    ),
    inOrder: Type.Boolean({
      description:
        "True for a recovery or a resume of an endpoint: deliveries return to their orders, which are sent in order and with retries. Such a resend cannot be canceled, and a further request becomes part of it. False: each delivery is sent once, alone.",
    }),
    since: nullableTime("Deliveries of events from this time on. Null for chosen deliveries."),
    until: nullableTime("Deliveries of events before this time. Null for chosen deliveries."),
    endpointId: nullable(Type.String(), "Only deliveries to this endpoint. Null: to all."),
    eventType: nullable(Type.String(), "Only deliveries of events of this type. Null: of all."),
    deliveryStatus: nullable(
      describedAs(DeliveryStatusSchema, "A status of deliveries."),
      "Only deliveries that have this status when the service reads them. Null: with any.",
    ),
    total: nullable(
      Type.Integer({ minimum: 0 }),
      "Deliveries that fitted at the request, or at the requests that became one. Null if there were more than 5,000 deliveries in the period.",
    ),
    readUntil: nullableTime(
      "The service has read the deliveries of events up to this time. Null before the first of them, and for chosen deliveries.",
    ),
    sendingCount: count("Deliveries that are due or being sent now. 0 if `inOrder`."),
    succeededCount: count(
      "Deliveries that were sent once more, and that the endpoint has accepted. 0 if `inOrder`.",
    ),
    failedCount: count("Deliveries that were sent once more without success. 0 if `inOrder`."),
    returnedCount: count(
      "If `inOrder`: deliveries that have returned to their orders. The delivery log shows their outcomes.",
    ),
    skippedCount: count("Deliveries that were not sent."),
    skipped: Type.Array(
      Type.Object(
        {
          reason: enumeration(
            "ResendSkipReason",
            SKIP_REASONS,
            "`delivery_erased`: its test order was erased. `endpoint_deleted`, `endpoint_paused`: the state of its endpoint. `event_expired`: the event is no longer kept. `limit_reached`: it was sent as often as the limits of the connection allow. `not_sent`: it was due, and its endpoint was paused or deleted before it was sent; of a recovery, its event is no longer kept, or it was sent as often as the limits of the connection allow.",
          ),
          count: count("How many."),
        },
        { title: "ResendSkip", description: "How many deliveries were not sent for a reason." },
      ),
      { description: "Why deliveries were not sent." },
    ),
    createdAt: dateTime("When the resend was requested."),
    finishedAt: nullableTime("When the last outcome was counted. Null before that."),
  },
  { title: "Resend", description: "A request to send deliveries once more, and how far it is." },
);

export function toWireResend(resend: Resend): Static<typeof ResendSchema> {
  const { since, until, endpointId, skipped } = resend;
  const reasons = SKIP_REASONS.flatMap((reason) => {
    const number = skipped[reason] ?? 0;
    return number === 0 ? [] : [{ reason, count: number }];
  });
  const readUntil = since === null || until === null ? null : readTime(resend, since, until);
  return {
    id: toTypeId("rsd", resend.id),
    ...toWireOwner(resend),
    status: statusOf(resend),
    inOrder: resend.isInOrder,
    since: since?.toISOString() ?? null,
    until: until?.toISOString() ?? null,
    endpointId: endpointId === null ? null : wireEndpointId(endpointId),
    eventType: resend.eventType,
    deliveryStatus: resend.status,
    total: resend.total,
    readUntil: readUntil?.toISOString() ?? null,
    sendingCount: resend.sending.length,
    succeededCount: resend.succeededCount,
    failedCount: resend.failedCount,
    returnedCount: resend.returnedCount,
    skippedCount: skippedCount(skipped),
    skipped: reasons,
    createdAt: resend.createdAt.toISOString(),
    finishedAt: resend.finishedAt?.toISOString() ?? null,
  };
}

function statusOf({ canceledAt, finishedAt }: Resend): "running" | "finished" | "canceled" {
  if (canceledAt !== null) return "canceled";
  return finishedAt === null ? "running" : "finished";
}

/** Null before the first delivery: the position is then that of the beginning. */
function readTime({ isRead, position }: Resend, since: Date, until: Date): Date | null {
  if (isRead) return until;
  const read = momentOf(position);
  return read <= since ? null : read;
}
