import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { readVersion } from "./config.ts";

export type RequestMetrics = {
  observe(
    listener: string,
    method: string,
    route: string | undefined,
    status: number,
    elapsedMs: number,
  ): void;
};

export type Metrics = {
  registry: Registry;
  requests: RequestMetrics;
  /** Counts the items that a run of a job has processed. */
  jobDone(job: string, count: number): void;
  jobFailed(job: string): void;
  /** A connection has ordered for more than ALERT_ORDER_VALUES within an hour. */
  orderValueUnusual(): void;
  /**
   * An attempt to send a webhook. `delayMs` is the time from the event to the first attempt. Null for later attempts.
   */
  attemptMade(outcome: "succeeded" | "failed", delayMs: number | null): void;
};

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "partner_orders_build_info",
    help: "Always 1. The labels are the version of the service and that of Node.",
    labelNames: ["version", "node"],
    registers: [registry],
  }).set({ version: readVersion(), node: process.versions.node }, 1);
  const duration = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from the arrival of a request to the end of its response.",
    labelNames: ["listener", "method", "route", "status"],
    // Few: each is a series for every route and status.
    buckets: [0.0025, 0.01, 0.025, 0.1, 0.25, 0.5, 1, 5],
    registers: [registry],
  });
  const jobItems = new Counter({
    name: "partner_orders_job_items_total",
    help: "Items processed by background jobs.",
    labelNames: ["job"],
    registers: [registry],
  });
  const jobFailures = new Counter({
    name: "partner_orders_job_failures_total",
    help: "Failed runs of background jobs. The next run repeats the work.",
    labelNames: ["job"],
    registers: [registry],
  });
  const unusualValues = new Counter({
    name: "partner_orders_unusual_order_values_total",
    help: "Connections that ordered for more than ALERT_ORDER_VALUES within an hour. The log names each of them.",
    registers: [registry],
  });
  const attempts = new Counter({
    name: "partner_orders_webhook_attempts_total",
    help: "Attempts to deliver an event, by outcome.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  const attemptsBy = {
    succeeded: attempts.labels("succeeded"),
    failed: attempts.labels("failed"),
  };
  const delays = new Histogram({
    name: "partner_orders_webhook_first_attempt_delay_seconds",
    help: "Time from an event to its first attempt.",
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30, 300],
    registers: [registry],
  });
  return {
    registry,
    requests: {
      observe(listener, method, route, status, elapsedMs) {
        // Unmatched paths share one label value, so that callers cannot increase the number of metrics.
        duration.observe({ listener, method, route: route ?? "(none)", status }, elapsedMs / 1_000);
      },
    },
    jobDone: (job, count) => jobItems.inc({ job }, count),
    jobFailed: (job) => jobFailures.inc({ job }),
    orderValueUnusual: () => unusualValues.inc(),
    attemptMade: (outcome, delayMs) => {
      attemptsBy[outcome].inc();
      if (delayMs !== null) delays.observe(delayMs / 1_000);
    },
  };
}
