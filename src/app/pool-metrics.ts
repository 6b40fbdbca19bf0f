import { Counter, Gauge, type Registry } from "prom-client";
import type { DatabaseUsage } from "../platform/database/database-usage.ts";
import { toTypeId } from "../platform/ids.ts";
import { SECOND_MS } from "../platform/time.ts";
import { POOLS, type Pools } from "./pools.ts";

/** Connections that are named in the metrics. Few, so that the number of series stays small. */
const CONNECTIONS_SHOWN_MAX = 5;

/** How much each pool of this process is used, and by which connections most. Reads nothing from the database. */
export function addPoolMetrics(registry: Registry, { opened }: Pools, usage: DatabaseUsage): void {
  const labeled = { labelNames: ["pool"], registers: [registry] };
  new Gauge({
    ...labeled,
    name: "partner_orders_database_calls_in_use",
    help: "Connections to the database that are in use, by pool.",
    collect() {
      for (const [pool, { use }] of opened) this.set({ pool }, use().inUse);
    },
  });
  new Gauge({
    ...labeled,
    name: "partner_orders_database_connections_max",
    help: "Connections to the database that this process may have, by pool.",
    collect() {
      for (const pool of opened.keys()) this.set({ pool }, POOLS[pool].connectionsMax);
    },
  });
  new Gauge({
    ...labeled,
    name: "partner_orders_database_calls_waiting",
    help: "Calls that wait for a connection to the database, by pool.",
    collect() {
      for (const [pool, { use }] of opened) this.set({ pool }, use().waiting + usage.waitingFor(pool));
    },
  });
  new Counter({
    ...labeled,
    name: "partner_orders_database_seconds_total",
    help: "Time of statements and transactions, by pool.",
    collect() {
      this.reset();
      for (const [pool, { use }] of opened) this.inc({ pool }, use().totalMs / SECOND_MS);
    },
  });
  new Gauge({
    name: "partner_orders_connection_database_seconds",
    help: `Database time in the last minute or two of the ${CONNECTIONS_SHOWN_MAX} connections that used most.`,
    labelNames: ["connection"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [id, ms] of usage.top(CONNECTIONS_SHOWN_MAX))
        this.set({ connection: toTypeId("con", id) }, ms / SECOND_MS);
    },
  });
}
