import type { Attributes, HrTime } from "@opentelemetry/api";
import type {
  AggregationTemporality,
  DataPoint,
  DataPointType,
  Histogram,
  MetricData,
} from "@opentelemetry/sdk-metrics";
import type { MetricObjectWithValues, MetricValue } from "prom-client";

/** The values of the SDK's enumerations, which is loaded only if it is used. */
type Enumerations = {
  readonly dataPoint: typeof DataPointType;
  readonly temporality: typeof AggregationTemporality;
};

/** A metric as prom-client returns it. */
type Metric = MetricObjectWithValues<MetricValue<string>>;
type Times = { readonly startTime: HrTime; readonly endTime: HrTime };

/**
 * The metrics of `/metrics` in the SDK's form, with the same names and labels. Counters and histograms count from the
 * start of the process. Summaries are left out; the service has none.
 */
export function toMetricData(
  metrics: readonly Metric[],
  times: Times,
  { dataPoint, temporality }: Enumerations,
): MetricData[] {
  return metrics.flatMap((metric): MetricData[] => {
    const common = {
      descriptor: { name: metric.name, description: metric.help, unit: "", valueType: 1 },
      aggregationTemporality: temporality.CUMULATIVE,
    };
    // prom-client types the kind as an enumeration of numbers; it is a text.
    switch (String(metric.type)) {
      case "counter":
        return [
          { ...common, dataPointType: dataPoint.SUM, isMonotonic: true, dataPoints: points(metric, times) },
        ];
      case "gauge":
        return [{ ...common, dataPointType: dataPoint.GAUGE, dataPoints: points(metric, times) }];
      case "histogram":
        return [{ ...common, dataPointType: dataPoint.HISTOGRAM, dataPoints: histograms(metric, times) }];
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
