import { propagation } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { groupCalls } from "../../../src/platform/database/group.ts";
import {
  activeSpan,
  linksTo,
  setTracer,
  startSpan,
  traced,
  tracedBatch,
  withinJob,
} from "../../../src/platform/telemetry/tracing.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
let exporter: InMemorySpanExporter;

beforeEach(() => {
  exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor({ exporter })];
  setTracer(new TracerProvider({ spanProcessors }).getTracer("test"));
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});
afterEach(() => {
  setTracer(null);
  propagation.disable();
});

const spansNamed = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name);
const request = <T>(work: () => Promise<T>): Promise<T> => traced({ name: "request", parent: null }, work);
const statement = (): Promise<void> =>
  traced({ name: "statement", parent: activeSpan() }, async () => undefined);

const groupOf = () =>
  groupCalls<number, number>({
    name: "group",
    run: async (items) => {
      if (activeSpan() !== null) await statement();
      return items.map((item) => 2 * item);
    },
    sizeMax: 8,
    concurrencyMax: 1,
  });

describe("a group", () => {
  it("of one caller is a part of its span", async () => {
    const call = groupOf();
    expect(await request(() => call(1))).toBe(2);
    const [[caller], [group], [inGroup]] = [
      spansNamed("request"),
      spansNamed("group"),
      spansNamed("statement"),
    ];
    expect(group?.parentSpanContext?.spanId).toBe(caller?.spanContext().spanId);
    expect(inGroup?.parentSpanContext?.spanId).toBe(group?.spanContext().spanId);
    expect(group?.links).toEqual([]);
  });

  it("of several callers is a trace of its own, and is linked with each in both directions", async () => {
    const call = groupOf();
    await Promise.all([1, 2, 3].map((item) => request(() => call(item))));
    const [group, ...others] = spansNamed("group");
    expect(others).toEqual([]);
    expect(group?.parentSpanContext).toBeUndefined();
    expect(group?.attributes).toEqual({ "partner_orders.group.size": 3 });
    const callers = spansNamed("request");
    const ids = (spans: readonly { context: { spanId: string } }[] = []) =>
      spans.map((link) => link.context.spanId);
    expect(ids(group?.links).sort()).toEqual(callers.map((span) => span.spanContext().spanId).sort());
    for (const { links } of callers) expect(ids(links)).toEqual([group?.spanContext().spanId]);
    expect(spansNamed("statement")[0]?.spanContext().traceId).toBe(group?.spanContext().traceId);
  });

  it("that no span waits for has none", async () => {
    expect(await groupOf()(1)).toBe(2);
    expect(exporter.getFinishedSpans()).toEqual([]);
  });
});

describe("a batch of a job", () => {
  it.each([
    [3, ["job", "statement"]],
    [0, []],
  ])("that does %i things leaves %j", async (count, names) => {
    const batch = () => tracedBatch(() => statement().then(() => count));
    expect(await withinJob("job", batch)).toBe(count);
    const left = exporter.getFinishedSpans();
    expect(left.map(({ name }) => name).sort()).toEqual(names);
    expect(new Set(left.map((span) => span.spanContext().traceId)).size).toBe(names.length === 0 ? 0 : 1);
  });

  it("that fails leaves its spans, with the type of the error and not its message", async () => {
    const failing = () =>
      tracedBatch(() => statement().then(() => Promise.reject(new TypeError("Ada Lovelace"))));
    await expect(withinJob("job", failing)).rejects.toThrow("Ada Lovelace");
    const [job] = spansNamed("job");
    expect(job?.attributes).toEqual({ "error.type": "TypeError" });
    expect([job?.status, job?.events]).toEqual([{ code: 2 }, []]);
    expect(spansNamed("statement")).toHaveLength(1);
  });

  it("with very many statements keeps no more than a hundred until its end", async () => {
    let sentBefore = 0;
    await withinJob("job", () =>
      tracedBatch(async () => {
        for (let made = 0; made < 150; made += 1) await statement();
        sentBefore = spansNamed("statement").length;
        return 1;
      }),
    );
    expect([sentBefore, spansNamed("statement").length]).toEqual([50, 150]);
  });
});

describe("a caller's trace context", () => {
  it("becomes a link if it is valid", () => {
    expect(linksTo(TRACEPARENT)).toMatchObject([
      { context: { traceId: "0af7651916cd43dd8448eb211c80319c" } },
    ]);
    for (const invalid of [undefined, "", "nonsense", `${TRACEPARENT}, ${TRACEPARENT}`, "00-0-0-00"])
      expect(linksTo(invalid)).toEqual([]);
  });

  it("is ignored if propagation is disabled", () => {
    propagation.disable();
    expect(linksTo(TRACEPARENT)).toEqual([]);
  });
});

it("without tracing, work runs and nothing is made", async () => {
  setTracer(null);
  expect(startSpan({ name: "a", parent: null })).toBeNull();
  expect(linksTo(TRACEPARENT)).toEqual([]);
  expect(await request(async () => activeSpan())).toBeNull();
  expect(await withinJob("job", () => tracedBatch(async () => 7))).toBe(7);
  expect(await groupOf()(1)).toBe(2);
});
