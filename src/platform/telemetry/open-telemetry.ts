import { AsyncLocalStorage } from "node:async_hooks";
import { hostname } from "node:os";
import { diag, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { millisToHrTime, parseTraceParent, setGlobalErrorHandler } from "@opentelemetry/core";
import { OTLPMetricExporter as JsonMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter as JsonTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from "@opentelemetry/resources";
import {
  AggregationTemporality,
  DataPointType,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { type Config, readVersion } from "../config.ts";
import { atMostEvery } from "../log.ts";
import { MINUTE_MS } from "../time.ts";
import { toMetricData } from "./metric-data.ts";
import type { TelemetrySettings } from "./telemetry-settings.ts";
import { setTracer, type Tracer } from "./tracing.ts";

const SCOPE = "partner-orders";
const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

type OpenTelemetry = { exportMetrics(registry: Registry): void; shutDown(): Promise<void> };

/** Opens the exporters of the settings. Only `telemetry.ts` imports this module, when it is needed. */
export function openTelemetry(
  settings: TelemetrySettings,
  log: Logger,
  roles: Config["roles"],
): OpenTelemetry {
  logFailures(log);
  const resource = resourceOf(roles);
  const stopTraces = settings.traces === null ? null : openTraces(settings.traces, resource);
  let meters: MeterProvider | null = null;
  return {
    exportMetrics(registry) {
      if (settings.metrics !== null) meters = openMetrics(settings.metrics, resource, registry);
    },
    async shutDown() {
      await Promise.all([stopTraces?.(), meters?.shutdown()]);
    },
  };
}

/** A collector that cannot be reached fails every few seconds: one line a minute has the number. */
function logFailures(log: Logger): void {
  const logFailure = atMostEvery<string>(MINUTE_MS, (reason, count) =>
    log.warn({ reason, count }, "telemetry not exported, will be retried or dropped"),
  );
  const ignore = (): void => undefined;
  diag.setLogger({
    error: (message) => logFailure(message),
    warn: (message) => logFailure(message),
    info: ignore,
    debug: ignore,
    verbose: ignore,
  });
  setGlobalErrorHandler((error) => logFailure(error instanceof Error ? error.message : String(error)));
}

/** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win over what the service says of itself. */
const resourceOf = (roles: Config["roles"]): Resource =>
  defaultResource()
    .merge(detectResources({ detectors: [serviceInstanceIdDetector] }))
    .merge(
      resourceFromAttributes({
        "service.name": SCOPE,
        "service.version": readVersion(),
        "host.name": hostname(),
        "process.pid": process.pid,
        "partner_orders.roles": [...roles],
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));

type TraceSettings = NonNullable<TelemetrySettings["traces"]>;

/** Returns a function that sends the last spans. */
function openTraces(settings: TraceSettings, resource: Resource): () => Promise<void> {
  const { protocol, queueMax, batchMax, delayMs, timeoutMs, linksCallers } = settings;
  const processor = new BatchSpanProcessor({
    exporter: protocol === "http/json" ? new JsonTraceExporter() : new OTLPTraceExporter(),
    // Spans beyond the queue are dropped.
    ...(queueMax !== undefined && { maxQueueSize: queueMax }),
    ...(batchMax !== undefined && { maxExportBatchSize: batchMax }),
    ...(delayMs !== undefined && { scheduledDelayMillis: delayMs }),
    ...(timeoutMs !== undefined && { exportTimeoutMillis: timeoutMs }),
  });
  const provider = new TracerProvider({
    resource,
    sampler: samplerOf(settings),
    spanProcessors: [processor],
  });
  setTracer(createTracer(provider, linksCallers));
  return async () => {
    setTracer(null);
    await provider.shutdown();
  };
}

/** Makes the spans of this process. */
export function createTracer(provider: TracerProvider, linksCallers: boolean): Tracer {
  const spans = provider.getTracer(SCOPE, readVersion());
  return {
    scopes: new AsyncLocalStorage(),
    start: ({ name, kind = "internal", attributes = {}, links = [], parent }) =>
      spans.startSpan(
        name,
        { kind: KINDS[kind], attributes, links: [...links] },
        parent === null ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent),
      ),
    linksTo(traceparent) {
      const context = linksCallers ? parseTraceParent(traceparent) : null;
      return context === null ? [] : [{ context: { ...context, isRemote: true } }];
    },
    fail(span, errorType) {
      span.setAttribute("error.type", errorType);
      span.setStatus({ code: SpanStatusCode.ERROR });
    },
  };
}

function samplerOf({ sampler, ratio }: TraceSettings): Sampler {
  switch (sampler) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return new TraceIdRatioBasedSampler(ratio);
    case "parentbased_always_on":
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case "parentbased_always_off":
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case "parentbased_traceidratio":
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

/** The reader reads the registry each time, as a request to `/metrics` does. */
function openMetrics(
  { protocol, intervalMs, timeoutMs }: NonNullable<TelemetrySettings["metrics"]>,
  resource: Resource,
  registry: Registry,
): MeterProvider {
  const startTime = millisToHrTime(Date.now() - process.uptime() * 1_000);
  const reader = new PeriodicExportingMetricReader({
    exporter: protocol === "http/json" ? new JsonMetricExporter() : new OTLPMetricExporter(),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: timeoutMs,
    metricProducers: [
      {
        async collect() {
          const times = { startTime, endTime: millisToHrTime(Date.now()) };
          const enumerations = { dataPoint: DataPointType, temporality: AggregationTemporality };
          const metrics = toMetricData(await registry.getMetricsAsJSON(), times, enumerations);
          const scopeMetrics = [{ scope: { name: SCOPE, version: readVersion() }, metrics }];
          return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
        },
      },
    ],
  });
  return new MeterProvider({ resource, readers: [reader] });
}
