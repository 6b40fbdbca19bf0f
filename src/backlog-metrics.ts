import { Gauge, type Registry } from "prom-client";
import type { Queryable } from "./database/database.ts";
import { DAY_TABLES, partitionsAheadMs } from "./database/day-partitions.ts";
import type { Service } from "./service.ts";

/**
 * Gauges of what waits, asked of the database when somebody looks. Every process tells the same, so take the maximum
 * over processes and not the sum. Only small tables are read, never the log of what was sent.
 */
export function addBacklogMetrics(registry: Registry, service: Service): void {
  const { db, clock } = service;
  const dueNow = sharedWhileRunning(() => readDueDeliveries(db, clock.now()));
  const add = (name: string, help: string, read: () => Promise<number>): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect: toldOnFailure(service, async (gauge) => gauge.set(await read())),
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
  add("partner_orders_webhook_endpoints_paused", "Endpoints that are paused.", () =>
    countPausedEndpoints(db),
  );
  add("partner_orders_mails_queued", "Mails that are to be sent, those tried in vain among them.", () =>
    countQueuedMails(db),
  );
  new Gauge({
    name: "partner_orders_partitions_ahead_seconds",
    help: "How long from now every row finds a partition; below two days somebody should look.",
    labelNames: ["table"],
    registers: [registry],
    collect: toldOnFailure(service, async (gauge) => {
      for (const table of DAY_TABLES)
        gauge.set({ table }, (await partitionsAheadMs(db, table, clock.now())) / 1_000);
    }),
  });
}

/** A database out of reach must not take the other figures with it: the gauge is left out. */
const toldOnFailure = ({ log }: Service, collect: (gauge: Gauge) => Promise<void>) =>
  async function (this: Gauge): Promise<void> {
    try {
      await collect(this);
    } catch (err) {
      this.reset(); // Those with labels,
      this.remove(); // and the one without.
      log.warn({ err }, "a figure could not be read for the metrics");
    }
  };

/** Calls that come while one is under way get its answer. */
function sharedWhileRunning<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= read().finally(() => {
      running = null;
    });
    return running;
  };
}

async function readDueDeliveries(
  db: Queryable,
  now: Date,
): Promise<{ count: number; oldestAgeSeconds: number }> {
  const [row] = await db.query<{ count: bigint; oldest_due_at: Date | null }>({
    name: "read-due-deliveries",
    text: `
      select coalesce(sum(due.count), 0)::bigint as count, min(due.oldest_due_at) as oldest_due_at
      from webhook_endpoints w
      join webhook_endpoint_states s on s.connection_id = w.connection_id and s.endpoint_id = w.id
      cross join lateral (
        select count(*) as count, min(d.due_at) as oldest_due_at
        from due_deliveries d
        where d.connection_id = w.connection_id and d.endpoint_id = w.id and d.due_at <= $1
          and (d.leased_until is null or d.leased_until <= $1)) as due
      where w.status = 'active' and (s.held_until is null or s.held_until <= $1)`,
    values: [now],
  });
  const oldest = row?.oldest_due_at ?? now;
  return { count: Number(row?.count ?? 0), oldestAgeSeconds: (now.getTime() - oldest.getTime()) / 1_000 };
}

async function countPausedEndpoints(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-paused-endpoints",
    text: "select count(*)::integer as count from webhook_endpoints where status = 'paused'",
    values: [],
  });
  return row?.count ?? 0;
}

async function countQueuedMails(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-queued-mails",
    text: "select count(*)::integer as count from outgoing_mails where sent_at is null and failed_at is null",
    values: [],
  });
  return row?.count ?? 0;
}
