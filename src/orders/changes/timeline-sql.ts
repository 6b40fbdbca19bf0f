import { recordChanges } from "../../changes/record-changes.ts";
import type {
  Actor,
  RecordContext,
  TimelineEntry,
  TransitionCause,
} from "../../lifecycle/applied-transition.ts";
import { isChange, type Outcome } from "../../lifecycle/lifecycle.ts";
import type { OrderState, OrderStatus } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** An operation on an order, for its timeline. */
export type NewTimelineEntry = {
  /** The order after the operation. */
  readonly order: Pick<OrderState, "merchantId" | "id" | "status" | "holdReasons">;
  readonly cause: TransitionCause;
  /** The shipment that was created or changed. Null if there is none. */
  readonly shipmentId: string | null;
};

/** Adds entries to the timelines of orders, in the transaction of the operations. Each is a change of its order. */
export async function insertTimelineEntries(
  tx: Queryable,
  entries: readonly NewTimelineEntry[],
  { newId, now }: RecordContext,
): Promise<void> {
  if (entries.length === 0) return;
  await tx.query({
    name: "insert-timeline-entries",
    text: `
      insert into timeline_entries (
        merchant_id, order_id, id, operation, actor_kind, actor_name, actor_id, request_id, detail, shipment_id,
        status, hold_reasons, created_at)
      select e.merchant_id, e.order_id, e.id, e.operation, e.actor_kind, e.actor_name, e.actor_id, e.request_id, e.detail,
             e.shipment_id, e.status, e.hold_reasons, $2
      from json_to_recordset($1::json) as e (
        merchant_id uuid, order_id uuid, id uuid, operation text, actor_kind text, actor_name text, actor_id text,
        request_id text, detail text, shipment_id uuid, status text, hold_reasons text[])`,
    values: [
      JSON.stringify(
        entries.map(({ order, cause, shipmentId }) => ({
          merchant_id: order.merchantId,
          order_id: order.id,
          id: newId(),
          operation: cause.operation,
          actor_kind: cause.actor.kind,
          actor_name: cause.actor.name,
          actor_id: cause.actor.id ?? null,
          request_id: cause.requestId ?? null,
          detail: cause.detail ?? null,
          shipment_id: shipmentId,
          status: order.status,
          hold_reasons: order.holdReasons,
        })),
      ),
      now,
    ],
  });
  recordChanges(
    tx,
    now,
    entries.map(({ order, shipmentId }) => ({
      merchantId: order.merchantId,
      orderId: order.id,
      ...(shipmentId === null
        ? { kind: "order" as const, objectId: order.id }
        : { kind: "shipment" as const, objectId: shipmentId }),
    })),
  );
}

/** The timeline of an order, oldest entry first. The creation has no entry: the order's row records it. */
export async function readTimeline(
  db: Queryable,
  connection: ConnectionKey,
  orderId: string,
): Promise<TimelineEntry[]> {
  const rows = await db.query<{
    id: string;
    operation: string;
    actor_kind: Actor["kind"];
    actor_name: string | null;
    actor_id: string | null;
    request_id: string | null;
    detail: string | null;
    shipment_id: string | null;
    status: OrderStatus;
    hold_reasons: string[];
    created_at: Date;
  }>({
    name: "read-timeline",
    text: `
      select id, operation, actor_kind, actor_name, actor_id, request_id, detail, shipment_id, status, hold_reasons,
             created_at
      from timeline_entries
      where merchant_id = $1 and order_id = $2
      order by id`,
    values: [connection.merchantId, orderId],
  });
  return rows.map((row) => ({
    id: row.id,
    operation: row.operation,
    actor: { kind: row.actor_kind, name: row.actor_name, id: row.actor_id },
    requestId: row.request_id,
    detail: row.detail,
    shipmentId: row.shipment_id,
    status: row.status,
    holdReasons: row.hold_reasons,
    createdAt: row.created_at,
  }));
}

/** How many entries an order's timeline has, at most `countMax`. */
export async function countTimelineEntries(
  tx: Queryable,
  { merchantId, id }: Pick<OrderState, "merchantId" | "id">,
  countMax: number,
): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    name: "count-timeline-entries",
    text: `
      select count(*)::integer as count
      from (
        select
        from timeline_entries
        where merchant_id = $1 and order_id = $2
        limit $3) as counted`,
    values: [merchantId, id, countMax],
  });
  return row?.count ?? 0;
}

/** How many entries of an operation an order's timeline has, at most `countMax`. */
export async function countEntriesOf(
  tx: Queryable,
  { merchantId, id }: Pick<OrderState, "merchantId" | "id">,
  operation: string,
  countMax: number,
): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    name: "count-entries-of-operation",
    text: `
      select count(*)::integer as count
      from (
        select
        from timeline_entries
        where merchant_id = $1 and order_id = $2 and operation = $3
        limit $4) as counted`,
    values: [merchantId, id, operation, countMax],
  });
  return row?.count ?? 0;
}

/**
 * Entries of a timeline up to which an order accepts operations that a caller can repeat without end: a hold can be placed
 * and released again and again, a shipment be updated and a payment be retried. Others end at the order's own state. 200
 * shipments with ten updates each have fewer.
 */
export const REPEATABLE_CHANGES_MAX = 2_500;

/** True if no such operation can be added. Under the order's lock, so the limit is exact. */
export const isTimelineFull = async (
  tx: Queryable,
  order: Pick<OrderState, "merchantId" | "id">,
): Promise<boolean> =>
  (await countTimelineEntries(tx, order, REPEATABLE_CHANGES_MAX)) === REPEATABLE_CHANGES_MAX;

/** The outcome of such an operation: rejected, if it would add to a full timeline. */
export async function withinTimeline(tx: Queryable, outcome: Outcome): Promise<Outcome> {
  return outcome.outcome === "applied" && isChange(outcome) && (await isTimelineFull(tx, outcome.order))
    ? { outcome: "rejected", order: outcome.from, rule: "too_many_changes" }
    : outcome;
}
