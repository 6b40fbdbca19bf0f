import { expect, it } from "vitest";
import { requestedSignals } from "../../../src/platform/telemetry/telemetry.ts";

const ADDRESS = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

it.each([
  ["nothing without variables", {}, false, false],
  ["nothing if an address is empty", { OTEL_EXPORTER_OTLP_ENDPOINT: " " }, false, false],
  ["both with an address", ADDRESS, true, true],
  ["only traces with an address for them", { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c" }, true, false],
  ["only metrics with an address for them", { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://c" }, false, true],
  [
    "what is named, to the default address",
    { OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "otlp" },
    true,
    true,
  ],
  ["no traces", { ...ADDRESS, OTEL_TRACES_EXPORTER: "none" }, false, true],
  ["no metrics that Prometheus reads", { ...ADDRESS, OTEL_METRICS_EXPORTER: "prometheus" }, true, false],
  ["nothing if it is disabled", { ...ADDRESS, OTEL_SDK_DISABLED: "True" }, false, false],
  ["both if disabling is misspelled", { ...ADDRESS, OTEL_SDK_DISABLED: "yes" }, true, true],
])("OpenTelemetry exports %s", (_, environment, traces, metrics) => {
  expect(requestedSignals(environment as Record<string, string>)).toEqual({ traces, metrics });
});
