import { Gauge, type Registry } from "prom-client";
import { HOLD_REASONS } from "../lifecycle/hold-reasons.ts";
import type { Context } from "../platform/context.ts";
import { DAY_TABLES, partitionsAheadMs } from "../platform/database/day-partitions.ts";
import {
  countHeldOrders,
  countOrdersInReview,
  countPausedEndpoints,
  countQueuedMails,
  readDueDeliveries,
  readOldestDueOrder,
  readOldestDuePayment,
  readOldestUnroutedOrder,
} from "./backlog-sql.ts";

/**
 * Gauges of waiting work, read from the database when the metrics are requested. Every process reports the same, so
 * take the maximum over processes and not the sum. Only small tables are read, never the delivery log.
 */
export function addBacklogMetrics(registry: Registry, context: Context): void {
  const { db, clock } = context;
  const dueNow = sharedWhileRunning(() => readDueDeliveries(db, clock.now()));
  const add = (name: string, help: string, read: () => Promise<number>): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect: toldOnFailure(context, async (gauge) => gauge.set(await read())),
    });
  };
  add(
    "partner_orders_webhook_deliveries_due",
    "Deliveries that could be sent now: due, not under way, to an endpoint that is neither paused nor held.",
    async () => (await dueNow()).count,
  );
  add(
    "partner_orders_webhook_delivery_oldest_due_age_seconds",
    "How long the oldest of these has been due; 0 without any.",
    async () => (await dueNow()).oldestAgeSeconds,
  );
  const addAge = (name: string, help: string, read: (now: Date) => Promise<Date | null>): void =>
    add(name, `${help}; 0 without any.`, async () => {
      const now = clock.now();
      return Math.max(0, now.getTime() - ((await read(now)) ?? now).getTime()) / 1_000;
    });
  addAge(
    "partner_orders_order_oldest_due_age_seconds",
    "Time since the end of the window of the oldest order that has not been accepted yet",
    (now) => readOldestDueOrder(db, now),
  );
  addAge(
    "partner_orders_order_oldest_unrouted_age_seconds",
    "How long the oldest accepted order has waited for routing, not counting those that are held",
    () => readOldestUnroutedOrder(db),
  );
  addAge(
    "partner_orders_payment_oldest_due_age_seconds",
    "Time since the oldest charge or refund became due that is not being sent to a gateway",
    (now) => readOldestDuePayment(db, now),
  );
  add("partner_orders_orders_in_review", "Real orders that wait for approval or rejection.", () =>
    countOrdersInReview(db),
  );
  new Gauge({
    name: "partner_orders_orders_held",
    help: "Real orders on hold, by reason; an order counts for each of its reasons.",
    labelNames: ["reason"],
    registers: [registry],
    collect: toldOnFailure(context, async (gauge) => {
      // Other reasons share one series, since an order can be held for any text.
      const held = await countHeldOrders(db, HOLD_REASONS);
      gauge.reset();
      for (const reason of [...HOLD_REASONS, "other"]) gauge.set({ reason }, held.get(reason) ?? 0);
    }),
  });
  add("partner_orders_webhook_endpoints_paused", "Endpoints that are paused.", () =>
    countPausedEndpoints(db),
  );
  add("partner_orders_mails_queued", "Mails that are to be sent, those tried in vain among them.", () =>
    countQueuedMails(db),
  );
  new Gauge({
    name: "partner_orders_partitions_ahead_seconds",
    help: "Time until rows find no partition; below two days an operator should act.",
    labelNames: ["table"],
    registers: [registry],
    collect: toldOnFailure(context, async (gauge) => {
      for (const table of DAY_TABLES)
        gauge.set({ table }, (await partitionsAheadMs(db, table, clock.now())) / 1_000);
    }),
  });
}

/** A database out of reach must not take the other figures with it: the gauge is left out. */
const toldOnFailure = ({ log }: Context, collect: (gauge: Gauge) => Promise<void>) =>
  async function (this: Gauge): Promise<void> {
    try {
      await collect(this);
    } catch (err) {
      this.reset(); // Those with labels,
      this.remove(); // and the one without.
      log.warn({ err }, "a figure could not be read for the metrics");
    }
  };

/** Calls that arrive while one is in progress get its result. */
function sharedWhileRunning<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= read().finally(() => {
      running = null;
    });
    return running;
  };
}
