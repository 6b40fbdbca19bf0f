import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { EventRow } from "../events/event.ts";
import type { ArmedFault, DeliveryFault, FaultName } from "./delivery-fault.ts";

// Every statement is about one order, whose row the caller has locked.

/** The faults of an order, oldest first. */
export async function listFaults(
  db: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  orderId: string,
): Promise<ArmedFault[]> {
  return db.query<ArmedFault>({
    name: "list-delivery-faults",
    text: `
      select f.id, f.fault, f.endpoint_id as "endpointId", f.event_type as "eventType", f.attempts, f.seconds,
             f.created_at as "createdAt", f.event_id as "eventId"
      from delivery_faults f
      where f.merchant_id = $1 and f.connection_id = $2 and f.order_id = $3
      order by f.id`,
    values: [merchantId, connectionId, orderId],
  });
}

export async function insertFault(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  orderId: string,
  { id, fault, endpointId, eventType, attempts, seconds, createdAt }: ArmedFault,
): Promise<void> {
  await tx.query({
    name: "insert-delivery-fault",
    text: `
      insert into delivery_faults (
        merchant_id, connection_id, order_id, id, fault, endpoint_id, event_type, attempts, seconds, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      merchantId,
      connectionId,
      orderId,
      id,
      fault,
      endpointId,
      eventType,
      attempts,
      seconds,
      createdAt,
    ],
  });
}

/** A delivery of an event that was just published, to a test endpoint. */
export type NewDelivery = { readonly id: string; readonly endpointId: string; readonly sequence: number };

/** Of an event, those to test endpoints: no other endpoint gets a fault. */
export async function listEventDeliveries(
  tx: Queryable,
  { merchantId, connectionId, id }: EventRow,
  orderId: string,
): Promise<NewDelivery[]> {
  return tx.query<NewDelivery>({
    name: "list-event-deliveries",
    text: `
      select d.id, d.endpoint_id as "endpointId", d.sequence
      from deliveries d
      join webhook_endpoints w on w.merchant_id = $1 and w.id = d.endpoint_id
      where d.merchant_id = $1 and d.connection_id = $2 and d.stream_id = $3 and d.event_id = $4 and w.mode = 'test'
      order by d.id`,
    values: [merchantId, connectionId, orderId, id],
  });
}

export async function setFault(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  deliveryId: string,
  fault: DeliveryFault,
): Promise<void> {
  await tx.query({
    name: "set-delivery-fault",
    text: `
      update deliveries
      set fault = $4
      where merchant_id = $1 and connection_id = $2 and id = $3`,
    values: [merchantId, connectionId, deliveryId, JSON.stringify(fault)],
  });
}

/** Notes the event that has a fault. */
export async function setFaultEvent(
  tx: Queryable,
  { merchantId, connectionId, id: eventId }: EventRow,
  orderId: string,
  faultId: string,
): Promise<void> {
  await tx.query({
    name: "set-fault-event",
    text: `
      update delivery_faults
      set event_id = $5
      where merchant_id = $1 and connection_id = $2 and order_id = $3 and id = $4`,
    values: [merchantId, connectionId, orderId, faultId, eventId],
  });
}

/** A delivery that waits for the next one of its stream. */
export type ReorderedDelivery = NewDelivery & { readonly fault: DeliveryFault };

const REORDERED: FaultName = "reordered";

export async function listReordered(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  orderId: string,
): Promise<ReorderedDelivery[]> {
  return tx.query<ReorderedDelivery>({
    name: "list-reordered-deliveries",
    text: `
      select d.id, d.endpoint_id as "endpointId", d.sequence, d.fault
      from deliveries d
      where d.merchant_id = $1 and d.connection_id = $2 and d.stream_id = $3 and d.status = 'pending'
        and d.fault ->> 'fault' = $4
      order by d.id desc`,
    values: [merchantId, connectionId, orderId, REORDERED],
  });
}

/**
 * Lets a delivery pass another one of its stream, which waits no longer than for this one: they exchange their positions. The order
 * of a stream is that of `deliveries.sequence`, so whatever happens next, the stream continues with the right one. A head that is
 * claimed is changed when its claim ends.
 */
export async function letPass(
  tx: Queryable,
  { merchantId, connectionId, id: eventId }: EventRow,
  change: {
    readonly streamId: string;
    readonly delivery: NewDelivery;
    readonly passed: ReorderedDelivery;
    readonly now: Date;
  },
): Promise<void> {
  const { streamId, delivery, passed, now } = change;
  await tx.query({
    name: "exchange-positions",
    text: `
      update deliveries d
      set sequence = case when d.id = $3 then $5::integer else greatest($6::integer, $5::integer + 1) end,
          fault = case when d.id = $3 then d.fault else $7::jsonb end
      where d.merchant_id = $1 and d.connection_id = $2 and d.id in ($3, $4)`,
    values: [
      merchantId,
      connectionId,
      delivery.id,
      passed.id,
      passed.sequence,
      delivery.sequence,
      JSON.stringify({ ...passed.fault, until: now.toISOString() }),
    ],
  });
  await tx.query({
    name: "replace-waiting-head",
    text: `
      update due_deliveries
      set delivery_id = $6, event_id = $7, due_at = $8
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3 and stream_id = $4 and delivery_id = $5
        and claim_id is null and attempt_count = 0`,
    values: [merchantId, connectionId, delivery.endpointId, streamId, passed.id, delivery.id, eventId, now],
  });
}

/** Deletes the faults of test orders that are erased. */
export async function eraseFaults(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  orderIds: readonly string[],
): Promise<void> {
  await tx.query({
    name: "erase-delivery-faults",
    text: `
      delete from delivery_faults
      where merchant_id = $1 and connection_id = $2 and order_id = any($3::uuid[])`,
    values: [merchantId, connectionId, orderIds],
  });
}

/** An endpoint that may get a fault, and how many secrets sign for it. */
export type FaultTarget = {
  readonly mode: "live" | "test";
  readonly status: "active" | "paused";
  readonly eventTypes: readonly string[];
  readonly secretCount: number;
};

/** The endpoint with this id, or all test endpoints. Deleted ones are left out. */
export async function listTargets(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  endpointId: string | null,
  now: Date,
): Promise<FaultTarget[]> {
  return tx.query<FaultTarget>({
    name: "list-fault-targets",
    text: `
      select w.mode, w.status, w.event_types as "eventTypes",
             (select count(*)::integer
              from webhook_secrets s
              where s.merchant_id = $1 and s.endpoint_id = w.id and (s.expires_at is null or s.expires_at > $4)) as "secretCount"
      from webhook_endpoints w
      where w.merchant_id = $1 and w.connection_id = $2 and w.status <> 'deleted'
        and case when $3::uuid is null then w.mode = 'test' else w.id = $3 end`,
    values: [merchantId, connectionId, endpointId, now],
  });
}
