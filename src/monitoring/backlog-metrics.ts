import { Gauge, type Registry } from "prom-client";
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
import { sharedWhileRunning } from "./shared-while-running.ts";

/**
 * Gauges of waiting work, read from the database at each scrape. Every process reports the same values: use the maximum
 * over processes, not the sum. Only small tables are read, never the delivery log.
 */
export function addBacklogMetrics(registry: Registry, context: Context): void {
  const add = gaugesOf(registry, context);
  addDeliveryGauges(add, context);
  addOrderGauges(add, context);
  addOtherGauges(add, context);
}

type AddGauges = {
  count(name: string, help: string, read: () => Promise<number>): void;
  /** Seconds since the time that `read` returns. 0 for null. */
  age(name: string, help: string, read: (now: Date) => Promise<Date | null>): void;
  labeled(name: string, help: string, label: string, read: () => Promise<Map<string, number>>): void;
};

function addDeliveryGauges(add: AddGauges, { db, clock }: Context): void {
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

function addOrderGauges(add: AddGauges, { db }: Context): void {
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

function addOtherGauges(add: AddGauges, { db, clock }: Context): void {
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

function gaugesOf(registry: Registry, context: Context): AddGauges {
  const add = (
    { name, help, labelNames = [] }: { name: string; help: string; labelNames?: string[] },
    collect: (gauge: Gauge) => Promise<void>,
  ) =>
    new Gauge({ name, help, labelNames, registers: [registry], collect: loggingFailures(context, collect) });
  return {
    count: (name, help, read) => void add({ name, help }, async (gauge) => gauge.set(await read())),
    age: (name, help, read) =>
      void add({ name, help: `${help}; 0 without any.` }, async (gauge) => {
        const now = context.clock.now();
        const since = (await read(now)) ?? now;
        gauge.set(Math.max(0, now.getTime() - since.getTime()) / SECOND_MS);
      }),
    labeled: (name, help, label, read) =>
      void add({ name, help, labelNames: [label] }, async (gauge) => {
        const values = await read();
        gauge.reset();
        for (const [value, count] of values) gauge.set({ [label]: value }, count);
      }),
  };
}

/** A gauge that cannot be read is left out. The other metrics are still reported. */
const loggingFailures = ({ log }: Context, collect: (gauge: Gauge) => Promise<void>) =>
  async function (this: Gauge): Promise<void> {
    try {
      await collect(this);
    } catch (err) {
      this.reset(); // The values with labels,
      this.remove(); // and the value without.
      log.warn({ err }, "backlog metric not read");
    }
  };
