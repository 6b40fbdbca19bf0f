import type {
  Actor,
  RecordContext,
  TimelineEntry,
  TransitionCause,
} from "../../lifecycle/applied-transition.ts";
import type { OrderStatus } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** What the timeline stores of a transition. */
export type NewTimelineEntry = TransitionCause & {
  readonly orderId: string;
  /** The shipment it was about, if it was about one. */
  readonly shipmentId?: string | null;
  readonly status: OrderStatus;
  readonly holdReasons: readonly string[];
};

/** Adds transitions of orders of one connection to their timelines. Call it in the transaction of the transitions. */
export async function insertTimelineEntries(
  tx: Queryable,
  connection: ConnectionKey,
  steps: readonly NewTimelineEntry[],
  { newId, now }: RecordContext,
): Promise<void> {
  if (steps.length === 0) return;
  await tx.query({
    name: "insert-timeline-entries",
    text: `
      insert into timeline_entries (
        merchant_id, order_id, id, operation, actor_kind, actor_name, detail, shipment_id, status, hold_reasons, created_at)
      select $1, s.order_id, s.id, s.operation, s.actor_kind, s.actor_name, s.detail, s.shipment_id, s.status, s.hold_reasons, $3
      from json_to_recordset($2::json) as s (
        order_id uuid, id uuid, operation text, actor_kind text, actor_name text, detail text, shipment_id uuid,
        status text, hold_reasons text[])`,
    values: [
      connection.merchantId,
      JSON.stringify(
        steps.map((step) => ({
          order_id: step.orderId,
          id: newId(),
          operation: step.operation,
          actor_kind: step.actor.kind,
          actor_name: step.actor.name,
          detail: step.detail ?? null,
          shipment_id: step.shipmentId ?? null,
          status: step.status,
          hold_reasons: step.holdReasons,
        })),
      ),
      now,
    ],
  });
}

/** An order's timeline, oldest first. Its creation is not part of it: the order itself has it. */
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
    detail: string | null;
    shipment_id: string | null;
    status: OrderStatus;
    hold_reasons: string[];
    created_at: Date;
  }>({
    name: "read-timeline",
    text: `
      select id, operation, actor_kind, actor_name, detail, shipment_id, status, hold_reasons, created_at
      from timeline_entries
      where merchant_id = $1 and order_id = $2
      order by id`,
    values: [connection.merchantId, orderId],
  });
  return rows.map((row) => ({
    id: row.id,
    operation: row.operation,
    actor: { kind: row.actor_kind, name: row.actor_name },
    detail: row.detail,
    shipmentId: row.shipment_id,
    status: row.status,
    holdReasons: row.hold_reasons,
    createdAt: row.created_at,
  }));
}
