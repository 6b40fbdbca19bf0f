import type { ReceivedRequest } from "./receivers.ts";

type Value = { stringValue?: string; intValue?: number | string; doubleValue?: number };
type Attribute = { key: string; value: Value };
type Attributes = Record<string, string | number | undefined>;

export type ReceivedSpan = {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  status: { code?: number; message?: string };
  events: unknown[];
  links: { traceId: string; spanId: string }[];
  attributes: Attributes;
};

type RawSpan = Omit<ReceivedSpan, "attributes"> & { attributes: Attribute[] };

const attributesOf = (attributes: readonly Attribute[]): Attributes =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? Number(value.intValue ?? value.doubleValue),
    ]),
  );

/** The spans that a collector has received as OTLP over HTTP in JSON. */
export const spansOf = (requests: readonly ReceivedRequest[]): ReceivedSpan[] =>
  bodiesOf(requests, "/v1/traces")
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans as RawSpan[])
    .map(({ links = [], attributes, ...span }) => ({ ...span, links, attributes: attributesOf(attributes) }));

export const resourcesOf = (requests: readonly ReceivedRequest[]): Attributes[] =>
  [
    ...bodiesOf(requests, "/v1/traces").flatMap(({ resourceSpans }) => resourceSpans),
    ...bodiesOf(requests, "/v1/metrics").flatMap(({ resourceMetrics }) => resourceMetrics),
  ].map(({ resource }) => attributesOf(resource.attributes));

type Point = { attributes: Attributes; asDouble?: number; count?: number | string; bucketCounts?: number[] };

/** The points of each metric in the newest export. */
export function metricsOf(
  requests: readonly ReceivedRequest[],
): Map<string, { kind: string; points: Point[] }> {
  const newest = bodiesOf(requests, "/v1/metrics").at(-1);
  // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects of them.
  const metrics: any[] = newest?.resourceMetrics[0].scopeMetrics[0].metrics ?? [];
  return new Map(
    metrics.map((metric) => {
      const kind = ["sum", "gauge", "histogram"].find((name) => name in metric) ?? "";
      // biome-ignore lint/suspicious/noExplicitAny: as above.
      const points = metric[kind].dataPoints.map((point: any) => ({
        ...point,
        attributes: attributesOf(point.attributes),
      }));
      return [metric.name, { kind, points }];
    }),
  );
}

// biome-ignore lint/suspicious/noExplicitAny: as above.
const bodiesOf = (requests: readonly ReceivedRequest[], path: string): any[] =>
  requests.filter((request) => request.path.endsWith(path)).map(({ body }) => JSON.parse(body));
