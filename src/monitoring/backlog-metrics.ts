import type { Registry } from "prom-client";
import { readOldestDuePayment } from "../ledger/claim-payments-sql.ts";
import { HOLD_REASONS } from "../lifecycle/hold-reasons.ts";
import { countQueuedMails } from "../mail/backlog-sql.ts";
import {
  countHeldOrders,
  countOrdersInReview,
  readOldestDueOrder,
  readOldestUnroutedOrder,
} from "../orders/backlog-sql.ts";
import type { Context } from "../platform/context.ts";
import { DAY_TABLES, partitionsAheadMs } from "../platform/database/day-partitions.ts";
import { SECOND_MS } from "../platform/time.ts";
import { countPausedEndpoints, readDueDeliveries } from "../webhooks/backlog-sql.ts";
import { type BacklogGauges, backlogGauges } from "./backlog-gauges.ts";
import { sharedWhileRunning } from "./shared-while-running.ts";

type Reads = Pick<Context, "db" | "clock" | "log">;

/**
 * Gauges of waiting work, read from the database at each scrape. Every process reports the same values: use the maximum
 * over processes, not the sum. Only small tables are read, never the delivery log.
 */
export function addBacklogMetrics(registry: Registry, context: Reads): void {
  const add = backlogGauges(registry, context);
  addDeliveryGauges(add, context);
  addOrderGauges(add, context);
  addOtherGauges(add, context);
  add.readable(
    "partner_orders_database_metrics_up",
    "1 if all metrics that are read from the database are reported, 0 if some are missing.",
  );
}

function addDeliveryGauges(add: BacklogGauges, { db, clock }: Reads): void {
  const readDue = sharedWhileRunning(() => readDueDeliveries(db, clock.now()));
  add.count(
    "partner_orders_webhook_deliveries_due",
    "Deliveries that could be sent now: due, not in progress, to an endpoint that is neither paused nor backed off.",
    async () => (await readDue()).count,
  );
  add.age(
    "partner_orders_webhook_delivery_oldest_due_age_seconds",
    "How long the oldest of these deliveries has been due",
    async () => (await readDue()).oldestDueAt,
  );
  add.count("partner_orders_webhook_endpoints_paused", "Paused webhook endpoints.", () =>
    countPausedEndpoints(db),
  );
}

function addOrderGauges(add: BacklogGauges, { db }: Reads): void {
  add.age(
    "partner_orders_order_oldest_due_age_seconds",
    "Time since the acceptance window closed of the oldest order that has not been accepted yet",
    (now) => readOldestDueOrder(db, now),
  );
  add.age(
    "partner_orders_order_oldest_unrouted_age_seconds",
    "How long the oldest accepted order has waited for routing, not counting orders on hold",
    () => readOldestUnroutedOrder(db),
  );
  add.count("partner_orders_orders_in_review", "Real orders that wait for a review.", () =>
    countOrdersInReview(db),
  );
  add.labeled(
    "partner_orders_orders_held",
    "Real orders on hold, by reason; an order counts for each of its reasons.",
    "reason",
    // Other reasons share one label, so that callers cannot increase the number of metrics.
    async () => {
      const held = await countHeldOrders(db, HOLD_REASONS);
      return new Map([...HOLD_REASONS, "other"].map((reason) => [reason, held.get(reason) ?? 0]));
    },
  );
}

function addOtherGauges(add: BacklogGauges, { db, clock }: Reads): void {
  add.age(
    "partner_orders_payment_oldest_due_age_seconds",
    "How long the oldest charge or refund has been due that is not being sent to a gateway",
    (now) => readOldestDuePayment(db, now),
  );
  add.count(
    "partner_orders_mails_queued",
    "Mails to be sent, including those whose attempts have failed so far.",
    () => countQueuedMails(db),
  );
  add.labeled(
    "partner_orders_partitions_ahead_seconds",
    "How long from now every new row has a partition; below two days an operator should check.",
    "table",
    async () => {
      const ahead = new Map<string, number>();
      for (const table of DAY_TABLES)
        ahead.set(table, (await partitionsAheadMs(db, table, clock.now())) / SECOND_MS);
      return ahead;
    },
  );
}
