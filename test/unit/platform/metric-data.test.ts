import { AggregationTemporality, DataPointType } from "@opentelemetry/sdk-metrics";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { expect, it } from "vitest";
import { toMetricData } from "../../../src/platform/telemetry/open-telemetry.ts";

const times = { startTime: [1, 0] as [number, number], endTime: [2, 0] as [number, number] };

it("keeps names, labels and values of counters, gauges and histograms", async () => {
  const registry = new Registry();
  const common = { help: "Help.", labelNames: ["kind"], registers: [registry] };
  const counter = new Counter({ ...common, name: "things_total" });
  counter.inc({ kind: "a" }, 2);
  counter.inc({ kind: "b" }, 0);
  new Gauge({ ...common, name: "size" }).set({ kind: "a" }, -1.5);
  const histogram = new Histogram({ ...common, name: "seconds", buckets: [1, 5] });
  for (const value of [0.5, 1, 3, 7, 8]) histogram.observe({ kind: "a" }, value);
  histogram.observe({ kind: "b" }, 2);

  const found = toMetricData(await registry.getMetricsAsJSON(), times);
  const [things, size, seconds] = found;
  expect(things).toMatchObject({
    descriptor: { name: "things_total", description: "Help." },
    dataPointType: DataPointType.SUM,
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    isMonotonic: true,
    dataPoints: [
      { ...times, attributes: { kind: "a" }, value: 2 },
      { ...times, attributes: { kind: "b" }, value: 0 },
    ],
  });
  expect(size).toMatchObject({
    dataPointType: DataPointType.GAUGE,
    dataPoints: [{ attributes: { kind: "a" }, value: -1.5 }],
  });
  expect(seconds).toMatchObject({
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: [
      {
        attributes: { kind: "a" },
        value: { buckets: { boundaries: [1, 5], counts: [2, 1, 2] }, sum: 19.5, count: 5 },
      },
      {
        attributes: { kind: "b" },
        value: { buckets: { boundaries: [1, 5], counts: [0, 1, 0] }, sum: 2, count: 1 },
      },
    ],
  });
  expect(found).toHaveLength(3);
});

it("leaves out what is no number, and metrics without values have no points", async () => {
  const registry = new Registry();
  new Gauge({ name: "unknown", help: "Help.", registers: [registry] }).set(Number.NaN);
  new Counter({ name: "none_total", help: "Help.", labelNames: ["kind"], registers: [registry] });
  const found = toMetricData(await registry.getMetricsAsJSON(), times);
  expect(found.map(({ dataPoints }) => dataPoints)).toEqual([[], []]);
});
