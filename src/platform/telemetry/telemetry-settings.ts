import type { Environment } from "../environment/environment-reader.ts";

/** How a signal is sent to a collector. `grpc` is not among them: its packages are four times as many. */
type Protocol = "http/protobuf" | "http/json";
const PROTOCOLS: readonly Protocol[] = ["http/protobuf", "http/json"];

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
type SamplerName = (typeof SAMPLERS)[number];

type TraceSettings = {
  readonly protocol: Protocol;
  readonly sampler: SamplerName;
  /** The part of the traces that is sampled, for the samplers by ratio. */
  readonly ratio: number;
  /** Whether the trace context of a caller is linked. */
  readonly linksCallers: boolean;
  readonly queueMax: number | undefined;
  readonly batchMax: number | undefined;
  readonly delayMs: number | undefined;
  readonly timeoutMs: number | undefined;
};

type MetricSettings = {
  readonly protocol: Protocol;
  readonly intervalMs: number;
  readonly timeoutMs: number;
};

/** What the environment requests of OpenTelemetry. Null: the signal is not exported. */
export type TelemetrySettings = {
  readonly traces: TraceSettings | null;
  readonly metrics: MetricSettings | null;
  /** Values that are not supported, and what is done instead. */
  readonly warnings: readonly string[];
};

/** So that no setting can fill the memory: a span takes about a kilobyte. */
const QUEUE_MAX = 65_536;
const INTERVAL_DEFAULT_MS = 60_000;
const TIMEOUT_DEFAULT_MS = 30_000;

/**
 * Reads the variables that OpenTelemetry defines, with its meanings: an empty one counts as absent, and one with an
 * unsupported value is reported and ignored. The exporters read addresses, headers, certificates, compression and
 * timeouts themselves, the resource its attributes and the name of the service.
 */
export function readTelemetrySettings(environment: Environment): TelemetrySettings {
  const reader = new Reader(environment);
  const isDisabled = reader.text("OTEL_SDK_DISABLED")?.toLowerCase() === "true";
  const traces = isDisabled ? null : readTraces(reader);
  const metrics = isDisabled ? null : readMetrics(reader);
  if (!isDisabled && reader.text("OTEL_LOGS_EXPORTER")?.split(",").includes("otlp"))
    reader.warnings.push("OTEL_LOGS_EXPORTER: logs are written to standard output, and not exported.");
  return { traces, metrics, warnings: reader.warnings };
}

function readTraces(reader: Reader): TraceSettings | null {
  const protocol = reader.exportBy("TRACES");
  if (protocol === null) return null;
  const queueMax = reader.number("OTEL_BSP_MAX_QUEUE_SIZE", 1, QUEUE_MAX);
  return {
    protocol,
    sampler: reader.sampler(),
    ratio: reader.ratio(),
    linksCallers: (reader.text("OTEL_PROPAGATORS") ?? "tracecontext").split(",").includes("tracecontext"),
    queueMax,
    batchMax: reader.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1, QUEUE_MAX),
    delayMs: reader.number("OTEL_BSP_SCHEDULE_DELAY", 0, Number.MAX_SAFE_INTEGER),
    timeoutMs: reader.number("OTEL_BSP_EXPORT_TIMEOUT", 1, Number.MAX_SAFE_INTEGER),
  };
}

function readMetrics(reader: Reader): MetricSettings | null {
  const protocol = reader.exportBy("METRICS");
  if (protocol === null) return null;
  const intervalMs =
    reader.number("OTEL_METRIC_EXPORT_INTERVAL", 1, Number.MAX_SAFE_INTEGER) ?? INTERVAL_DEFAULT_MS;
  const timeoutMs =
    reader.number("OTEL_METRIC_EXPORT_TIMEOUT", 1, Number.MAX_SAFE_INTEGER) ?? TIMEOUT_DEFAULT_MS;
  return { protocol, intervalMs, timeoutMs: Math.min(timeoutMs, intervalMs) };
}

class Reader {
  readonly warnings: string[] = [];
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  text(name: string): string | null {
    return this.#environment[name]?.trim() || null;
  }

  number(name: string, min: number, max: number): number | undefined {
    const text = this.text(name);
    if (text === null) return undefined;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    this.warnings.push(`${name} must be a whole number from ${min} to ${max}, so its default is used.`);
    return undefined;
  }

  sampler(): SamplerName {
    const text = this.text("OTEL_TRACES_SAMPLER");
    const found = SAMPLERS.find((name) => name === text);
    if (text !== null && found === undefined)
      this.warnings.push("OTEL_TRACES_SAMPLER is not a known sampler, so parentbased_always_on is used.");
    return found ?? "parentbased_always_on";
  }

  ratio(): number {
    const text = this.text("OTEL_TRACES_SAMPLER_ARG");
    const value = Number(text ?? 1);
    if (value >= 0 && value <= 1) return value;
    this.warnings.push("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, so 1 is used.");
    return 1;
  }

  /** Null: the signal is not exported. By default it is if an address for it is set. */
  exportBy(signal: "TRACES" | "METRICS"): Protocol | null {
    const hasAddress =
      this.text(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`) ?? this.text("OTEL_EXPORTER_OTLP_ENDPOINT");
    const variable = `OTEL_${signal}_EXPORTER`;
    const names = (this.text(variable) ?? (hasAddress === null ? "none" : "otlp"))
      .split(",")
      .map((name) => name.trim());
    // `/metrics` is always there for Prometheus.
    for (const name of names)
      if (!["otlp", "none", ...(signal === "METRICS" ? ["prometheus"] : [])].includes(name))
        this.warnings.push(`${variable} supports otlp and none, so ${name} is ignored.`);
    return names.includes("otlp") && !names.includes("none") ? this.#protocol(signal) : null;
  }

  #protocol(signal: "TRACES" | "METRICS"): Protocol | null {
    const text =
      this.text(`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`) ?? this.text("OTEL_EXPORTER_OTLP_PROTOCOL");
    const found = PROTOCOLS.find((protocol) => protocol === (text ?? "http/protobuf"));
    // A collector expects one protocol on an address, so another one would only fail.
    if (found === undefined)
      this.warnings.push(
        `OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json, so no ${signal.toLowerCase()} are exported.`,
      );
    return found ?? null;
  }
}
