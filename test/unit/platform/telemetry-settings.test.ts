import { describe, expect, it } from "vitest";
import { readTelemetrySettings } from "../../../src/platform/telemetry/telemetry-settings.ts";

const ADDRESS = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };
const read = (environment: Record<string, string>) => {
  const { traces, metrics, warnings } = readTelemetrySettings(environment);
  return { traces: traces?.protocol ?? null, metrics: metrics?.protocol ?? null, warnings: warnings.length };
};

describe("what is exported", () => {
  it.each([
    ["nothing without variables", {}, null, null],
    ["nothing if an address is empty", { OTEL_EXPORTER_OTLP_ENDPOINT: " " }, null, null],
    ["both with an address", ADDRESS, "http/protobuf", "http/protobuf"],
    [
      "only traces with an address for them",
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c" },
      "http/protobuf",
      null,
    ],
    [
      "only metrics with an address for them",
      { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://c" },
      null,
      "http/protobuf",
    ],
    [
      "what is named, to the default address",
      { OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "otlp" },
      "http/protobuf",
      "http/protobuf",
    ],
    ["no traces", { ...ADDRESS, OTEL_TRACES_EXPORTER: "none" }, null, "http/protobuf"],
    [
      "no metrics that Prometheus reads",
      { ...ADDRESS, OTEL_METRICS_EXPORTER: "prometheus" },
      "http/protobuf",
      null,
    ],
    ["nothing if it is disabled", { ...ADDRESS, OTEL_SDK_DISABLED: "True" }, null, null],
    [
      "both if disabling is misspelled",
      { ...ADDRESS, OTEL_SDK_DISABLED: "yes" },
      "http/protobuf",
      "http/protobuf",
    ],
    [
      "as JSON",
      {
        ...ADDRESS,
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "http/protobuf",
      },
      "http/json",
      "http/protobuf",
    ],
  ])("is %s", (_, environment, traces, metrics) => {
    expect(read(environment as Record<string, string>)).toEqual({ traces, metrics, warnings: 0 });
  });

  it("is nothing over gRPC, whose packages are not installed, and that is reported", () => {
    expect(read({ ...ADDRESS, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toEqual({
      traces: null,
      metrics: null,
      warnings: 2,
    });
  });

  it.each([
    ["an unknown exporter", { OTEL_TRACES_EXPORTER: "otlp,zipkin" }],
    ["an unknown sampler", { OTEL_TRACES_SAMPLER: "jaeger_remote" }],
    ["a ratio above 1", { OTEL_TRACES_SAMPLER_ARG: "1.1" }],
    ["a ratio that is no number", { OTEL_TRACES_SAMPLER_ARG: "ten" }],
    ["an interval of 0", { OTEL_METRIC_EXPORT_INTERVAL: "0" }],
    ["a queue that could fill the memory", { OTEL_BSP_MAX_QUEUE_SIZE: "65537" }],
    ["logs", { OTEL_LOGS_EXPORTER: "otlp" }],
  ])("ignores and reports %s", (_, environment) => {
    expect(read({ ...ADDRESS, ...environment } as Record<string, string>)).toEqual({
      traces: "http/protobuf",
      metrics: "http/protobuf",
      warnings: 1,
    });
  });
});

it("reads the sampler, the batches and the intervals", () => {
  const { traces, metrics } = readTelemetrySettings({
    ...ADDRESS,
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "0.25",
    OTEL_PROPAGATORS: "none",
    OTEL_BSP_MAX_QUEUE_SIZE: "100",
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "10",
    OTEL_BSP_SCHEDULE_DELAY: "0",
    OTEL_BSP_EXPORT_TIMEOUT: "1000",
    OTEL_METRIC_EXPORT_INTERVAL: "10000",
  });
  expect(traces).toEqual({
    protocol: "http/protobuf",
    sampler: "parentbased_traceidratio",
    ratio: 0.25,
    linksCallers: false,
    queueMax: 100,
    batchMax: 10,
    delayMs: 0,
    timeoutMs: 1_000,
  });
  expect(metrics, "a timeout is never longer than the interval").toEqual({
    protocol: "http/protobuf",
    intervalMs: 10_000,
    timeoutMs: 10_000,
  });
});
