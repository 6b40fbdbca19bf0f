import { Gauge, type Registry } from "prom-client";
import { readOldestDuePayment } from "../ledger/due-payments-sql.ts";
import { HOLD_REASONS } from "../lifecycle/order.ts";
import { countQueuedMails, readOldestDueMail } from "../mail/mails-sql.ts";
import {
  countHeldOrders,
  countOrdersInReview,
  readOldestDueOrder,
  readOldestExpiredOrder,
  readOldestUnroutedOrder,
} from "../orders/conditions-sql.ts";
import { readOldestPaymentRetry } from "../payments/retries-sql.ts";
import type { Context } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { DAY_TABLES, partitionsAheadMs } from "../platform/database/day-partitions.ts";
import { atMostEvery } from "../platform/log.ts";
import { within } from "../platform/run-in-turn.ts";
import { SECOND_MS } from "../platform/time.ts";
import {
  countPausedEndpoints,
  readDueDeliveries,
  readOldestRecovery,
  readOrdersBehind,
} from "../webhooks/conditions-sql.ts";
import { readWorkers } from "./processes-sql.ts";

/** Gauges whose values are read from the database at each scrape. */
type BacklogGauges = {
  count(name: string, help: string, read: () => Promise<number>): void;
  /** Seconds since the time that `read` returns. 0 for null. */
  age(name: string, help: string, read: (now: Date) => Promise<Date | null>): void;
  labeled(name: string, help: string, label: string, read: () => Promise<Map<string, number>>): void;
  /** True if the scrape could read all of the others. To be added last. */
  readable(name: string, help: string): void;
};

/** Prometheus gives a scrape ten seconds, and the service promises a response within one. */
const READ_MS = 800;

/**
 * A gauge that cannot be read in time is left out, and the other metrics are still reported. A read that is late continues,
 * and the next scrape waits for it instead of starting another: a database that hangs has one read for each gauge.
 */
function backlogGauges(registry: Registry, { clock, log }: Pick<Context, "clock" | "log">): BacklogGauges {
  const reads = new Set<Promise<boolean>>();
  const logFailure = atMostEvery(SECOND_MS, (err: unknown, count) =>
    log.warn({ err, count }, "metrics of the database not read"),
  );

  function add<T>(
    { name, help, labelNames = [] }: { name: string; help: string; labelNames?: string[] },
    read: () => Promise<T>,
    set: (gauge: Gauge, value: T) => void,
  ): void {
    const readOnce = sharedWhileRunning(read);
    async function collect(this: Gauge): Promise<boolean> {
      try {
        set(this, await within(READ_MS, readOnce()));
        return true;
      } catch (err) {
        // Each of them fails, or leaves a 0, for the other kind.
        if (labelNames.length > 0) this.reset();
        else this.remove();
        logFailure(err);
        return false;
      }
    }
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const done = collect.call(this);
        reads.add(done);
        await done;
        reads.delete(done);
      },
    });
  }

  return {
    count: (name, help, read) => add({ name, help }, read, (gauge, value) => gauge.set(value)),
    age: (name, help, read) =>
      add(
        { name, help: `${help}; 0 without any.` },
        async () => {
          const now = clock.now();
          return { now, since: (await read(now)) ?? now };
        },
        (gauge, { now, since }) => gauge.set(Math.max(0, now.getTime() - since.getTime()) / SECOND_MS),
      ),
    labeled: (name, help, label, read) =>
      add({ name, help, labelNames: [label] }, read, (gauge, values) => {
        gauge.reset();
        for (const [value, count] of values) gauge.set({ [label]: value }, count);
      }),
    readable: (name, help) =>
      void new Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          // A scrape starts all reads before it waits for one, and this comes last.
          const outcomes = await Promise.all(reads);
          this.set(outcomes.every((read) => read) ? 1 : 0);
        },
      }),
  };
}

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
  const readBehind = sharedWhileRunning(() => readOrdersBehind(db));
  add.count(
    "partner_orders_webhook_orders_behind",
    "Orders whose newest event an active endpoint has not accepted. An order counts for each endpoint, at most 1 000 for one.",
    async () => (await readBehind()).count,
  );
  add.age(
    "partner_orders_webhook_order_oldest_behind_age_seconds",
    "Age of the oldest event that these orders wait with",
    async () => (await readBehind()).oldestSince,
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
  add.count(
    "partner_orders_workers_running",
    "Processes with the role worker that have reported within 20 seconds.",
    async () => (await readWorkers(db, clock.now())).runningCount,
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

/** The text of an error for people. An error to connect to several addresses contains an error for each. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}

/** The waiting work of one queue. */
export type Backlog = {
  /** Null: this queue is not counted, because that would read too much. */
  readonly count: number | null;
  /** Since when the oldest of it is due. Null: none is. */
  readonly oldestDueAt: Date | null;
};

export type Queue = {
  readonly name: string;
  read(db: Queryable, now: Date): Promise<Backlog>;
};

const ageOnly =
  (readOldest: (db: Queryable, now: Date) => Promise<Date | null>) =>
  async (db: Queryable, now: Date): Promise<Backlog> => ({
    count: null,
    oldestDueAt: await readOldest(db, now),
  });

/** The work of the workers. Each read is along an index, or of a small table. */
export const QUEUES: readonly Queue[] = [
  { name: "orders to accept", read: ageOnly(readOldestDueOrder) },
  { name: "orders to route", read: ageOnly(readOldestUnroutedOrder) },
  { name: "declined charges to retry", read: ageOnly(readOldestPaymentRetry) },
  { name: "payments to process", read: ageOnly(readOldestDuePayment) },
  { name: "test orders to erase", read: ageOnly(readOldestExpiredOrder) },
  { name: "webhooks to send", read: readDueDeliveries },
  { name: "recoveries", read: ageOnly(readOldestRecovery) },
  {
    name: "mails to send",
    read: async (db, now) => ({
      count: await countQueuedMails(db),
      oldestDueAt: await readOldestDueMail(db, now),
    }),
  },
];

/** Calls during a read share its result. */
export function sharedWhileRunning<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= read().finally(() => {
      running = null;
    });
    return running;
  };
}
