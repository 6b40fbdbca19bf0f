import { hostname } from "node:os";
import { type Attributes, type DiagLogger, diag, type HrTime, trace } from "@opentelemetry/api";
import {
  getNumberFromEnv,
  getStringFromEnv,
  millisToHrTime,
  setGlobalErrorHandler,
} from "@opentelemetry/core";
import { OTLPMetricExporter as GrpcExporter } from "@opentelemetry/exporter-metrics-otlp-grpc";
import { OTLPMetricExporter as JsonExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPMetricExporter as ProtobufExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { defaultResource, emptyResource, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { NodeSDK } from "@opentelemetry/sdk-node";
import type { Logger } from "pino";
import type { MetricObjectWithValues, MetricValue, Registry } from "prom-client";
import { type Config, readVersion } from "../config.ts";
import { atMostEvery } from "../log.ts";
import { MINUTE_MS } from "../time.ts";
import { setTracer } from "./tracing.ts";

const SCOPE = "partner-orders";

/** True if each is exported. */
export type ExportedSignals = { readonly traces: boolean; readonly metrics: boolean };

type OpenTelemetry = { exportMetrics(registry: Registry): void; shutDown(): Promise<void> };

/**
 * Starts the SDK, which reads the variables of OpenTelemetry itself. Only `telemetry.ts` imports this module, when it is
 * needed.
 */
export function openTelemetry(signals: ExportedSignals, log: Logger, roles: Config["roles"]): OpenTelemetry {
  // At the start the SDK warns of settings that it does not support, and uses its defaults.
  logProblems((reason) => log.warn({ reason }, "telemetry setting not supported"));
  let registry: Registry | null = null;
  const sdk = new NodeSDK({
    // The attributes of the environment win over these.
    resource: defaultResource().merge(
      resourceFromAttributes({
        "service.name": SCOPE,
        "service.version": readVersion(),
        "host.name": hostname(),
        "partner_orders.roles": [...roles],
      }),
    ),
    ...(!signals.traces && { spanProcessors: [] }),
    metricReaders: signals.metrics ? [metricReader(() => registry)] : [],
    logRecordProcessors: [], // The log is written to standard output.
  });
  sdk.start();
  if (signals.traces) setTracer(trace.getTracer(SCOPE, readVersion()));
  // The spans that other libraries would add contain what ours may not.
  trace.disable();
  // A collector that cannot be reached fails every few seconds: one line a minute has the number.
  logProblems(
    atMostEvery<string>(MINUTE_MS, (reason, count) =>
      log.warn({ reason, count }, "telemetry not exported, will be retried or dropped"),
    ),
  );
  return {
    exportMetrics(newRegistry) {
      registry = newRegistry;
    },
    async shutDown() {
      setTracer(null);
      await sdk.shutdown();
    },
  };
}

function logProblems(log: (reason: string) => void): void {
  const ignore = (): void => undefined;
  const logger: DiagLogger = {
    error: (message) => log(message),
    warn: (message) => log(message),
    info: ignore,
    debug: ignore,
    verbose: ignore,
  };
  diag.setLogger(logger, { suppressOverrideMessage: true });
  setGlobalErrorHandler((error) => log(error instanceof Error ? error.message : String(error)));
}

const INTERVAL_DEFAULT_MS = 60_000;
const TIMEOUT_DEFAULT_MS = 30_000;

/**
 * Reads the registry each time, as a request to `/metrics` does. A reader that the SDK makes from the environment cannot be
 * given metrics from elsewhere, so that its exporter and its interval are read here.
 */
function metricReader(registryOf: () => Registry | null): PeriodicExportingMetricReader {
  const startTime = millisToHrTime(Date.now() - process.uptime() * 1_000);
  const exportIntervalMillis = positive("OTEL_METRIC_EXPORT_INTERVAL") ?? INTERVAL_DEFAULT_MS;
  const timeoutMs = positive("OTEL_METRIC_EXPORT_TIMEOUT") ?? TIMEOUT_DEFAULT_MS;
  return new PeriodicExportingMetricReader({
    exporter: metricExporter(),
    exportIntervalMillis,
    exportTimeoutMillis: Math.min(timeoutMs, exportIntervalMillis),
    metricProducers: [
      {
        async collect() {
          const times = { startTime, endTime: millisToHrTime(Date.now()) };
          const metrics = toMetricData((await registryOf()?.getMetricsAsJSON()) ?? [], times);
          const scopeMetrics = [{ scope: { name: SCOPE, version: readVersion() }, metrics }];
          return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] };
        },
      },
    ],
  });
}

function positive(name: string): number | undefined {
  const value = getNumberFromEnv(name);
  if (value === undefined || value > 0) return value;
  diag.warn(`${name} must be greater than 0, so its default is used.`);
  return undefined;
}

function metricExporter(): GrpcExporter | JsonExporter | ProtobufExporter {
  const protocol =
    getStringFromEnv("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL") ??
    getStringFromEnv("OTEL_EXPORTER_OTLP_PROTOCOL");
  switch (protocol?.trim() || "http/protobuf") {
    case "grpc":
      return new GrpcExporter();
    case "http/json":
      return new JsonExporter();
    case "http/protobuf":
      return new ProtobufExporter();
  }
  diag.warn(`OTEL_EXPORTER_OTLP_PROTOCOL does not support ${protocol}, so http/protobuf is used.`);
  return new ProtobufExporter();
}

/** A metric as prom-client returns it. */
type Metric = MetricObjectWithValues<MetricValue<string>>;
type Times = { readonly startTime: HrTime; readonly endTime: HrTime };

/**
 * The metrics of `/metrics` in the SDK's form, with the same names and labels. Counters and histograms count from the
 * start of the process. Summaries are left out; the service has none.
 */
export function toMetricData(metrics: readonly Metric[], times: Times): MetricData[] {
  return metrics.flatMap((metric): MetricData[] => {
    const common = {
      descriptor: { name: metric.name, description: metric.help, unit: "", valueType: 1 },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
    };
    // prom-client types the kind as an enumeration of numbers; it is a text.
    switch (String(metric.type)) {
      case "counter":
        return [
          {
            ...common,
            dataPointType: DataPointType.SUM,
            isMonotonic: true,
            dataPoints: points(metric, times),
          },
        ];
      case "gauge":
        return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints: points(metric, times) }];
      case "histogram":
        return [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(metric, times) }];
      default:
        return [];
    }
  });
}

const points = ({ values }: Metric, times: Times): DataPoint<number>[] =>
  values
    .filter(({ value }) => Number.isFinite(value))
    .map(({ labels, value }) => ({ ...times, attributes: attributesOf(labels), value }));

type Series = { attributes: Attributes; boundaries: number[]; counts: number[]; sum: number; count: number };

/** prom-client lists the buckets of a series by their upper limits, each with those below, then its sum and count. */
function histograms({ name, values }: Metric, times: Times): DataPoint<Histogram>[] {
  const series = new Map<string, Series>();
  for (const { labels, value, ...rest } of values) {
    const { le, ...others } = labels;
    const attributes = attributesOf(others);
    const key = JSON.stringify(attributes);
    const of = series.get(key) ?? { attributes, boundaries: [], counts: [], sum: 0, count: 0 };
    series.set(key, of);
    const part = ("metricName" in rest ? String(rest.metricName) : name).slice(name.length);
    if (part === "_sum") of.sum = value;
    else if (part === "_count") of.count = value;
    else addBucket(of, le, value);
  }
  return [...series.values()].map(({ attributes, boundaries, counts, sum, count }) => ({
    ...times,
    attributes,
    value: { buckets: { boundaries, counts }, sum, count },
  }));
}

function addBucket(
  { boundaries, counts }: Series,
  limit: string | number | undefined,
  cumulative: number,
): void {
  const below = counts.reduce((sum, count) => sum + count, 0);
  counts.push(cumulative - below);
  if (limit !== "+Inf") boundaries.push(Number(limit));
}

const attributesOf = (labels: Partial<Record<string, string | number>>): Attributes =>
  Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [name, value === undefined ? "" : String(value)]),
  );
